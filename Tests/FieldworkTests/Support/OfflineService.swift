import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import Fieldwork

/// A service of twenty damage points that can be taken offline, and devices that do.
enum OfflineService {
    static func with(
        rule: ConflictRule = .lastInWins, attachments: Bool = false, _ test: (TestService) async throws -> Void
    ) async throws {
        try await TestService.with(definition(rule: rule, attachments: attachments), rows: rows, test)
    }

    static func definition(rule: ConflictRule = .lastInWins, attachments: Bool = false) -> ServiceDefinition {
        var damage = DamageService.damage
        damage.capabilities.insert(.sync)
        damage.hasAttachments = attachments
        var definition = DamageService.definition
        definition.layers = [damage]
        definition.capabilities.insert(.sync)
        definition.conflictRule = rule
        return definition
    }

    static var rows: [LayerEdits] {
        let adds = (0..<20).map { index in
            FeatureEdit(
                attributes: [
                    ("typdamage", .text("Minor")), ("primcause", .text("Cause \(index)")),
                    ("numoccup", .integer(Int64(index))),
                ], geometry: .geometry(place(index)))
        }
        return [LayerEdits(layerID: 0, adds: adds)]
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

    /// - Parameter asFile: as a GeoPackage that the service makes, else as a document that becomes one here.
    func takeOffline(
        _ device: String, asFile: Bool, _ direction: AttachmentSyncDirection = .bidirectional, returns: Bool = true
    ) async throws -> Geodatabase {
        let task = GeodatabaseSyncTask(url: rootURL, environment: environment())
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: OfflineService.area)
        parameters.attachmentSyncDirection = direction
        parameters.returnsAttachments = returns
        // Our service gives a file only in its own reference.
        if !asFile { parameters.outSpatialReference = .webMercator }
        let job = task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: folder.appending(path: "\(device).gpkg"))
        job.start()
        let geodatabase = try await job.output
        try await geodatabase.load()
        return geodatabase
    }

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

    /// Edits attachments in the service itself.
    func applyAttachments(_ edits: AttachmentEdits, editor: String? = nil) async throws {
        var layer = LayerEdits(layerID: 0)
        layer.attachments = edits
        let result = try await store.apply(EditBatch(layers: [layer], editor: editor, moment: Date.now), to: name)
        #expect(!result.hasErrors)
    }

    /// What the service has: name and content of each attachment, by cause; features without any are left out.
    func servedAttachments() async throws -> [String: [String: Data]] {
        let address = LayerAddress(service: name, layerID: 0)
        let rows = try await rows()
        let causes = Dictionary(
            rows.map { ($0.objectID, $0.attributes["primcause"]?.textValue ?? "?") }
        ) { first, _ in first }
        var served: [String: [String: Data]] = [:]
        for info in try await store.attachments(AttachmentQuery(), in: address).attachments {
            let content = try #require(
                try await store.attachmentContent(.id(info.id), of: nil, range: nil, in: address))
            var bytes = Data()
            for try await piece in content.pieces { bytes += piece }
            served[causes[info.parentObjectID] ?? "?", default: [:]][info.name] = bytes
        }
        return served
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

    func addDamage(
        _ cause: String, at index: Int = 3, _ values: [String: any Sendable] = [:]
    ) async throws {
        let table = try damages
        try await table.add(
            table.makeFeature(
                attributes: values.merging(["primcause": cause]) { $1 }, geometry: OfflineService.place(index)))
    }

    func changeDamage(_ cause: String, _ values: [String: any Sendable]) async throws {
        let feature = try #require(try await damage(cause), "\(cause)")
        for (name, value) in values { feature.setAttributeValue(value, forKey: name) }
        try await damages.update(feature)
    }

    /// Name and content of each attachment of a feature.
    func attachments(of cause: String) async throws -> [String: Data] {
        var found: [String: Data] = [:]
        for attachment in try await damage(cause)?.attachments ?? [] {
            found[attachment.name] = try await attachment.data
        }
        return found
    }
}
