import FieldworkGeometry
import FieldworkREST
import Testing

/// Numbers at the ends of their types, which requests can name: they are computed or refused, and never end the process.
@Suite struct ExtremeInputTests {
    private static let numbers = [
        "9223372036854775807", "-9223372036854775807", "(-9223372036854775807 - 1)", "0", "1", "-1", "1e308", "-1e308",
        "5e-324", "0.5", "NULL", "'x'", "'9e999'",
    ]

    private func value(_ text: String) throws -> AttributeValue {
        SQLEvaluator(now: 0) { _ in .null }.evaluate(try SQLParser.parse(expression: text))
    }

    @Test("SUBSTRING may reach beyond the end of its text")
    func aPartOfATextMayLieBeyondItsEnd() throws {
        #expect(try value("SUBSTRING('Oak', 9223372036854775807, 9223372036854775807)") == .text(""))
        #expect(try value("SUBSTRING('Oak', 2, 9223372036854775807)") == .text("ak"))
        #expect(try value("SUBSTRING('Oak', 1e308, 1e308)") == .text(""))
    }

    @Test("EXTRACT takes any number as a date", arguments: SQLDatePart.allCases)
    func anyNumberHasPartsOfADate(_ part: SQLDatePart) throws {
        for number in ["9223372036854775807", "-9223372036854775807", "(-9223372036854775807 - 1)"] {
            #expect(try value("EXTRACT(\(part.rawValue) FROM \(number))").integerValue != nil)
        }
    }

    @Test("Functions and signs take any numbers")
    func functionsAndSignsTakeAnyNumbers() throws {
        for one in Self.numbers {
            for function in [
                "ABS", "CEILING", "FLOOR", "ROUND", "TRUNCATE", "SIGN", "SQRT", "EXP", "LOG", "TAN", "ACOS",
            ] {
                _ = try value("\(function)(\(one))")
            }
            for type in ["INTEGER", "FLOAT", "VARCHAR(2)", "TIMESTAMP"] { _ = try value("CAST(\(one) AS \(type))") }
            for other in Self.numbers {
                for sign in ["+", "-", "*", "/", "||", "<", "="] { _ = try value("\(one) \(sign) \(other)") }
                for function in ["MOD", "POWER", "ROUND", "TRUNCATE", "NULLIF"] {
                    _ = try value("\(function)(\(one), \(other))")
                }
                _ = try value("SUBSTRING('Oak', \(one), \(other))")
            }
        }
        #expect(try value("9223372036854775807 + 1") == .real(0x1p63))
    }

    @Test(
        "Dates that can't be written are not read",
        arguments: [
            "INTERVAL '999999999 999999999:0:0' DAY TO SECOND", "TIMESTAMP '9999-12-31 23:59:59 -00:01'",
            "TIMESTAMP '0000-01-01 00:00:00 +00:01'",
        ])
    func momentsThatCantBeWrittenAreNotRead(_ text: String) {
        #expect(throws: SQLParseError.self) { try SQLParser.parse(expression: text) }
    }

    @Test("A grid of quantization may be finer than coordinates can be counted", arguments: ["json", "pbf"])
    func aGridMayBeFinerThanCoordinatesCanBeCounted(_ format: String) throws {
        let line = Polyline(
            points: [Point(x: -100, y: -50), Point(x: 100, y: 50), Point(x: -100, y: 50)], spatialReference: .wgs84)
        let layer = LayerDefinition(
            id: 0, name: "Lines", geometryType: .polyline, spatialReference: .wgs84,
            fields: [FieldDefinition(name: "OBJECTID", type: .oid)])
        let service = ServiceDefinition(name: ServiceName(name: "Lines"), layers: [layer])
        let request = try QueryRequest(
            parameters: Samples.parameters([
                "f": format, "outFields": "*",
                "quantizationParameters": #"{"tolerance":1e-300,"extent":{"xmin":0,"ymin":0,"xmax":1,"ymax":1}}"#,
            ]), layer: layer, service: service)
        guard case .features(let query) = request.content else {
            Issue.record("no features")
            return
        }
        let row = Row(values: [.integer(1)], geometry: line)
        if format == "json" {
            let bytes = try Row.encode([row], with: try JSONFeatureEncoder(layer: layer, query: query))
            #expect(try FeatureSetReader.read(json: try JSONParser.parse(bytes)).features.count == 1)
        } else {
            let bytes = try Row.encode([row], with: try PBFFeatureEncoder(layer: layer, query: query))
            #expect(try PBFFeatureSetReader.read(bytes).features.count == 1)
        }
    }
}
