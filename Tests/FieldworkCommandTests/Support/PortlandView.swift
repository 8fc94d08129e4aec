import Fieldwork
import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCommand
@testable import Fieldwork

/// The part of the demo's city that its map shows first, in a real server, and the demo's own map of it.
struct PortlandView: Sendable {
    let map: Map
    let store: GeoPackageStore
    let geodatabase: ServiceGeodatabase
    let trees: FeatureLayer

    /// A tree as the demo made it: what the story should find.
    struct Tree: Sendable {
        let globalID: UUID
        let place: Point
        let attributes: [String: AttributeValue]
        /// Oldest first.
        let inspections: [[String: AttributeValue]]

        func text(_ field: String) -> String { attributes[field]?.textValue ?? "" }
    }

    /// Made once: it takes a second.
    private static let city = PortlandGrid()

    static func open(_ story: (PortlandView, [Tree]) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-story-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        let document = try DemoMaps.document(of: "TreesOfPortland")
        let (rows, trees) = try part(of: city, in: document)
        let store = try await GeoPackageStore.open(at: folder.appending(path: "services"))
        let demo = TreesOfPortlandDemo()
        try await store.createService(demo.definition)
        let loaded = try await store.apply(
            EditBatch(layers: rows, usesGlobalIDs: true, editor: "demo", moment: Date(), origin: .load),
            to: demo.definition.name)
        try #require(!loaded.hasErrors)
        let running = try await RunningFeatureServer.start(
            store: store, configuration: ServerConfiguration(port: 0, definitionLifetime: .zero))
        do {
            let here = DemoMaps.addressed(document, service: "TreesOfPortland", to: running.servicesAddress)
            let map = try Map.fromJSON(
                Data(here.text.utf8),
                environment: ServiceEnvironment(
                    directory: folder.appending(path: "device"), client: HTTPServiceClient()))
            try await map.load()
            let layer = try #require(map.operationalLayers.last as? FeatureLayer)
            let table = try #require(layer.featureTable as? ServiceFeatureTable)
            let geodatabase = try #require(table.serviceGeodatabase)
            try await story(
                PortlandView(map: map, store: store, geodatabase: geodatabase, trees: layer), trees)
            try await running.stop()
        } catch {
            try? await running.stop()
            throw error
        }
    }

    /// The rows of the map's first view, and the trees among them that were inspected.
    private static func part(of city: PortlandGrid, in document: JSONValue) throws -> ([LayerEdits], [Tree]) {
        let target = try #require(document["initialState"]?["viewpoint"]?["targetGeometry"])
        let view = try #require(try GeoServicesJSON.geometry(from: target) as? Envelope)
        func values(_ edit: FeatureEdit) -> [String: AttributeValue] {
            Dictionary(edit.attributes.map { ($0.name, $0.value) }) { first, _ in first }
        }
        var seen: [UUID: (edit: FeatureEdit, place: Point)] = [:]
        for edit in city.trees {
            guard case .geometry(let geometry) = edit.geometry, let place = geometry as? Point,
                let id = edit.globalID, (view.xMin...view.xMax).contains(place.x),
                (view.yMin...view.yMax).contains(place.y)
            else { continue }
            seen[id] = (edit, place)
        }
        let trees = city.trees.filter { $0.globalID.map { seen[$0] != nil } == true }
        var inspections: [FeatureEdit] = []
        var ofTree: [UUID: [[String: AttributeValue]]] = [:]
        for edit in city.inspections {
            let attributes = values(edit)
            guard
                let tree = UUID(
                    uuidString: (attributes["TreeID"]?.textValue ?? "").trimmingCharacters(in: ["{", "}"])),
                seen[tree] != nil
            else { continue }
            inspections.append(edit)
            ofTree[tree, default: []].append(attributes)
        }
        let rows = [
            LayerEdits(layerID: 1, adds: city.neighborhoods), LayerEdits(layerID: 2, adds: city.species),
            LayerEdits(layerID: 0, adds: trees), LayerEdits(layerID: 3, adds: inspections),
        ]
        let inspected = trees.compactMap { edit -> Tree? in
            guard let id = edit.globalID, let inspections = ofTree[id], let place = seen[id]?.place else { return nil }
            return Tree(globalID: id, place: place, attributes: values(edit), inspections: inspections)
        }
        return (rows, inspected)
    }

    // MARK: What the server has

    func rows(_ layerID: Int, where condition: String = "1=1") async throws -> [FeatureRecord] {
        let definition = try await store.service(TreesOfPortlandDemo.name)
        let layer = try #require(definition.layers.first { $0.id == layerID })
        let query = FeatureQuery(condition: try SQLParser.parse(where: condition).bound(to: layer))
        return try await store.records(query, in: LayerAddress(service: TreesOfPortlandDemo.name, layerID: layerID))
    }

    func row(of tree: Tree) async throws -> FeatureRecord? {
        try await rows(0, where: "GlobalID = '\(GUID.normalForm(tree.globalID))'").first
    }

    func inspections(of tree: Tree) async throws -> [FeatureRecord] {
        try await rows(3, where: "TreeID = '\(GUID.normalForm(tree.globalID))'")
    }

    // MARK: What a user does

    /// A tap on a tree: the pop-up of the nearest of those that are seen.
    func tap(_ tree: Tree) async throws -> PopupManager {
        let found = try await map.identify(at: tree.place, tolerance: 3, returnPopupsOnly: true, scale: 4_000)
        try #require(found.count == 1 && found.first?.layerContent === trees, "only trees have pop-ups")
        let manager = PopupManager(popup: try #require(found.first?.popups.first))
        try await manager.relationships?.load()
        return manager
    }

    func field(_ name: String, of manager: PopupManager) throws -> PopupField {
        try #require(manager.displayFields.first { $0.fieldName == name }, "\(name) is not shown")
    }
}
