import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation

/// Which part of a basemap a client wants to take along.
struct TileExportRequest: Sendable {
    /// nil for all of it.
    let coverage: TileCoverage?
    /// nil for all of them.
    let levels: [Int]?

    /// - Parameter polygonName: the parameter of a polygon, which the two faces name differently.
    init(_ parameters: RequestParameters, polygonName: String) throws(ServiceError) {
        levels = try Self.levels(parameters)
        if let word = parameters["exportBy"], word.lowercased() != "levelid" {
            throw .invalidParameter("'exportBy' must be levelId: 'levels' names levels.")
        }
        if let format = parameters["storageFormatType"], !format.lowercased().hasSuffix("compactv2") {
            throw .invalidParameter("'storageFormatType' must be esriMapCacheStorageModeCompactV2.")
        }
        guard try parameters.bool("tilePackage") ?? true else {
            throw .invalidParameter("'tilePackage' must be true: a package is what is made.")
        }
        coverage = try Self.area(parameters, polygonName)
    }

    private static func area(_ parameters: RequestParameters, _ polygonName: String) throws(ServiceError)
        -> TileCoverage?
    {
        let named = try polygon(parameters, polygonName)
        let isWhole = parameters["exportExtent"]?.lowercased() == "default"
        let extent = isWhole ? nil : try parameters.geometry("exportExtent", spatialReference: .webMercator)
        guard let area = named ?? extent else { return nil }
        let source = named == nil ? "exportExtent" : polygonName
        guard area is Polygon || area is Envelope else {
            throw .invalidParameter("'\(source)' must be \(named == nil ? "an envelope" : "a polygon").")
        }
        guard let plane = try? GeometryEngine.projected(area, into: .webMercator), let coverage = TileCoverage(plane)
        else { throw .invalidParameter("'\(source)' has no place in Web Mercator.") }
        return coverage
    }

    /// A polygon as it is, or the first of a set of features.
    private static func polygon(_ parameters: RequestParameters, _ name: String) throws(ServiceError) -> Geometry? {
        guard parameters.names(name), let json = try parameters.json(name),
            let feature = json["features"]?.arrayValue?.first?["geometry"]
        else { return try parameters.geometry(name, spatialReference: .webMercator) }
        return try RequestParameters([(name, feature.text)]).geometry(name, spatialReference: .webMercator)
    }

    /// `0-5,7`
    private static func levels(_ parameters: RequestParameters) throws(ServiceError) -> [Int]? {
        guard let text = parameters["levels"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        var levels = Set<Int>()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
                .map { Int($0.trimmingCharacters(in: .whitespaces)) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first >= 0,
                first <= last, last <= FieldworkTiles.Limits.tileLevel
            else {
                throw .invalidParameter(
                    "'levels' has levels from 0 to \(FieldworkTiles.Limits.tileLevel) and spans of them: 0-5,7.")
            }
            levels.formUnion(first...last)
        }
        return levels.sorted()
    }
}
