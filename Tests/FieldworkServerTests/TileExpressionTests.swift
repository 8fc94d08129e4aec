import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Tiles of a layer whose looks are made of Arcade.
@Suite("Expressions in vector tiles", .fewAtATime)
struct TileExpressionTests {
    private static func serve(
        _ renderer: JSONValue, labels: JSONValue = [], _ body: (TestServer) async throws -> Void
    ) async throws {
        try await TemporaryStore.serve(trees: 6) { server, store in
            var service = try await store.service(TreesService.name)
            service.layers[0].drawingInfo = ["renderer": renderer, "labelingInfo": labels]
            try await store.updateService(service)
            try await body(server)
        }
    }

    /// The attributes of the trees in a tile, by their object ids.
    private static func trees(_ server: TestServer) async throws -> [Int64: [String: AttributeValue]] {
        let answer = try await server.client.get("Trees/VectorTileServer/tile/16/32767/32768.pbf")
        let layer = try #require(try VectorTileReader(answer.body).layers.first)
        var trees: [Int64: [String: AttributeValue]] = [:]
        for tree in layer.features { if let id = tree.id { trees[Int64(id)] = tree.attributes } }
        return trees
    }

    private static let circle: JSONValue = [
        "type": "esriSMS", "style": "esriSMSCircle", "size": 6, "color": [1, 2, 3, 255],
    ]

    @Test(
        "A renderer without a field draws by the class that its expression gives, and the tile carries no more than that"
    )
    func classes() async throws {
        let renderer: JSONValue = [
            "type": "uniqueValue", "field1": .null,
            "valueExpression": "IIf($feature.Stems > 2, 'many', 'few') + Round(Geometry($feature).x / 1000)",
            "uniqueValueInfos": [
                ["value": "few0", "symbol": Self.circle], ["value": "many0", "symbol": Self.circle],
            ],
        ]
        try await Self.serve(renderer) { server in
            let trees = try await Self.trees(server)
            #expect(trees.count == 6)
            let stems = try await Self.stems(server)
            #expect(Set(stems.values.map { $0 > 2 }).count == 2)
            for (id, tree) in trees {
                let expected: Int64 = stems[id, default: 0] > 2 ? 1 : 0
                #expect(tree["expression/class"] == .integer(expected))
                #expect(tree["Stems"] == nil)
            }
            let style = try await server.client.get("Trees/VectorTileServer/resources/styles/root.json").text
            #expect(style.contains("expression/class"))
        }
    }

    @Test("Variables and labels that are expressions come along as values; one that fails leaves its feature without")
    func variables() async throws {
        let renderer: JSONValue = [
            "type": "simple", "symbol": Self.circle,
            "visualVariables": [
                [
                    "type": "sizeInfo", "valueExpression": "$feature.Stems * 10",
                    "stops": [["value": 0, "size": 4], ["value": 90, "size": 40]],
                ]
            ],
        ]
        let label: JSONValue = [
            "labelExpressionInfo": ["expression": "Upper(Split($feature.Name, ' ')[$feature.Stems - 1])"]
        ]
        try await Self.serve(renderer, labels: [label]) { server in
            let stems = try await Self.stems(server)
            for (id, tree) in try await Self.trees(server) {
                let count = stems[id, default: 0]
                #expect(tree["expression/0"] == .real(Double(count) * 10))
                // A tree's name has two words.
                #expect((tree["label/0"] != nil) == (count <= 2))
                if count == 1 { #expect(tree["label/0"] == .text("TREE")) }
            }
        }
    }

    @Test("An image is drawn by the classes and labels that expressions give")
    func images() async throws {
        func circle(_ red: Int64) -> JSONValue {
            ["type": "esriSMS", "style": "esriSMSCircle", "size": 12, "color": [.integer(red), 0, 0, 255]]
        }
        func image(_ renderer: JSONValue, _ labels: JSONValue = []) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            try await Self.serve(renderer, labels: labels) { server in
                let answer = try await server.client.get(
                    "Trees/MapServer/export?f=image&bbox=-20,-20,80,80&bboxSR=3857&size=128,128&format=png")
                #expect(answer.header("Content-Type") == "image/png")
                bytes = answer.body
            }
            return bytes
        }
        let label: JSONValue = ["labelExpressionInfo": ["expression": "$feature.Name"]]
        let evaluated: JSONValue = ["labelExpressionInfo": ["expression": "Trim($feature.Name)"]]
        let plain = try await image(["type": "simple", "symbol": circle(200)], [label])
        let chosen = try await image(
            [
                "type": "classBreaks", "valueExpression": "$feature.Stems * 0 + 5", "minValue": 0,
                "classBreakInfos": [
                    ["classMaxValue": 2, "symbol": circle(50)], ["classMaxValue": 9, "symbol": circle(200)],
                ], "defaultSymbol": circle(90),
            ], [evaluated])
        let other = try await image(["type": "simple", "symbol": circle(90)], [label])
        #expect(chosen == plain && chosen != other)
    }

    @Test("A tile whose expression asks for the time is not kept")
    func clock() async throws {
        let renderer: JSONValue = [
            "type": "uniqueValue", "valueExpression": "Text(Now(), 'Y')", "uniqueValueInfos": [],
            "defaultSymbol": Self.circle,
        ]
        try await Self.serve(renderer) { server in
            let answer = try await server.client.get("Trees/VectorTileServer/tile/16/32767/32768.pbf")
            #expect(answer.status == 200 && answer.header("ETag") == nil)
        }
    }

    private static func stems(_ server: TestServer) async throws -> [Int64: Int64] {
        let answer = try await server.client.get(
            "Trees/FeatureServer/0/query?f=json&where=1%3D1&outFields=OBJECTID,Stems&returnGeometry=false")
        let rows = try answer.json["features"]?.arrayValue ?? []
        return Dictionary(
            uniqueKeysWithValues: rows.compactMap { row in
                guard let id = row["attributes"]?["OBJECTID"]?.integerValue,
                    let stems = row["attributes"]?["Stems"]?.integerValue
                else { return nil }
                return (id, stems)
            })
    }
}
