import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Labels", .fewAtATime)
struct LabelTests {
    private static func definition(_ text: String) throws -> LabelDefinition {
        try LabelDefinition.fromJSON(Data(text.utf8))
    }

    /// What a label says of the tree of a number, whose condition and diameter follow from it.
    private static func texts(
        _ definitions: [LabelDefinition], tree: Int = 1, scale: Double? = nil
    ) async throws -> [String] {
        try await TestService.withTrees(2) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            layer.addLabelDefinitions(definitions)
            let parameters = QueryParameters()
            parameters.whereClause = "Address = '\(tree) Main St'"
            let feature = try #require(try await table.queryFeatures(using: parameters).features().first { _ in true })
            #expect(try await layer.labels(for: feature, atScale: scale).isEmpty, "labels are switched off")
            layer.labelsAreEnabled = true
            return try await layer.labels(for: feature, atScale: scale).map(\.text)
        }
    }

    @Test(
        "Fields and texts are put together, codes by their names only where the author says so",
        arguments: [
            (#"{"labelExpression":"[Address] CONCAT \" / \" concat [Condition]"}"#, ["1 Main St / 2"]),
            (
                #"{"labelExpression":"[Address] CONCAT NEWLINE CONCAT [CONDITION]","useCodedValues":true}"#,
                ["1 Main St\nFair"]
            ),
            (#"{"labelExpressionInfo":{"value":"{Address}, {Nothing}!"}}"#, ["1 Main St, !"]),
            (#"{"labelExpressionInfo":{"expression":"$feature.Address"},"labelExpression":"[DBH]"}"#, ["1 Main St"]),
            (#"{"labelExpressionInfo":{"expression":"$feature['Address'];"}}"#, ["1 Main St"]),
            (
                #"{"labelExpression":"[DBH]","fieldInfos":[{"fieldName":"dbh","format":{"places":1,"digitSeparator":true}}]}"#,
                ["1,235.5"]
            ),
            (#"{"labelExpression":"[Notes] CONCAT \" only a text\""}"#, []),
            (
                #"{"labelExpressionInfo":{"expression":"$feature.Address + ' / ' + Round($feature.DBH)"}}"#,
                ["1 Main St / 1236"]
            ),
            (#"{"labelExpressionInfo":{"expression":"$feature.Address +"}}"#, []),
            (#"{"labelExpression":"[Address"}"#, []), (#"{"labelExpression":"[Address] [DBH]"}"#, []), ("{}", []),
        ])
    func texts(json: String, expected: [String]) async throws {
        #expect(try await Self.texts([try Self.definition(json)]) == expected)
    }

    @Test("A feature has the labels of every class whose condition and scales fit")
    func classes() async throws {
        let definitions = try [
            #"{"labelExpression":"\"fair\"","where":"Condition = 2"}"#,
            #"{"labelExpression":"\"poor\"","where":"Condition = 3"}"#,
            #"{"labelExpression":"\"near\"","minScale":5000,"maxScale":0}"#,
            #"{"labelExpression":"\"far\"","minScale":0,"maxScale":5000}"#,
        ].map(Self.definition)
        #expect(try await Self.texts(definitions) == ["fair", "near", "far"])
        #expect(try await Self.texts(definitions, scale: 1_000) == ["fair", "near"])
        #expect(try await Self.texts(definitions, scale: 90_000) == ["fair", "far"])
        await #expect(throws: (any Error).self) {
            try await Self.texts([try Self.definition(#"{"labelExpression":"[DBH]","where":"no ("}"#)])
        }
    }

    @Test("A definition keeps what it does not know, and one made in code is read back the same")
    func documents() throws {
        let known =
            #"{"labelExpression":"[A]","own":{"a":[1]},"symbol":{"type":"esriTS","haloSize":2},"where":"A > 1"}"#
        let definition = try Self.definition(known)
        #expect(try JSONParser.parse(definition.toJSON()) == (try JSONParser.parse(known)))
        #expect(definition.textSymbol?.haloWidth == 2)
        definition.placement = .polygonAlwaysHorizontal
        definition.minScale = 9
        let written = try JSONParser.parse(definition.toJSON())
        #expect(written["own"] == ["a": [1]] && written["minScale"] == 9)
        #expect(written["labelPlacement"] == "esriServerPolygonPlacementAlwaysHorizontal")
        let expressions: [LabelExpression] = [
            SimpleLabelExpression(simpleExpression: "[A]"), ArcadeLabelExpression(arcadeString: "$feature.A"),
            WebMapLabelExpression(webMapExpression: "{A}"),
        ]
        for expression in expressions {
            let made = LabelDefinition(labelExpression: expression, textSymbol: TextSymbol(size: 12))
            let read = try LabelDefinition.fromJSON(made.toJSON())
            let again = try #require(read.labelExpression)
            #expect(type(of: again) == type(of: expression) && again.text == expression.text)
            #expect(read.textSymbol?.size == 12)
        }
        #expect(throws: CommonError.self) { try Self.definition("7") }
    }

    @Test("A layer has the labels of the web map, else of the service; a change is written into the document")
    func layers() async throws {
        try await TestService.withTrees(1) { service in
            func map(_ drawing: String) throws -> Map {
                let text = """
                    {"operationalLayers":[{"id":"t","url":"\(service.url.absoluteString)","showLabels":true,
                     "layerDefinition":{"drawingInfo":{\(drawing)}}}],"version":"2.31"}
                    """
                return try Map.fromJSON(Data(text.utf8), environment: service.environment())
            }
            let own = try map(#""labelingInfo":[{"labelExpression":"[Address]","own":1}],"transparency":20"#)
            let before = own.webMap
            try await own.load()
            let layer = try #require(own.operationalLayers.first as? FeatureLayer)
            #expect(layer.labelDefinitions.count == 1 && layer.labelsAreEnabled)
            #expect(own.webMap["operationalLayers"] == before["operationalLayers"])
            let first = try #require(layer.labelDefinitions.first)
            first.whereClause = "DBH > 1"
            layer.addLabelDefinition(
                LabelDefinition(
                    labelExpression: SimpleLabelExpression(simpleExpression: "[DBH]"), textSymbol: TextSymbol()))
            let drawing = own.webMap["operationalLayers"]?.arrayValue?.first?["layerDefinition"]?["drawingInfo"]
            #expect(drawing?["transparency"] == 20)
            #expect(
                drawing?["labelingInfo"]?.arrayValue?.first == [
                    "labelExpression": "[Address]", "own": 1, "where": "DBH > 1",
                ])
            #expect(drawing?["labelingInfo"]?.arrayValue?.count == 2)
            layer.removeLabelDefinition(first)
            #expect(layer.labelDefinitions.count == 1)
            layer.removeAllLabelDefinitions()
            #expect(
                own.webMap["operationalLayers"]?.arrayValue?.first?["layerDefinition"]?["drawingInfo"]?["labelingInfo"]
                    == [])

            let plain = try map("")
            try await plain.load()
            #expect(plain.webMap["operationalLayers"] == (try map("")).webMap["operationalLayers"])
        }
    }
}
