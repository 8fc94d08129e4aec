import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Renderers", .fewAtATime)
struct RendererTests {
    private static func feature(_ attributes: [String: any Sendable], geometry: Geometry? = nil) -> Feature {
        Feature(table: nil, attributes: attributes, geometry: geometry)
    }

    private static func size(_ renderer: Renderer, _ attributes: [String: any Sendable]) -> Double? {
        (renderer.symbol(for: feature(attributes)) as? SimpleMarkerSymbol)?.size
    }

    private static func marker(_ size: Double) -> SimpleMarkerSymbol { SimpleMarkerSymbol(size: size) }

    private static func renderer(_ text: String) throws -> Renderer { try Renderer.fromJSON(Data(text.utf8)) }

    @Test("Class breaks decide by number, limits included above")
    func classBreaks() throws {
        let renderer = try Self.renderer(
            """
            {"type":"classBreaks","field":"height","minValue":0,"classBreakInfos":[
              {"classMaxValue":10,"symbol":{"type":"esriSMS","size":1}},
              {"classMaxValue":20,"symbol":{"type":"esriSMS","size":2}}],"defaultSymbol":{"type":"esriSMS","size":9}}
            """)
        let sizes = [0.0, 10, 10.5, 20, 21, -1].map { Self.size(renderer, ["height": $0]) }
        #expect(sizes == [1, 1, 2, 2, 9, 9])
        #expect(Self.size(renderer, [:]) == 9)
    }

    @Test(
        "Values are divided by a field, a total or nothing, or their logarithm is taken, before their class is found",
        arguments: [
            ("\"esriNormalizeByField\",\"normalizationField\":\"area\"", 50.0, 10.0, 1.0),
            ("\"esriNormalizeByField\",\"normalizationField\":\"area\"", 50.0, 0.0, 9.0),
            ("\"esriNormalizeByPercentOfTotal\",\"normalizationTotal\":1000", 80.0, 0.0, 2.0),
            ("\"esriNormalizeByLog\"", 1_000.0, 0.0, 1.0), ("\"esriNormalizeByLog\"", 0.0, 0.0, 9.0),
            ("\"none\"", 8.0, 0.0, 2.0),
        ])
    func normalization(type: String, value: Double, area: Double, expected: Double) throws {
        let renderer = try Self.renderer(
            """
            {"type":"classBreaks","field":"count","minValue":0,"normalizationType":\(type),"classBreakInfos":[
              {"classMaxValue":6,"symbol":{"type":"esriSMS","size":1}},
              {"classMaxValue":20,"symbol":{"type":"esriSMS","size":2}}],"defaultSymbol":{"type":"esriSMS","size":9}}
            """)
        #expect(Self.size(renderer, ["count": value, "area": area]) == expected)
    }

    @Test("Values of several fields, numbers and missing values find their symbol; the groups go before the older list")
    func uniqueValues() throws {
        let older = try Self.renderer(
            """
            {"type":"uniqueValue","field1":"kind","field2":"grade","fieldDelimiter":"; ","uniqueValueInfos":[
              {"value":"oak; 1","symbol":{"type":"esriSMS","size":1}},
              {"value":"oak; <Null>","symbol":{"type":"esriSMS","size":2}},
              {"value":"oak; 1","symbol":{"type":"esriSMS","size":7}}]}
            """)
        let (small, double): ([String: any Sendable], [String: any Sendable]) = (
            ["kind": "oak", "grade": Int16(1)], ["kind": "oak", "grade": 1.0]
        )
        #expect(Self.size(older, small) == 1)
        #expect(Self.size(older, double) == 1)
        #expect(Self.size(older, ["kind": "oak"]) == 2)
        #expect(older.symbol(for: Self.feature(["kind": "elm"])) == nil, "features with other values are not drawn")
        let groups = try Self.renderer(
            """
            {"type":"uniqueValue","field1":"kind","uniqueValueInfos":[{"value":"a","symbol":{"type":"esriSMS","size":9}}],
             "uniqueValueGroups":[{"heading":"","classes":[
              {"label":"a or 2","values":[["a"],[2.0]],"symbol":{"type":"esriSMS","size":3}}]}]}
            """)
        #expect(Self.size(groups, ["kind": "a"]) == 3 && Self.size(groups, ["kind": Int32(2)]) == 3)
        #expect(groups.legendEntries.map(\.label) == ["a or 2", "a or 2"])
    }

    @Test("A renderer that nobody can evaluate shows all features neutrally, by their geometry, and keeps its document")
    func neutral() throws {
        let text = """
            {"type":"uniqueValue","valueExpression":"Count($layer) + 1","uniqueValueInfos":[
            {"value":"2","symbol":{"type":"esriSMS","size":1}}],"defaultSymbol":{"type":"esriSMS","size":9},"own":[1]}
            """
        for renderer in [try Self.renderer(text), try Self.renderer("{\"type\":\"heatmap\",\"own\":1}")] {
            #expect(!renderer.isSupported)
            let line = Polyline(points: [Point(x: 0, y: 0), Point(x: 1, y: 1)])
            #expect(renderer.symbol(for: Self.feature(["a": 1], geometry: line)) is SimpleLineSymbol)
            let point = Self.feature(["a": 1], geometry: Point(x: 0, y: 0))
            #expect(renderer.symbol(for: point) is SimpleMarkerSymbol && Self.size(renderer, ["a": 1]) == 8)
        }
        #expect(try JSONParser.parse(Self.renderer(text).toJSON()) == (try JSONParser.parse(text)))
    }

    @Test("Renderers made in code draw as they are told and are read back the same")
    func made() throws {
        let values = UniqueValueRenderer(
            fieldNames: ["kind", "grade"],
            uniqueValues: [
                UniqueValue(label: "Good oak", symbol: Self.marker(5), values: ["oak", 1]),
                UniqueValue(label: "Elm", symbol: Self.marker(6), values: ["elm", 2]),
            ], defaultLabel: "Others", defaultSymbol: Self.marker(7))
        let breaks = ClassBreaksRenderer(
            fieldName: "grade",
            classBreaks: [
                ClassBreak(label: "low", minValue: -.infinity, maxValue: 1, symbol: Self.marker(5)),
                ClassBreak(label: "high", minValue: 1, maxValue: .infinity, symbol: Self.marker(6)),
            ])
        let (oak, elm): ([String: any Sendable], [String: any Sendable]) = (
            ["kind": "oak", "grade": 1], ["kind": "elm", "grade": 2]
        )
        for renderer in [values as Renderer, breaks, SimpleRenderer(symbol: Self.marker(5))] {
            let read = try Renderer.fromJSON(renderer.toJSON())
            #expect(type(of: read) == type(of: renderer))
            #expect(read.toJSON() == renderer.toJSON())
            #expect(Self.size(read, oak) == 5)
            #expect(read.legendEntries.map(\.label) == renderer.legendEntries.map(\.label))
        }
        #expect(Self.size(values, elm) == 6 && Self.size(values, ["kind": "ash"]) == 7)
        #expect(values.legendEntries.map(\.label) == ["Good oak", "Elm", "Others"])
        #expect(Self.size(breaks, ["grade": 1e300]) == 6)
        #expect(throws: CommonError.self) { try Renderer.fromJSON(Data("[]".utf8)) }
    }

    @Test("Visual variables turn, size and colour a symbol; a missing value changes nothing")
    func variables() throws {
        let renderer = try Self.renderer(
            """
            {"type":"simple","symbol":{"type":"esriSMS","size":8,"angle":5,"color":[0,0,0,255]},"visualVariables":[
             {"type":"rotationInfo","field":"bearing"},
             {"type":"sizeInfo","field":"girth","minDataValue":0,"maxDataValue":100,"minSize":4,"maxSize":24},
             {"type":"colorInfo","field":"age","stops":[{"value":0,"color":[0,0,0,255]},{"value":10,"color":[200,100,0,255]}]},
             {"type":"transparencyInfo","field":"age","stops":[{"value":10,"transparency":0},{"value":20,"transparency":50}]},
             {"type":"sizeInfo","valueExpression":"Count($layer)","stops":[{"value":0,"size":99}]}]}
            """)
        func symbol(_ attributes: [String: any Sendable]) -> SimpleMarkerSymbol? {
            renderer.symbol(for: Self.feature(attributes)) as? SimpleMarkerSymbol
        }
        #expect(symbol(["bearing": 90])?.angle == -85)
        let sizes = [-5.0, 50, 500].map { symbol(["girth": $0])?.size }
        #expect(sizes == [4, 14, 24])
        #expect(symbol(["age": 5])?.color == SymbolColor(red: 100, green: 50, blue: 0))
        #expect(symbol(["age": 20])?.color == SymbolColor(red: 200, green: 100, blue: 0, alpha: 128))
        #expect(symbol([:])?.size == 8 && symbol([:])?.angle == 5)
        let older = try Self.renderer(
            """
            {"type":"simple","symbol":{"type":"esriSMS"},"rotationExpression":"[a]","rotationType":"arithmetic"}
            """)
        #expect((older.symbol(for: Self.feature(["a": 90])) as? SimpleMarkerSymbol)?.angle == 0)
    }

    @Test("Class breaks find the class of the number that an expression makes; a failing expression gives the default")
    func classBreaksOfExpressions() throws {
        let renderer = try Self.renderer(
            """
            {"type":"classBreaks","field":"height","valueExpression":"$feature.count / $feature.area","minValue":0,
             "classBreakInfos":[{"classMaxValue":10,"symbol":{"type":"esriSMS","size":1}},
             {"classMaxValue":20,"symbol":{"type":"esriSMS","size":2}}],"defaultSymbol":{"type":"esriSMS","size":9}}
            """)
        #expect(renderer.isSupported)
        // The field's own value would say class 2.
        #expect(Self.size(renderer, ["count": 30, "area": 6, "height": 15]) == 1)
        #expect(Self.size(renderer, ["count": 30, "area": 2, "height": 5]) == 2)
        #expect(Self.size(renderer, ["count": 30, "area": 0]) == 9)
        #expect(Self.size(renderer, ["area": 2]) == 9)
    }

    @Test(
        "What expressions give for a feature is told to who draws by himself, and nothing where the renderer has none")
    func expressionValues() throws {
        let renderer = try Self.renderer(
            """
            {"type":"uniqueValue","valueExpression":"Iif($feature.girth > 40, 'old', 'young')","uniqueValueInfos":[
             {"value":"young","symbol":{"type":"esriSMS"}},{"value":"old","symbol":{"type":"esriSMS"}}],
             "visualVariables":[{"type":"sizeInfo","field":"girth"},
             {"type":"rotationInfo","valueExpression":"$feature.girth * $view.scale"}]}
            """)
        let values = renderer.expressionValues(for: Self.feature(["girth": 50.0]), scale: 2)
        #expect(values == ["expression/class": 1, "expression/1": 100])
        #expect(renderer.expressionValues(for: Self.feature(["girth": 5.0]))["expression/class"] == 0)
        #expect(renderer.expressionValues(for: Self.feature(["height": 5.0])).isEmpty)
        #expect(SimpleRenderer(symbol: Self.marker(1)).expressionValues(for: Self.feature([:])).isEmpty)
    }

    @Test(
        "Unique values are compared with what an expression makes, as text",
        arguments: [
            ("Iif($feature.girth > 40, 'old', 'young')", ["girth": 41.0], 1.0),
            ("Iif($feature.girth > 40, 'old', 'young')", ["girth": 3.0], 2.0),
            ("$feature.girth * 2", ["girth": 3.0], 3.0),
            ("null", ["girth": 3.0], 4.0), ("$feature.girth > 1", ["girth": 3.0], 5.0),
            ("$feature.nothing", ["girth": 3.0], 9.0), ("'other'", ["girth": 3.0], 9.0),
        ])
    func uniqueValuesOfExpressions(expression: String, attributes: [String: Double], expected: Double) throws {
        let infos = ["old", "young", "6", "<Null>", "true"].enumerated().map { index, value in
            "{\"value\":\"\(value)\",\"symbol\":{\"type\":\"esriSMS\",\"size\":\(index + 1)}}"
        }
        let renderer = try Self.renderer(
            """
            {"type":"uniqueValue","valueExpression":"\(expression)","uniqueValueInfos":[\(infos.joined(separator: ","))],
             "defaultSymbol":{"type":"esriSMS","size":9}}
            """)
        #expect(renderer.isSupported)
        #expect(Self.size(renderer, attributes) == expected)
    }

    @Test("Visual variables take their value from an expression; one that fails changes nothing")
    func variablesOfExpressions() throws {
        let renderer = try Self.renderer(
            """
            {"type":"simple","symbol":{"type":"esriSMS","size":8,"angle":0},"visualVariables":[
             {"type":"rotationInfo","field":"none","valueExpression":"$feature.bearing + 10"},
             {"type":"sizeInfo","valueExpression":"$view.scale","stops":[{"value":0,"size":99}]},
             {"type":"sizeInfo","valueExpression":"$feature.girth * 2","minDataValue":0,"maxDataValue":100,
              "minSize":4,"maxSize":24}]}
            """)
        let symbol = renderer.symbol(for: Self.feature(["bearing": 80, "girth": 25])) as? SimpleMarkerSymbol
        #expect(symbol?.angle == -90 && symbol?.size == 14)
        let plain = renderer.symbol(for: Self.feature([:])) as? SimpleMarkerSymbol
        #expect(plain?.angle == 0 && plain?.size == 8)
    }

    @Test("A renderer whose expression has an error is not supported")
    func wrongExpressions() throws {
        for text in ["$feature.a +", "NoSuchFunction($feature.a)", "First($layer).a"] {
            let renderer = try Self.renderer(
                "{\"type\":\"classBreaks\",\"field\":\"a\",\"valueExpression\":\"\(text)\",\"classBreakInfos\":[]}")
            #expect(!renderer.isSupported)
        }
    }

    @Test(
        "The fields that are fetched for drawing are those that the renderer, its variables and their expressions read")
    func fieldsOfExpressions() throws {
        func names(_ expression: String) throws -> Set<String>? {
            let info = try JSONParser.parse(
                Data(
                    """
                    {"renderer":{"type":"classBreaks","field":"a","valueExpression":"\(expression)","visualVariables":[
                     {"type":"sizeInfo","field":"b","normalizationField":"c"},
                     {"type":"rotationInfo","valueExpression":"$feature.d + $feature['e']"}]}}
                    """.utf8))
            return RendererFields.names(in: info).map(Set.init)
        }
        #expect(try names("$feature.f") == ["a", "b", "c", "d", "e", "f"])
        #expect(try names("var name = Concatenate('f', 1); return $feature[name]") == nil)
        #expect(RendererFields.names(in: nil) == [])
    }
}
