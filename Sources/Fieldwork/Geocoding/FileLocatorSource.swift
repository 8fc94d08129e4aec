import FieldworkGeometry
import FieldworkLocator
import FieldworkStore
import Foundation

/// A locator file on the device.
actor FileLocatorSource: LocatorSource {
    private let file: FileSection
    private var opened: Locator?

    init(_ file: FileSection) { self.file = file }

    func load() async throws -> LocatorInfo {
        let information = try await locator().information
        let extent = information.extent
        return LocatorInfo(
            name: information.name, description: "", spatialReference: .wgs84,
            resultAttributes: Self.resultAttributes, searchAttributes: [], supportsSuggestions: true, supportsPOI: true,
            supportsAddresses: true, supportsIntersections: true,
            fullExtent: extent.count == 4
                ? Envelope(
                    xMin: extent[0], yMin: extent[1], xMax: extent[2], yMax: extent[3], spatialReference: .wgs84) : nil)
    }

    private static let resultAttributes = ResultAttributes.ofCandidate(.sample, locator: "").map { name, value in
        if case .number = value {
            LocatorAttribute(name: name, displayName: name, type: .double)
        } else {
            LocatorAttribute(name: name, displayName: name, type: .text)
        }
    }

    private func locator() async throws -> Locator {
        if let opened { return opened }
        do {
            // A device asks one question at a time, or two.
            let locator = try await Locator.open(file.url, part: file.bytes, readers: 2)
            opened = locator
            return locator
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> any Error {
        switch error {
        case let error as LocatorError where error.code == .invalidRequest:
            LocatorTaskError.invalidRequest(details: error.message)
        case let error as LocatorError: LocatorTaskError.unreadable(details: error.message)
        case let error as StoreError: LocatorTaskError.unreadable(details: error.message)
        default: error
        }
    }

    private func asking<Result: Sendable>(
        _ body: @Sendable (Locator) async throws -> Result
    ) async throws -> Result {
        let locator = try await locator()
        do {
            return try await body(locator)
        } catch {
            throw Self.failure(error)
        }
    }

    // MARK: Questions

    func geocode(
        _ text: String, magicKey: String, _ values: GeocodeParameters.Values
    ) async throws -> [GeocodeResult] {
        var options = LocatorOptions()
        options.minimumScore = max(values.minScore, 10)
        if values.maxResults > 0 { options.maximumCount = values.maxResults }
        options.magicKey = magicKey
        options.findsRoutePlaces = true
        options.country = values.countryCode
        try Self.set(values.searchArea, values.preferredSearchLocation, values.categories, in: &options)
        let asked = options
        let found = try await asking { try await $0.candidates(for: text, asked) }
        let name = opened?.name ?? ""
        let output = try ResultOutput(values.outputSpatialReference, names: values.resultAttributeNames)
        return found.map { result in
            let attributes = ResultAttributes.ofCandidate(result, locator: name).map {
                name, value -> (String, any Sendable) in
                switch value {
                case .text(let text): (name, text)
                case .number(let number): (name, number)
                }
            }
            return output.result(result, attributes, label: result.label)
        }
    }

    func suggest(_ text: String, _ values: SuggestParameters.Values) async throws -> [SuggestResult] {
        var options = LocatorOptions()
        options.maximumCount = max(1, values.maxResults)
        options.country = values.countryCode
        try Self.set(values.searchArea, values.preferredSearchLocation, values.categories, in: &options)
        let asked = options
        let found = try await asking { try await $0.suggestions(for: text, asked) }
        return found.map { SuggestResult(label: $0.text, isCollection: false, magicKey: $0.magicKey) }
    }

    func reverseGeocode(
        _ location: Point, _ values: ReverseGeocodeParameters.Values
    ) async throws -> [GeocodeResult] {
        let place = try Self.degrees(location)
        var options = ReverseOptions()
        options.maximumCount = max(1, values.maxResults)
        options.maximumDistance = values.maxDistance > 0 ? values.maxDistance : nil
        options.findsRoutePlaces = true
        let kinds = values.featureTypes.compactMap { name in
            LocatorResult.Kind.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
        }
        if !values.featureTypes.isEmpty { options.kinds = Set(kinds) }
        let asked = options
        let found = try await asking { try await $0.addresses(atX: place.x, y: place.y, asked) }
        let output = try ResultOutput(values.outputSpatialReference, names: values.resultAttributeNames)
        return found.prefix(max(1, values.maxResults)).map { result in
            let attributes = ResultAttributes.ofPlace(result).map { name, value -> (String, any Sendable) in
                (name, value)
            }
            let label = attributes.first { $0.0 == "Match_addr" }?.1 as? String
            return output.result(result, attributes, label: label ?? result.label, input: location)
        }
    }

    // MARK: Places

    private static func set(
        _ area: Geometry?, _ location: Point?, _ categories: [String], in options: inout LocatorOptions
    ) throws {
        if let extent = area?.extent, !extent.isEmpty {
            let low = try degrees(Point(x: extent.xMin, y: extent.yMin, spatialReference: extent.spatialReference))
            let high = try degrees(Point(x: extent.xMax, y: extent.yMax, spatialReference: extent.spatialReference))
            options.extent = .init(xMin: low.x, yMin: low.y, xMax: high.x, yMax: high.y)
        }
        if let location {
            let place = try degrees(location)
            options.location = .init(x: place.x, y: place.y)
        }
        if !categories.isEmpty {
            options.kinds = Set(categories.flatMap { LocatorOptions.kinds(ofCategory: $0) ?? [] })
        }
    }

    /// A point without a reference is taken for degrees.
    private static func degrees(_ point: Point) throws -> (x: Double, y: Double) {
        let transform = try ProjectionTransform.between(point.spatialReference ?? .wgs84, .wgs84)
        var (xs, ys) = ([point.x], [point.y])
        transform.apply(xs: &xs, ys: &ys)
        guard xs[0].isFinite, ys[0].isFinite else {
            throw LocatorTaskError.invalidRequest(details: "The place can't be transformed into degrees.")
        }
        return (xs[0], ys[0])
    }
}

/// Makes results in the reference that was asked for.
private struct ResultOutput {
    private let reference: SpatialReference
    private let transform: ProjectionTransform
    private let names: Set<String>

    init(_ reference: SpatialReference?, names: [String]) throws {
        self.reference = reference ?? .wgs84
        transform = try ProjectionTransform.between(.wgs84, self.reference)
        self.names = Set(names)
    }

    private func point(_ x: Double, _ y: Double) -> Point {
        var (xs, ys) = ([x], [y])
        transform.apply(xs: &xs, ys: &ys)
        return Point(x: xs[0], y: ys[0], spatialReference: reference)
    }

    func result(
        _ result: LocatorResult, _ attributes: [(String, any Sendable)], label: String, input: Point? = nil
    ) -> GeocodeResult {
        let wanted = attributes.filter { names.isEmpty || names.contains("*") || names.contains($0.0) }
        let extent = result.extent
        let (low, high) = (point(extent.xMin, extent.yMin), point(extent.xMax, extent.yMax))
        return GeocodeResult(
            attributes: Dictionary(wanted, uniquingKeysWith: { first, _ in first }),
            displayLocation: point(result.x, result.y), inputLocation: input,
            routeLocation: point(result.routeX, result.routeY),
            extent: Envelope(
                xMin: low.x, yMin: low.y, xMax: high.x, yMax: high.y, spatialReference: reference),
            label: label, score: result.score)
    }
}
