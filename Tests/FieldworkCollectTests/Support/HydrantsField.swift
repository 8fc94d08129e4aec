import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import FieldworkTiles
import Foundation

@testable import FieldworkCollect

/// The trees, with hydrants above them in one map: a second service, on a server of its own, whose layer has the number of the trees'.
struct HydrantsField: Sendable {
    let trees: TreesField
    let store: GeoPackageStore
    let services: RunningServices

    static let service = ServiceName(name: "Hydrants")
    /// The map's number of the hydrants: 0 is the trees'.
    static let layer = 1_000

    /// Runs a test with the app over the map of both services.
    /// - Parameter canSync: whether hydrants can be taken offline; trees can.
    static func with(canSync: Bool = true, _ test: (HydrantsField, PlainClient) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-hydrants-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder)
        try await store.createService(definition(canSync: canSync))
        let edits = LayerEdits(layerID: 0, adds: (0..<3).map(hydrant))
        _ = try await store.apply(EditBatch(layers: [edits], moment: Date(), origin: .load), to: service)
        let services = try await RunningServices.start(store: store)
        let root = services.root
        do {
            try await TreesField.with(map: { adding(root, to: $0) }, canSync: true) { trees in
                let field = HydrantsField(trees: trees, store: store, services: services)
                try await test(field, try await PlainClient.visitor(of: trees.app))
            }
            await services.stop()
            try await store.close()
        } catch {
            await services.stop()
            throw error
        }
    }

    private static func adding(_ root: URL, to map: String) -> String {
        let layer = """
            ,{"id":"hydrants","title":"Hydrants","layerType":"ArcGISFeatureLayer",
             "url":"\(root.absoluteString)/Hydrants/FeatureServer/0","visibility":true,
             "popupInfo":{"title":"{Name}","fieldInfos":[{"fieldName":"Name","visible":true,"isEditable":true}]}}],
            "tables":[
            """
        return map.replacing(/\],\s*"tables":\[/, with: layer, maxReplacements: 1)
    }

    private static func definition(canSync: Bool) -> ServiceDefinition {
        var layer = LayerDefinition(
            id: 0, name: "Hydrants", geometryType: .point, spatialReference: .webMercator,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
                FieldDefinition(name: "Name", type: .string, length: 40),
            ],
            globalIDField: "GlobalID", displayField: "Name")
        if canSync { layer.capabilities.insert(.sync) }
        var definition = ServiceDefinition(name: service, layers: [layer])
        if canSync { definition.capabilities.insert(.sync) }
        return definition
    }

    private static func hydrant(_ index: Int) -> FeatureEdit {
        let place = TreesField.place(index)
        return FeatureEdit(
            attributes: [("Name", .text("Hydrant \(index + 1)"))],
            geometry: .geometry(
                Point(
                    x: WebMercator.x(longitude: place.longitude), y: WebMercator.y(latitude: place.latitude + 0.001),
                    spatialReference: .webMercator)))
    }

    func hydrants() async throws -> [FeatureRecord] {
        try await store.records(FeatureQuery(), in: LayerAddress(service: Self.service, layerID: 0))
    }

    /// How many replicas the two services keep, trees first.
    func replicas() async throws -> [Int] {
        [
            try await trees.store.replicas(of: TreesField.service).count { $0.state == .live },
            try await store.replicas(of: Self.service).count { $0.state == .live },
        ]
    }

    /// The files of all areas of the device.
    func files() throws -> [String] {
        let areas = trees.deviceFolder.appending(path: "areas")
        return try FileManager.default.subpathsOfDirectory(atPath: areas.path).filter { $0.hasSuffix(".gpkg") }.sorted()
    }
}
