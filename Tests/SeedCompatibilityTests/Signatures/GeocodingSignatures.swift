import ArcGIS
import Foundation

/// The members of locators that clients rely on, each with the type that they rely on. That it compiles is the test.
enum GeocodingSignatures {
    static func locator() {
        let _: (URL) -> LocatorTask = LocatorTask.init(url:)
        let _: (String, Bundle) -> LocatorTask? = LocatorTask.init(name:bundle:)
        let _: KeyPath<LocatorTask, LocatorInfo?> = \.locatorInfo
        let _: (LocatorTask) -> (String, GeocodeParameters?) async throws -> [GeocodeResult] =
            LocatorTask.geocode(forSearchText:using:)
        let _: (LocatorTask) -> (SuggestResult, GeocodeParameters?) async throws -> [GeocodeResult] =
            LocatorTask.geocode(forSuggestResult:using:)
        let _: (LocatorTask) -> (String, SuggestParameters?) async throws -> [SuggestResult] =
            LocatorTask.suggest(forSearchText:parameters:)
        let _: (LocatorTask) -> (Point, ReverseGeocodeParameters?) async throws -> [GeocodeResult] =
            LocatorTask.reverseGeocode(forLocation:parameters:)
    }

    static func parameters() {
        let _: () -> GeocodeParameters = GeocodeParameters.init
        let _: WritableKeyPath<GeocodeParameters, Double> = \.minScore
        let _: WritableKeyPath<GeocodeParameters, Int> = \.maxResults
        let _: WritableKeyPath<GeocodeParameters, Geometry?> = \.searchArea
        let _: WritableKeyPath<GeocodeParameters, Point?> = \.preferredSearchLocation
        let _: WritableKeyPath<GeocodeParameters, String> = \.countryCode
        let _: KeyPath<GeocodeParameters, [String]> = \.categories
        let _: WritableKeyPath<GeocodeParameters, Bool> = \.isForStorage
        let _: (GeocodeParameters) -> (String) -> Void = GeocodeParameters.addResultAttributeName(_:)
        let _: (GeocodeParameters) -> ([String]) -> Void = GeocodeParameters.addResultAttributeNames(_:)
        let _: () -> ReverseGeocodeParameters = ReverseGeocodeParameters.init
        let _: WritableKeyPath<ReverseGeocodeParameters, Int> = \.maxResults
        let _: WritableKeyPath<ReverseGeocodeParameters, Double> = \.maxDistance
        let _: WritableKeyPath<ReverseGeocodeParameters, SpatialReference?> = \.outputSpatialReference
        let _: WritableKeyPath<ReverseGeocodeParameters, Bool> = \.isForStorage
        let _: KeyPath<ReverseGeocodeParameters, [String]> = \.resultAttributeNames
        let _: (ReverseGeocodeParameters) -> (String) -> Void = ReverseGeocodeParameters.addResultAttributeName(_:)
        let _: (ReverseGeocodeParameters) -> ([String]) -> Void = ReverseGeocodeParameters.addResultAttributeNames(_:)
    }

    static func results() {
        let _: KeyPath<GeocodeResult, [String: any Sendable]> = \.attributes
        let _: KeyPath<GeocodeResult, Point?> = \.displayLocation
        let _: KeyPath<GeocodeResult, Point?> = \.inputLocation
        let _: KeyPath<GeocodeResult, Point?> = \.routeLocation
        let _: KeyPath<GeocodeResult, Envelope?> = \.extent
        let _: KeyPath<GeocodeResult, String> = \.label
        let _: KeyPath<GeocodeResult, Double> = \.score
    }

    /// What the collection app does with a new tree: one of two locators, one result, `Address` else `Match_addr`.
    static func address(
        of point: Point, online: LocatorTask, offline: LocatorTask, isOnline: Bool
    ) async throws -> String? {
        let locatorTask = isOnline ? online : offline
        let parameters = ReverseGeocodeParameters()
        parameters.isForStorage = true
        parameters.maxResults = 1
        let results = try await locatorTask.reverseGeocode(forLocation: point, parameters: parameters)
        guard let attributes = results.first?.attributes else { return nil }
        return attributes["Address"] as? String ?? attributes["Match_addr"] as? String
    }
}
