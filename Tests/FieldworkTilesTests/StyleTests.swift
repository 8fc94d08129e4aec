import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation
import Testing

@Suite("Styles of renderers")
struct StyleTests {
    private static func layer(
        _ type: LayerGeometryType, _ renderer: JSONValue, labels: [JSONValue] = [], transparency: Double = 0,
        minScale: Double = 0, maxScale: Double = 0
    ) -> LayerDefinition {
        let domain = DomainDefinition(
            name: "Kind",
            kind: .codedValues([.init(code: .integer(1), name: "Oak"), .init(code: .integer(2), name: "Elm")]))
        return LayerDefinition(
            id: 3, name: "Trees", geometryType: type, spatialReference: .webMercator,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "Kind", type: .integer, domain: domain),
                FieldDefinition(name: "Height", type: .double), FieldDefinition(name: "Name", type: .string, length: 9),
                FieldDefinition(name: "Secret", type: .string, length: 9),
            ], minScale: minScale, maxScale: maxScale,
            drawingInfo: [
                "renderer": renderer, "labelingInfo": .array(labels), "transparency": .number(transparency),
            ])
    }

    private static func circle(_ red: Int, size: Double = 9) -> JSONValue {
        [
            "type": "esriSMS", "style": "esriSMSCircle", "color": [JSONValue(red), 0, 0, 255], "size": .number(size),
            "outline": ["color": [255, 255, 255, 128], "width": 0.75],
        ]
    }

    @Test("A simple marker is a circle in pixels, its opacity that of the layer")
    func simple() {
        let layers = StyleLayers.drawing(
            Self.layer(.point, ["type": "simple", "symbol": Self.circle(200)], transparency: 50), source: "esri")
        #expect(layers.count == 1)
        #expect(layers[0]["id"] == "Trees")
        #expect(layers[0]["type"] == "circle")
        #expect(layers[0]["filter"] == nil)
        #expect(layers[0]["paint"]?["circle-radius"]?.doubleValue == 6)
        #expect(layers[0]["paint"]?["circle-color"] == "rgba(200,0,0,0.5)")
        #expect(layers[0]["paint"]?["circle-stroke-width"]?.doubleValue == 1)
    }

    @Test("A heat map adds up points as images do: weighted by its field, with the last colour at the greatest density")
    func heatMap() throws {
        let renderer: JSONValue = [
            "type": "heatmap", "field": "HEIGHT", "radius": 15, "maxDensity": .number(3 / (.pi * 400)),
            "colorStops": [["ratio": 0, "color": [0, 0, 255, 0]], ["ratio": 1, "color": [255, 0, 0, 255]]],
        ]
        let layers = StyleLayers.drawing(Self.layer(.point, renderer), source: "esri")
        #expect(layers.count == 1)
        #expect(layers[0]["type"] == "heatmap")
        let paint = try #require(layers[0]["paint"])
        #expect(paint["heatmap-radius"]?.doubleValue == 20 * 1.5.squareRoot())
        #expect(paint["heatmap-weight"] == ["max", 0, ["to-number", ["get", "Height"], 0]])
        // The map library's kernel is 1/√(2π) at its point.
        let intensity = try #require(paint["heatmap-intensity"]?.doubleValue)
        #expect(abs(intensity / (2 * .pi).squareRoot() - 1) < 1e-3)
    }

    @Test("Unique values match the text of the field; without a default the others aren't drawn")
    func uniqueValues() {
        let renderer: JSONValue = [
            "type": "uniqueValue", "field1": "KIND",
            "uniqueValueInfos": [
                ["value": "1", "symbol": Self.circle(1)], ["value": "2", "symbol": Self.circle(2)],
                ["value": "2", "symbol": Self.circle(3)],
            ],
        ]
        let layers = StyleLayers.drawing(Self.layer(.point, renderer), source: "esri")
        let key: JSONValue = ["case", ["has", "Kind"], ["to-string", ["get", "Kind"]], "<Null>"]
        #expect(layers[0]["filter"] == ["in", key, ["literal", ["1", "2"]]])
        #expect(
            layers[0]["paint"]?["circle-color"]
                == ["match", key, "1", "rgba(1,0,0,1)", "2", "rgba(2,0,0,1)", "rgba(0,0,0,0)"])
    }

    @Test("Groups of unique values are read, and a default takes the rest")
    func groups() {
        let renderer: JSONValue = [
            "type": "uniqueValue", "field1": "Kind", "defaultSymbol": Self.circle(9),
            "uniqueValueGroups": [
                ["classes": [["values": [["1"], ["2"]], "symbol": Self.circle(1)]]],
                ["classes": [["values": [["3"]], "symbol": Self.circle(2)]]],
            ],
        ]
        let layers = StyleLayers.drawing(Self.layer(.point, renderer), source: "esri")
        #expect(layers[0]["filter"] == nil)
        let color = layers[0]["paint"]?["circle-color"]?.arrayValue
        #expect(color?.dropFirst(2) == [["1", "2"], "rgba(1,0,0,1)", "3", "rgba(2,0,0,1)", "rgba(9,0,0,1)"])
    }

    @Test("Classes of numbers are open below and closed above")
    func classBreaks() throws {
        let renderer: JSONValue = [
            "type": "classBreaks", "field": "Height", "minValue": 0,
            "classBreakInfos": [
                ["classMaxValue": 10, "symbol": Self.circle(1)], ["classMaxValue": 20, "symbol": Self.circle(2)],
            ],
        ]
        let layers = StyleLayers.drawing(Self.layer(.point, renderer), source: "esri")
        let number: JSONValue = ["to-number", ["get", "Height"]]
        let first: JSONValue = ["all", ["has", "Height"], ["!", ["<", number, 0]], ["<=", number, 10]]
        let second: JSONValue = ["all", ["has", "Height"], ["!", ["<=", number, 10]], ["<=", number, 20]]
        #expect(layers[0]["filter"]?.text == (["any", first, second] as JSONValue).text)
        let color = try #require(layers[0]["paint"]?["circle-color"])
        #expect(
            color.text
                == (["case", first, "rgba(1,0,0,1)", second, "rgba(2,0,0,1)", "rgba(0,0,0,0)"] as JSONValue).text)
    }

    @Test("Lines with dashes have a layer of their own, and a line of no style has none")
    func lines() {
        func line(_ style: String) -> JSONValue {
            ["type": "esriSLS", "style": .string(style), "color": [0, 0, 0, 255], "width": 3]
        }
        let renderer: JSONValue = [
            "type": "uniqueValue", "field1": "Kind",
            "uniqueValueInfos": [
                ["value": "1", "symbol": line("esriSLSSolid")], ["value": "2", "symbol": line("esriSLSDash")],
                ["value": "3", "symbol": line("esriSLSNull")],
            ],
        ]
        let layers = StyleLayers.drawing(Self.layer(.polyline, renderer), source: "esri")
        #expect(layers.map { $0["type"] } == ["line", "line"])
        #expect(layers[0]["paint"]?["line-dasharray"] == nil)
        #expect(layers[0]["paint"]?["line-width"]?.doubleValue == 4)
        #expect(layers[1]["paint"]?["line-dasharray"]?.arrayValue?.compactMap(\.doubleValue) == [4, 3])
        #expect(layers[1]["filter"]?.arrayValue?.last == ["literal", ["2"]])
        #expect(Set(layers.map { $0["id"] }).count == 2)
    }

    @Test("Areas are filled and outlined; hatched ones by a picture of the sheet")
    func fills() throws {
        func fill(_ style: String) -> JSONValue {
            [
                "type": "esriSFS", "style": .string(style), "color": [0, 100, 0, 255],
                "outline": ["type": "esriSLS", "style": "esriSLSDot", "color": [1, 1, 1, 255], "width": 1.5],
            ]
        }
        let solid = Self.layer(.polygon, ["type": "simple", "symbol": fill("esriSFSSolid")])
        let layers = StyleLayers.drawing(solid, source: "esri")
        #expect(layers.map { $0["type"] } == ["fill", "line"])
        #expect(layers[1]["paint"]?["line-width"]?.doubleValue == 2)
        #expect(StyleDocument.sprites([solid]).isEmpty)
        let hatched = Self.layer(.polygon, ["type": "simple", "symbol": fill("esriSFSCross")])
        let name = try #require(StyleLayers.drawing(hatched, source: "esri")[0]["paint"]?["fill-pattern"]?.stringValue)
        let sprites = StyleDocument.sprites([hatched])
        #expect(Array(sprites.keys) == [name])
        let sheet = try StyleSprite(symbols: sprites, scale: 2)
        #expect(sheet.index[name]?["width"] == 16)
        #expect(sheet.index[name]?["pixelRatio"] == 2)
    }

    @Test("Labels know the old expression and the plainest of Arcade, and say what a coded value means")
    func labels() throws {
        let old: JSONValue = [
            "labelExpression": "[Name] CONCAT \" (\" CONCAT [Height] CONCAT \")\"",
            "labelPlacement": "esriServerPointLabelPlacementBelowCenter",
            "symbol": [
                "font": ["size": 12, "weight": "bold"], "color": [1, 2, 3, 255], "haloSize": 1.5,
                "haloColor": [255, 255, 255, 255],
            ],
        ]
        let arcade: JSONValue = ["labelExpressionInfo": ["expression": "$feature.Name + ' ' + $feature[\"Kind\"]"]]
        let hard: JSONValue = ["labelExpressionInfo": ["expression": "Round($feature.Height, 1)"]]
        let layer = Self.layer(
            .point, ["type": "simple", "symbol": Self.circle(1)], labels: [old, arcade, hard],
            minScale: 295_828_763.7957775 / 1_024)
        let layers = StyleLayers.labels(layer, source: "esri")
        // What no style can make, features carry.
        #expect(layers.count == 3)
        #expect(layers[2]["layout"]?["text-field"] == ["get", "label/2"])
        #expect(layers[2]["filter"] == ["has", "label/2"])
        #expect(
            layers[0]["layout"]?["text-field"]
                == ["concat", ["to-string", ["get", "Name"]], " (", ["to-string", ["get", "Height"]], ")"])
        #expect(layers[0]["layout"]?["text-font"] == ["Noto Sans Bold"])
        #expect(layers[0]["layout"]?["text-anchor"] == "top")
        #expect(layers[0]["layout"]?["text-size"]?.doubleValue == 16)
        #expect(layers[0]["paint"]?["text-halo-width"]?.doubleValue == 2)
        #expect(layers[0]["minzoom"]?.doubleValue == 10)
        let kind = layers[1]["layout"]?["text-field"]?.arrayValue?.last?.arrayValue
        #expect(kind?.first == "match")
        #expect(kind?.contains("Oak") == true)
        #expect(StyleFields.names(layer) == ["OBJECTID", "Kind", "Height", "Name"])
    }

    @Test("Sizes and colours that follow a value are interpolated")
    func variables() {
        let renderer: JSONValue = [
            "type": "simple", "symbol": Self.circle(1),
            "visualVariables": [
                [
                    "type": "sizeInfo", "field": "height", "minDataValue": 0, "maxDataValue": 10, "minSize": 6,
                    "maxSize": 12,
                ],
                [
                    "type": "colorInfo", "field": "Height",
                    "stops": [["value": 5, "color": [0, 0, 0, 255]], ["value": 1, "color": [9, 9, 9, 255]]],
                ],
            ],
        ]
        let paint = StyleLayers.drawing(Self.layer(.point, renderer), source: "esri")[0]["paint"]
        #expect(paint?["circle-radius"]?.arrayValue?.first == "/")
        let interpolation: JSONValue = [
            "interpolate", ["linear"], ["to-number", ["get", "Height"]], 1, "rgba(9,9,9,1)", 5, "rgba(0,0,0,1)",
        ]
        // A feature without the value keeps the colour of its class.
        #expect(
            paint?["circle-color"]?.text
                == (["case", ["has", "Height"], interpolation, "rgba(1,0,0,1)"] as JSONValue).text)
    }

    @Test("Sizes on the ground, and values that an expression makes, change nothing")
    func unknownVariables() {
        func radius(_ variable: JSONValue) -> JSONValue? {
            let renderer: JSONValue = ["type": "simple", "symbol": Self.circle(1), "visualVariables": [variable]]
            return StyleLayers.drawing(Self.layer(.point, renderer), source: "esri")[0]["paint"]?["circle-radius"]
        }
        let stops: JSONValue = [["value": 0, "size": 4], ["value": 9, "size": 40]]
        #expect(radius(["type": "sizeInfo", "field": "Height", "stops": stops])?.arrayValue != nil)
        #expect(
            radius(["type": "sizeInfo", "field": "Height", "stops": stops, "valueUnit": "meters"])?.doubleValue == 6)
        let evaluated = radius(["type": "sizeInfo", "field": "Height", "stops": stops, "valueExpression": "1"])
        #expect(evaluated?.text.contains("\"expression/0\"") == true && evaluated?.text.contains("Height") == false)
    }

    @Test("Markers turn with a value, by the newer form and by the older one")
    func rotation() {
        func turn(_ members: JSONValue) -> JSONValue? {
            var renderer = JSONObject(["type": "simple"])
            renderer["symbol"] = ["type": "esriSMS", "style": "esriSMSTriangle", "color": [1, 1, 1, 255], "size": 9]
            for member in members.objectValue?.members ?? [] { renderer[member.key] = member.value }
            let layer = Self.layer(.point, .object(renderer))
            return StyleLayers.drawing(layer, source: "esri")[0]["layout"]?["icon-rotate"]
        }
        let value: JSONValue = ["to-number", ["get", "Height"]]
        let newer: JSONValue = [
            "visualVariables": [["type": "rotationInfo", "field": "Height", "rotationType": "geographic"]]
        ]
        #expect(turn(newer)?.text == (["case", ["has", "Height"], value, 0] as JSONValue).text)
        let older: JSONValue = ["rotationExpression": "[Height]", "rotationType": "arithmetic"]
        #expect(turn(older)?.text == (["case", ["has", "Height"], ["-", 90, value], 0] as JSONValue).text)
        #expect(turn([:]) == nil)
    }

    @Test(
        "A picture that a symbol brings is on the sheet in the symbol's size; one that can't be read is a plain circle")
    func pictures() throws {
        let red: [UInt8] = [255, 0, 0, 255]
        let png = try PNGImage.encoded(width: 4, height: 2, pixels: (0..<8).flatMap { _ in red })
        func symbol(_ data: [UInt8]) -> JSONValue {
            [
                "type": "esriPMS", "contentType": "image/png", "width": 12, "height": 6, "angle": 30,
                "imageData": .string(Data(data).base64EncodedString()),
            ]
        }
        let layer = Self.layer(.point, ["type": "simple", "symbol": symbol(png)])
        let drawn = StyleLayers.drawing(layer, source: "esri", pictures: "data:")
        #expect(drawn[0]["type"] == "symbol")
        #expect(drawn[0]["layout"]?["icon-rotate"]?.doubleValue == -30)
        let sprites = StyleDocument.sprites([layer])
        let name = try #require(sprites.keys.first)
        #expect(drawn[0]["layout"]?["icon-image"] == .string("data:\(name)"))
        let sheet = try StyleSprite(symbols: sprites, scale: 2)
        #expect(sheet.index[name]?["width"] == 32)
        #expect(sheet.index[name]?["height"] == 16)
        let pixels = try #require(PNGImage.decoded(sheet.png))
        #expect(Array(pixels.bytes.prefix(4)) == red)
        let broken = Self.layer(.point, ["type": "simple", "symbol": symbol(Array("GIF89a".utf8))])
        #expect(StyleLayers.drawing(broken, source: "esri")[0]["type"] == "circle")
    }

    @Test("Labels whose texts the features carry are shown whatever their expression and condition")
    func carriedLabels() {
        let hard: JSONValue = [
            "labelExpressionInfo": ["expression": "Round($feature.Height, 1)"], "where": "Height > 3",
        ]
        let layer = Self.layer(.point, ["type": "simple", "symbol": Self.circle(1)], labels: [hard])
        #expect(StyleLayers.labels(layer, source: "esri").isEmpty)
        let labels = StyleLayers.labels(layer, source: "esri", attribute: LayerStyle.labelAttribute)
        #expect(labels.count == 1)
        #expect(labels[0]["layout"]?["text-field"] == ["get", "label/0"])
        #expect(labels[0]["filter"] == ["has", "label/0"])
    }

    @Test("More classes than a style draws are left out")
    func many() {
        func layers(_ count: Int) -> Int? {
            let infos = (0..<count).map { number -> JSONValue in
                ["value": .string("\(number)"), "symbol": Self.circle(number % 250)]
            }
            let renderer: JSONValue = ["type": "uniqueValue", "field1": "Kind", "uniqueValueInfos": .array(infos)]
            return StyleLayers.drawing(Self.layer(.point, renderer), source: "esri")[0]["filter"]?.arrayValue?
                .last?.arrayValue?.last?.arrayValue?.count
        }
        #expect(layers(FieldworkTiles.Limits.styleClasses) == FieldworkTiles.Limits.styleClasses)
        #expect(layers(FieldworkTiles.Limits.styleClasses + 1) == FieldworkTiles.Limits.styleClasses)
    }
}
