import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Testing

/// What features carry of the expressions of a layer's looks.
@Suite("Expressions of renderers, variables and labels")
struct DrawnExpressionsTests {
    private static let schema = ArcadeSchema(fields: [
        ArcadeField(name: "Name", type: "esriFieldTypeString"),
        ArcadeField(name: "Height", type: "esriFieldTypeDouble"),
    ])

    private static func values(
        _ renderer: JSONValue, _ name: ArcadeValue, _ height: ArcadeValue, scale: Double? = nil
    ) throws -> [String: DrawnExpressions.Value] {
        let expressions = try #require(DrawnExpressions(renderer: renderer))
        var context = ArcadeContext(profile: .visualization, now: 0)
        context.viewScale = scale
        let feature = ArcadeFeature(schema: schema, values: [name, height])
        return Dictionary(uniqueKeysWithValues: DrawnExpressionRunner(expressions, context).values(feature))
    }

    private static func unique(_ expression: String, _ values: [JSONValue]) -> JSONValue {
        [
            "type": "uniqueValue", "valueExpression": .string(expression),
            "uniqueValueInfos": .array(values.map { ["value": $0, "symbol": ["type": "esriSMS"]] }),
        ]
    }

    @Test(
        "A value expression gives the number of its class, and none where no class takes the value or the expression fails",
        arguments: [
            ("'low'", 0), ("'high'", 1), ("'other'", nil), ("1 > $feature.Nothing", nil), ("7", 2), ("null", 3),
        ])
    func classes(expression: String, expected: Int64?) throws {
        let renderer = Self.unique(expression, ["low", "high", 7, "<Null>"])
        let found = try Self.values(renderer, .text("a"), .number(2))
        #expect(found["expression/class"] == expected.map { .integer($0) })
    }

    @Test(
        "Class breaks take the value of an expression, and divide it",
        arguments: [(3.0, 0), (10.0, 0), (10.5, 1), (99.0, nil)])
    func breaks(height: Double, expected: Int64?) throws {
        let renderer: JSONValue = [
            "type": "classBreaks", "valueExpression": "$feature.Height * 2", "minValue": 0,
            "normalizationType": "esriNormalizeByPercentOfTotal", "normalizationTotal": 200,
            "classBreakInfos": [["classMaxValue": 10], ["classMaxValue": 40]],
        ]
        let found = try Self.values(renderer, .null, .number(height))
        #expect(found["expression/class"] == expected.map { .integer($0) })
    }

    @Test("Variables keep their places among those over fields, and see the scale of the map")
    func variables() throws {
        let renderer: JSONValue = [
            "type": "simple",
            "visualVariables": [
                ["type": "sizeInfo", "field": "Height"],
                ["type": "colorInfo", "valueExpression": "$feature.Height + $view.scale"],
                ["type": "rotationInfo", "valueExpression": "$feature.Name"],
            ],
        ]
        let found = try Self.values(renderer, .text("none"), .number(2), scale: 1_000)
        #expect(found == ["expression/1": .real(1_002)])
    }

    @Test("What has an error or reads layers is no expression that can be evaluated for every feature")
    func unsupported() {
        #expect(DrawnExpressions(renderer: Self.unique("1 +", ["1"])) == nil)
        #expect(DrawnExpressions(renderer: Self.unique("Count(FeatureSetByName($map, 'a'))", ["1"])) == nil)
        #expect(DrawnExpressions(renderer: ["type": "uniqueValue", "field1": "Name"]) == nil)
    }

    @Test("The style looks at the class that features carry; a feature without one gets the default symbol")
    func style() {
        var layer = LayerDefinition(id: 0, name: "Trees", geometryType: .point, fields: [])
        var renderer = Self.unique("Upper($feature.Name)", ["A", "B"]).objectValue ?? JSONObject()
        renderer["uniqueValueInfos"] = [
            [
                "value": "A",
                "symbol": ["type": "esriSMS", "style": "esriSMSCircle", "size": 6, "color": [1, 2, 3, 255]],
            ],
            [
                "value": "B",
                "symbol": ["type": "esriSMS", "style": "esriSMSCircle", "size": 6, "color": [4, 5, 6, 255]],
            ],
        ]
        renderer["defaultSymbol"] = ["type": "esriSMS", "style": "esriSMSCircle", "size": 6, "color": [7, 8, 9, 255]]
        layer.drawingInfo = ["renderer": .object(renderer)]
        let drawn = StyleLayers.drawing(layer, source: "esri")
        let color = drawn.first?["paint"]?["circle-color"]?.arrayValue
        #expect(color?.first == "match")
        #expect(
            color?.dropFirst(2).map(\.text) == [
                #""0""#, #""rgba(1,2,3,1)""#, #""1""#, #""rgba(4,5,6,1)""#, #""rgba(7,8,9,1)""#,
            ])
        #expect(color?.dropFirst().first?.text.contains("expression/class") == true)
    }
}
