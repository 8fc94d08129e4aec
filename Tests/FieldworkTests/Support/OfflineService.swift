import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import Fieldwork

/// A service of twenty damage points that can be taken offline, and devices that do.
enum OfflineService {
    static func with(_ test: (TestService) async throws -> Void) async throws {
        var damage = DamageService.damage
        damage.capabilities.insert(.sync)
        var definition = DamageService.definition
        definition.layers = [damage]
        definition.capabilities.insert(.sync)
        let adds = (0..<20).map { index in
            FeatureEdit(
                attributes: [
                    ("typdamage", .text("Minor")), ("primcause", .text("Cause \(index)")),
                    ("numoccup", .integer(Int64(index))),
                ], geometry: .geometry(place(index)))
        }
        try await TestService.with(definition, rows: [LayerEdits(layerID: 0, adds: adds)], test)
    }

    static func place(_ index: Int) -> Point {
        Point(
            x: DamageService.place.x + Double(index) * 100, y: DamageService.place.y, spatialReference: .webMercator)
    }

    /// The first ten of the twenty places.
    static var area: Envelope {
        Envelope(
            xMin: DamageService.place.x - 50, yMin: DamageService.place.y - 500, xMax: DamageService.place.x + 950,
            yMax: DamageService.place.y + 500, spatialReference: .webMercator)
    }

    static func generateJob(
        _ serviceURL: URL, file: URL, environment: ServiceEnvironment
    ) async throws -> GenerateGeodatabaseJob {
        let task = GeodatabaseSyncTask(url: serviceURL, environment: environment)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
        return task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: file)
    }

    static func syncJob(_ geodatabase: Geodatabase, environment: ServiceEnvironment) async throws -> SyncGeodatabaseJob
    {
        try await geodatabase.load()
        let task = GeodatabaseSyncTask(url: geodatabase.serviceURL, environment: environment)
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(geodatabase: geodatabase)
        return task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
    }
}

extension TestService {
    var rootURL: URL { url.deletingLastPathComponent() }

    func takeOffline(_ device: String) async throws -> Geodatabase {
        let job = try await OfflineService.generateJob(
            rootURL, file: folder.appending(path: "\(device).gpkg"), environment: environment())
        job.start()
        let geodatabase = try await job.output
        try await geodatabase.load()
        return geodatabase
    }

    @discardableResult
    func sync(_ geodatabase: Geodatabase) async throws -> [SyncLayerResult] {
        let job = try await OfflineService.syncJob(geodatabase, environment: environment())
        job.start()
        return try await job.output
    }

    /// The values of a field of what the service has, by cause.
    func served(_ field: String) async throws -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for row in try await rows() {
            values[row.attributes["primcause"]?.textValue ?? "?"] = row.attributes[field] ?? .null
        }
        return values
    }
}

extension Geodatabase {
    var damages: GeodatabaseFeatureTable {
        get throws { try #require(featureTable(withServiceLayerID: 0)) }
    }

    func damage(_ cause: String) async throws -> ArcGISFeature? {
        let parameters = QueryParameters()
        parameters.whereClause = "primcause = '\(cause)'"
        let found = try await damages.queryFeatures(using: parameters).features()
        return found.first { _ in true } as? ArcGISFeature
    }

    func addDamage(_ cause: String, at index: Int = 3) async throws {
        let table = try damages
        try await table.add(
            table.makeFeature(attributes: ["primcause": cause], geometry: OfflineService.place(index)))
    }

    func changeDamage(_ cause: String, _ values: [String: any Sendable]) async throws {
        let feature = try #require(try await damage(cause), "\(cause)")
        for (name, value) in values { feature.setAttributeValue(value, forKey: name) }
        try await damages.update(feature)
    }
}
