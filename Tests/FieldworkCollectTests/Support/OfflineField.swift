import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import Testing

@testable import FieldworkCollect

/// The damage points as a service that can be taken offline, and what tests do with an area of it.
enum OfflineField {
    static func definition() -> ServiceDefinition {
        var definition = DamageField.definition()
        definition.capabilities.insert(.sync)
        for index in definition.layers.indices { definition.layers[index].capabilities.insert(.sync) }
        return definition
    }

    /// The damage points, and a district of this name around four of them.
    static func withDistrict(_ name: String, _ test: (DamageField) async throws -> Void) async throws {
        var definition = definition()
        var district = definition.layers[0]
        district.id = 1
        district.name = "Districts"
        district.geometryType = .polygon
        district.drawingInfo = nil
        district.displayField = "primcause"
        definition.layers.append(district)
        try await DamageField.with(points: 25, definition: definition) { field in
            let corners = [(-97.95, 38.05), (-97.95, 38.25), (-97.75, 38.25), (-97.75, 38.05)].map {
                Point(
                    x: WebMercator.x(longitude: $0), y: WebMercator.y(latitude: $1), spatialReference: .webMercator)
            }
            let edit = FeatureEdit(
                attributes: [("primcause", .text(name))], geometry: .geometry(Polygon(points: corners)))
            _ = try await field.store.apply(
                EditBatch(layers: [LayerEdits(layerID: 1, adds: [edit])], moment: Date()), to: DamageField.service)
            try await test(field)
        }
    }

    /// The four points in the south-west.
    static let edges: KeyValuePairs = [
        "west": "-98.05", "south": "37.95", "east": "-97.85", "north": "38.15", "name": "Reno",
        "session": "6a1f7a52-3a0c-4a64-9d0e-0f1f5a7c2b11",
    ]
    static let id = "6a1f7a52-3a0c-4a64-9d0e-0f1f5a7c2b11"

    /// Takes the area along and works in it.
    static func goOffline(_ visitor: PlainClient) async throws {
        let taken = try await visitor.post("/offline/new", edges)
        #expect(taken["Location"] == "/jobs/\(id)")
        try await isHere(visitor)
        let mode = try await visitor.post("/offline/mode", ["area": id])
        #expect(mode.status == 303)
    }

    /// Looks at the download until it has ended well.
    static func isHere(_ visitor: PlainClient) async throws {
        for _ in 0..<600 {
            let page = try await visitor.get("/jobs/\(id)")
            if page.text.contains("Work offline in") { return }
            try #require(!page.text.contains("The download stopped"), "\(page.text)")
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("The area did not arrive.")
    }

    static func add(_ visitor: PlainClient, _ session: String, lon: String = "-97.95", lat: String = "38.05")
        async throws
        -> PlainClient.Answer
    {
        try await visitor.post("/add/0", ["lon": lon, "lat": lat, "template": "t3", "session": session])
    }

    static func sync(_ visitor: PlainClient) async throws {
        _ = try await visitor.post("/sync", [:])
        for _ in 0..<600 {
            let page = try await visitor.get("/changes")
            if page.text.contains("Everything is sent") { return }
            try #require(!page.text.contains("not synced"), "\(page.text)")
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("The sync did not end.")
    }
}
