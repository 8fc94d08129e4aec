import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import FieldworkTiles
import Foundation
import Logging
import Synchronization

@testable import FieldworkCollect

/// A real service of damage points, its server on a loopback port, and the app in front of it.
struct DamageField: Sendable {
    let store: GeoPackageStore
    let app: RunningApp
    let services: RunningServices
    let deviceFolder: URL

    static let service = ServiceName(name: "DamageAssessment")
    static let kinds = ["Inaccessible", "Affected", "Minor", "Major", "Destroyed"]

    /// Runs a test with the app over a service of `count` points on a grid of 10 km, from (−98°, 38°) to the north-east.
    static func with<Result: Sendable>(
        points count: Int = 25, definition: ServiceDefinition = definition(), hasBasemap: Bool = false,
        _ test: (DamageField) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-collect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder.appending(path: "server"))
        try await store.createService(definition)
        if count > 0 {
            let edits = LayerEdits(layerID: 0, adds: (0..<count).map(point))
            _ = try await store.apply(EditBatch(layers: [edits], moment: Date(), origin: .load), to: service)
        }
        if hasBasemap { try addBasemap(to: folder) }
        let services = try await RunningServices.start(store: store, dataFolder: folder)
        do {
            let device = folder.appending(path: "device")
            let app = try await RunningApp.start(services: services.root, folder: device)
            let field = DamageField(store: store, app: app, services: services, deviceFolder: device)
            do {
                let result = try await test(field)
                await app.stop()
                await services.stop()
                try await store.close()
                return result
            } catch {
                await app.stop()
                throw error
            }
        } catch {
            await services.stop()
            try? await store.close()
            throw error
        }
    }

    /// A basemap of one tile that holds the whole world.
    private static func addBasemap(to folder: URL) throws {
        let basemaps = BasemapFolder(data: folder)
        try FileManager.default.createDirectory(at: basemaps.url, withIntermediateDirectories: true)
        guard let tile = TileAddress(level: 0, column: 0, row: 0) else { return }
        var land = VectorLayer(name: "land")
        land.add(id: 1, kind: .polygon, commands: [9, 0, 0, 26, 8192, 0, 0, 8192, 8191, 0, 15])
        var bytes: [UInt8] = []
        land.append(to: &bytes)
        let writer = try MBTilesWriter(path: basemaps.file("City").path, format: .vector)
        try writer.add(try GzipStream.compressed(bytes), at: tile)
        try writer.finish(
            TileSetDescription(
                name: "City", attribution: "<b>© City</b>", format: .vector, levels: 0...0,
                vectorLayers: [["id": "land"]]))
    }

    /// Where the point of an index is, in degrees.
    static func place(_ index: Int) -> (longitude: Double, latitude: Double) {
        (-98 + Double(index % 5) * 0.1, 38 + Double(index / 5) * 0.1)
    }

    private static func point(_ index: Int) -> FeatureEdit {
        let place = place(index)
        return FeatureEdit(
            attributes: [
                ("typdamage", .text(kinds[index % kinds.count])), ("primcause", .text("Cause \(index + 1)")),
                ("occupants", .integer(Int64(index % 7))),
            ],
            geometry: .geometry(
                Point(
                    x: WebMercator.x(longitude: place.longitude), y: WebMercator.y(latitude: place.latitude),
                    spatialReference: .webMercator)))
    }

    /// The features of the server, with what the test reads of them.
    func serverFeatures() async throws -> [FeatureRecord] {
        let address = LayerAddress(service: Self.service, layerID: 0)
        return try await store.records(FeatureQuery(), in: address)
    }

    static func definition() -> ServiceDefinition {
        let damage = DomainDefinition(
            name: "Damage", kind: .codedValues(kinds.map { .init(code: .text($0), name: $0) }))
        let occupants = DomainDefinition(
            name: "Occupants", kind: .range(minimum: .integer(0), maximum: .integer(120)))
        let layer = LayerDefinition(
            id: 0, name: "Damage to buildings", geometryType: .point, spatialReference: .webMercator,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
                FieldDefinition(name: "typdamage", alias: "Damage type", type: .string, length: 40, domain: damage),
                FieldDefinition(name: "primcause", alias: "Primary cause", type: .string, length: 254),
                FieldDefinition(name: "occupants", alias: "Occupants", type: .integer, domain: occupants),
                FieldDefinition(name: "inspected", alias: "Inspected", type: .date),
            ],
            globalIDField: "GlobalID", displayField: "primcause", typeIDField: "typdamage",
            types: kinds.map { kind in
                FeatureTypeDefinition(
                    id: .text(kind), name: kind,
                    templates: [
                        FeatureTemplateDefinition(
                            name: kind, drawingTool: "esriFeatureEditToolPoint",
                            attributes: ["typdamage": .text(kind), "primcause": .text("Earthquake")])
                    ])
            },
            drawingInfo: try? JSONParser.parse(Array(renderer.utf8)))
        return ServiceDefinition(name: service, layers: [layer])
    }

    private static let renderer: String = {
        let styles = [
            ("Inaccessible", "esriSMSX", "91,74,67"), ("Affected", "esriSMSCircle", "31,125,75"),
            ("Minor", "esriSMSDiamond", "168,106,0"), ("Major", "esriSMSTriangle", "194,65,12"),
            ("Destroyed", "esriSMSSquare", "140,20,40"),
        ]
        let infos = styles.map { kind, style, colour in
            """
            {"value":"\(kind)","label":"\(kind)","symbol":{"type":"esriSMS","style":"\(style)","color":[\(colour),255],\
            "size":12,"outline":{"type":"esriSLS","style":"esriSLSSolid","color":[255,255,255,255],"width":1}}}
            """
        }
        return """
            {"renderer":{"type":"uniqueValue","field1":"typdamage","uniqueValueInfos":[\(infos.joined(separator: ","))]}}
            """
    }()
}

extension DamageField {
    /// The address of the first feature, as the app's pages name it.
    func firstReference() async throws -> String {
        let first = try await serverFeatures().min { $0.objectID < $1.objectID }
        guard let first else { throw CollectError(.notFound, "The service is empty.") }
        return first.globalID.map { "0/\($0.uuidString.lowercased())" } ?? "0/\(first.objectID)"
    }

    /// Stops the app and runs the test with another start of it over the same data.
    func restartedApp(_ test: (RunningApp) async throws -> Void) async throws {
        await app.stop()
        let next = try await RunningApp.start(services: services.root, folder: deviceFolder)
        do {
            try await test(next)
            await next.stop()
        } catch {
            await next.stop()
            throw error
        }
    }
}
