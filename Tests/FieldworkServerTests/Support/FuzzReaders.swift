import FieldworkGeometry
import FieldworkREST
import Foundation

@testable import FieldworkServer

extension FuzzTests.Reader {
    static let boundary = "x"

    /// Reads an input and, where the format can be written, what it writes itself.
    func read(_ input: [UInt8]) throws {
        switch self {
        case .condition: try Self.condition(String(decoding: input, as: UTF8.self))
        case .geoServicesJSON:
            let json = try JSONParser.parse(input)
            guard let geometry = try GeoServicesJSON.geometry(from: json) else { return }
            let text = GeoServicesJSON.json(for: geometry).text
            guard (try? GeoServicesJSON.geometry(from: JSONParser.parse(text))) != nil else {
                throw BrokenRoundTrip(description: text)
            }
        case .geoJSON:
            guard let geometry = try GeoJSONCodec.geometry(from: JSONParser.parse(input)) else { return }
            var bytes: [UInt8] = []
            GeoJSONCodec.append(geometry, to: &bytes)
            guard (try? GeoJSONCodec.geometry(from: JSONParser.parse(bytes))) != nil else {
                throw BrokenRoundTrip(description: String(decoding: bytes, as: UTF8.self))
            }
        case .wellKnownBinary:
            let geometry = try input.withUnsafeBytes {
                try WellKnownBinary.geometry(from: $0, spatialReference: .wgs84)
            }
            guard let geometry else { return }
            try Self.again(geometry)
        case .geoPackageBinary:
            let geometry = try input.withUnsafeBytes {
                try GeoPackageBinary.geometry(from: $0, spatialReference: .wgs84)
            }
            if let geometry { try Self.again(geometry) }
        case .wellKnownText:
            let text = String(decoding: input, as: UTF8.self)
            guard let geometry = try WellKnownText.geometry(from: text) else { return }
            let again = WellKnownText.text(of: geometry)
            guard (try? WellKnownText.geometry(from: again)) != nil else { throw BrokenRoundTrip(description: again) }
        case .multipart: _ = try MultipartForm(input, contentType: "multipart/form-data; boundary=\(Self.boundary)")
        case .protocolBuffer: _ = try PBFFeatureSetReader.read(input)
        case .form: _ = try FormURLEncoded.fields(input)
        }
    }

    private static func condition(_ text: String) throws {
        let expression = try SQLParser.parse(where: text)
        let again = expression.text
        // Parentheses make a text deeper than what it came from: only its own limits may refuse it.
        guard let reread = try? SQLParser.parse(where: again) else { return }
        // `a OR (b OR c)` is written without its parentheses, which say nothing: the trees lean to different sides.
        guard reread == expression || reread.text == again else { throw BrokenRoundTrip(description: again) }
    }

    private static func again(_ geometry: Geometry) throws {
        var bytes: [UInt8] = []
        WellKnownBinary.append(geometry, to: &bytes)
        let reread = try? bytes.withUnsafeBytes { try WellKnownBinary.geometry(from: $0, spatialReference: .wgs84) }
        guard reread != nil else { throw BrokenRoundTrip(description: "well-known binary") }
    }

    var corpus: [[UInt8]] {
        switch self {
        case .condition: Self.conditions.map { Array($0.utf8) }
        case .geoServicesJSON: Self.geometries.map { Array(GeoServicesJSON.json(for: $0).text.utf8) }
        case .geoJSON:
            Self.geometries.map { geometry in
                var bytes: [UInt8] = []
                GeoJSONCodec.append(geometry, to: &bytes)
                return bytes
            }
        case .wellKnownBinary:
            Self.geometries.map { geometry in
                var bytes: [UInt8] = []
                WellKnownBinary.append(geometry, to: &bytes)
                return bytes
            }
        case .geoPackageBinary: Self.geometries.map { GeoPackageBinary.blob(for: $0, srsID: 4_326) }
        case .wellKnownText: Self.geometries.map { Array(WellKnownText.text(of: $0).utf8) }
        case .multipart:
            [
                "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\njson\r\n--x--\r\n",
                "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b.jpg\"\r\nContent-Type: image/jpeg\r\n"
                    + "\r\n\u{1}\u{2}\r\n--x\r\nContent-Disposition: form-data; name=\"g\"\r\n\r\n\r\n--x--",
            ].map { Array($0.utf8) }
        case .protocolBuffer: Self.encodedFeatures
        case .form:
            [
                "f=json&where=1%3D1&outFields=*", "f=json&features=[{\"attributes\":{\"a\":\"1+1 %\"}}]",
                "a=&=b&&c=%C3%A9",
            ]
            .map { Array($0.utf8) }
        }
    }

    var words: [String] {
        switch self {
        case .condition:
            [
                " AND ", " OR ", "NOT ", "(", ")", "'", "\"", " IN (", " BETWEEN ", " LIKE ", " ESCAPE ", " IS NULL",
                "CASE WHEN ", " THEN ", " ELSE ", " END", "CAST(", " AS ", "DATE '", "INTERVAL '", "-", "--", "/*",
                "CURRENT_DATE", "1e999", "9223372036854775808", "EXTRACT(YEAR FROM ", "||", "<>", "\u{0}",
            ]
        case .geoServicesJSON, .geoJSON:
            [
                "[", "]", "{", "}", ",", ":", "null", "\"NaN\"", "1e999", "-0", "\"curveRings\"", "\"c\"", "\"a\"",
                "\"b\"",
                "\"hasZ\":true", "\"coordinates\"", "\"rings\"", "\\u0000", "\\ud800", "\"type\":\"MultiPolygon\"",
            ]
        case .wellKnownText:
            ["(", ")", ",", " EMPTY", " Z", " M", " ZM", "NAN", "INF", "1e999", "MULTI", "POLYGON", "SRID=1;", "CURVE"]
        case .multipart:
            ["\r\n", "--x", "--", "\r\n\r\n", "name=\"", "filename=", "Content-Disposition: form-data; ", ";"]
        case .form: ["&", "=", "%", "%00", "%FF", "+", "f=json&features=", "[", "]"]
        case .wellKnownBinary, .geoPackageBinary: ["GP", "\u{0}", "\u{1}", "\u{7F}"]
        case .protocolBuffer: ["\u{8}", "\u{A}", "\u{12}", "\u{1A}", "\u{7F}"]
        }
    }

    /// Answers with a feature of each kind of geometry.
    private static let encodedFeatures: [[UInt8]] = geometries.compactMap { geometry in
        let type: LayerGeometryType =
            switch geometry {
            case is Point: .point
            case is Multipoint: .multipoint
            case is Polyline: .polyline
            default: .polygon
            }
        let layer = LayerDefinition(
            id: 0, name: "Any", geometryType: type, hasZ: geometry.hasZ, spatialReference: .wgs84,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid), FieldDefinition(name: "Name", type: .string),
                FieldDefinition(name: "Height", type: .double), FieldDefinition(name: "Seen", type: .date),
            ])
        var query = FeatureQuery()
        query.output.returnsZ = geometry.hasZ
        guard var encoder = try? PBFFeatureEncoder(layer: layer, query: query) else { return nil }
        encoder.begin()
        encoder.beginFeature()
        encoder.integer(7, column: 0)
        Array("Oak".utf8).withUnsafeBytes { encoder.text($0, column: 1) }
        encoder.real(12.5, column: 2)
        encoder.null(column: 3)
        try? GeoPackageBinary.blob(for: geometry, srsID: 4_326).withUnsafeBytes { try encoder.geometry($0) }
        encoder.endFeature()
        encoder.end(exceededTransferLimit: true)
        return encoder.bytes
    }

    private static let geometries: [Geometry] = [
        "POINT (1 2)", "POINT ZM (1 2 3 4)", "MULTIPOINT ((1 2), (3 4))", "LINESTRING Z (0 0 1, 5 5 2, 9 1 3)",
        "MULTILINESTRING ((0 0, 1 1), (5 5, 6 7, 8 8))",
        "POLYGON ((0 0, 0 9, 9 9, 9 0, 0 0), (2 2, 4 2, 4 4, 2 4, 2 2))",
        "MULTIPOLYGON (((0 0, 0 1, 1 1, 0 0)), ((5 5, 5 6, 6 6, 5 5)))",
    ].compactMap { try? WellKnownText.geometry(from: $0, spatialReference: .wgs84) }

    private static let conditions = [
        "1=1", "name = 'O''Brien' AND height > 12.5", "NOT (a IN (1, 2, 3) OR b IS NOT NULL)",
        "d BETWEEN DATE '2020-01-01' AND TIMESTAMP '2021-12-31 23:59:59'", "s LIKE '%a\\_b%' ESCAPE '\\'",
        "CASE WHEN a > 1 THEN 'x' ELSE UPPER(b) END <> 'y'", "CAST(a AS INTEGER) + 2 * -b / 3 = MOD(c, 4)",
        "EXTRACT(YEAR FROM d) = 2020 AND d > CURRENT_TIMESTAMP - INTERVAL '7' DAY",
        "\"Quoted\" || 'x' = SUBSTRING(a, 1, 2)",
    ]
}
