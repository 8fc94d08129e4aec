import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

@testable import FieldworkServer

/// Views that a test says, in place of those that a portal keeps.
final class SaidViews: ViewSource {
    private let said: Mutex<[String: ServiceView]>

    init(_ views: [ServiceView]) {
        said = Mutex(Dictionary(uniqueKeysWithValues: views.map { ($0.name.path.lowercased(), $0) }))
    }

    func views() async throws -> [String: ServiceView] { said.withLock { $0 } }

    /// Changes a view as the portal does.
    func change(_ name: ServiceName, at moment: Date = .now, _ body: @Sendable (inout ServiceView) -> Void) {
        said.withLock { views in
            guard var view = views[name.path.lowercased()] else { return }
            body(&view)
            view.changed = Int64(moment.timeIntervalSince1970 * 1_000)
            views[name.path.lowercased()] = view
        }
    }
}

/// A service of trees, inspections and photos, and the view `Oaks` of it: oaks alone, whose species and heights nobody sees. What is
/// hidden or outside has the word `secret` in it, and nothing else has.
enum ViewService {
    static let name = ServiceName(name: "Wood")
    static let view = ServiceName(name: "Oaks")
    /// An oak, a lime, an oak.
    static let trees = (0..<3).map { _ in UUID() }
    static let inspections = (0..<3).map { _ in UUID() }

    static var definition: ServiceDefinition {
        var definition = SyncService.definition
        definition.name = name
        definition.layers[0].hasAttachments = true
        definition.layers[0].fields.append(FieldDefinition(name: "Keeper", type: .string, length: 40))
        definition.layers[0].drawingInfo = [
            "renderer": [
                "type": "uniqueValue", "field1": "Species",
                "uniqueValueInfos": [["value": "secret lime", "label": "Lime", "symbol": symbol]],
                "defaultSymbol": symbol,
            ]
        ]
        definition.capabilities.insert(.uploads)
        return definition
    }

    private static let symbol: JSONValue = [
        "type": "esriSMS", "style": "esriSMSCircle", "color": [0, 128, 0, 255], "size": 8,
    ]

    static var oaks: ServiceView {
        ServiceView(
            name: view, source: name,
            layers: [
                ViewLayer(
                    id: 0, fields: ["OBJECTID", "GlobalID", "Name", "Condition", "Stems"],
                    filter: "Species = 'secret oak' AND Condition <> 'Poor'"),
                ViewLayer(id: 1, filter: "Note LIKE 'Note%'"),
            ])
    }

    /// - Parameter test: gets a client of the view, one of the service, and the store with the views.
    static func serve<Result: Sendable>(
        _ test: (_ view: TestClient, _ service: TestClient, SaidViews, WholeStore) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-view-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await EveryStore.open(in: folder)
        try await store.createService(definition)
        try await fill(store)
        let views = SaidViews([oaks])
        let configuration = ServerConfiguration(port: 0, definitionLifetime: .zero)
        return try await TestServer.with(store: views.over(store), configuration: configuration) { server in
            var (view, service) = (server.client, server.client)
            view.base += "/Oaks/FeatureServer"
            service.base += "/Wood/FeatureServer"
            return try await test(view, service, views, store)
        }
    }

    private static func fill(_ store: WholeStore) async throws {
        let adds = trees.enumerated().map { index, id in
            FeatureEdit(
                globalID: id,
                attributes: [
                    ("Name", .text(index == 1 ? "secret tree" : "Tree \(index)")),
                    ("Species", .text(index == 1 ? "secret lime" : "secret oak")), ("Condition", .text("Good")),
                    ("Height", .real(Double(index) + 77.25)), ("Stems", .integer(Int64(index + 1))),
                    ("Keeper", .text("secret keeper \(index)")),
                ],
                geometry: .geometry(Point(x: Double(index) * 100, y: 0, spatialReference: .webMercator)))
        }
        let notes = inspections.enumerated().map { index, id in
            FeatureEdit(
                globalID: id,
                attributes: [
                    ("TreeID", .text(GUID.normalForm(trees[index]))),
                    ("Note", .text(index == 1 ? "secret note" : "Note \(index)")),
                ])
        }
        var edits = LayerEdits(layerID: 0, adds: adds)
        edits.attachments.adds = Self.trees.map { id in
            AttachmentEdit(
                globalID: UUID(), parent: .globalID(id), name: id == Self.trees[1] ? "secret.txt" : "bark.txt",
                contentType: "text/plain",
                content: AttachmentContent(bytes: Array((id == Self.trees[1] ? "secret bytes" : "bark").utf8)))
        }
        let batch = EditBatch(
            layers: [edits, LayerEdits(layerID: 1, adds: notes)], usesGlobalIDs: true, moment: TemporaryStore.moment)
        _ = try await store.apply(batch, to: name)
    }
}
