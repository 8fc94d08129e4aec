import Foundation
import TestSupport

/// Values of parameters: half of them sound, the others as no client would send them.
struct AttackValues {
    var random: SeededGenerator

    mutating func value(of name: String) -> [UInt8] {
        if name == "all" { return Array("1=1".utf8) }
        if random.chance(12) { return odd() }
        switch name {
        case "where", "having", "sql", "definitionExpression", "attachmentsDefinitionExpression":
            return bytes(condition())
        case "geometry", "mapExtent", "bbox": return bytes(geometry())
        case "orderByFields", "groupByFieldsForStatistics", "outFields", "searchFields": return bytes(fields())
        case "objectIds", "attachmentIds", "layers", "size", "imageDisplay", "parts": return bytes(list())
        case "outStatistics": return bytes(statistics())
        case "features", "adds", "updates", "edits", "attachments", "deletes", "calcExpression":
            return bytes(edits(name))
        case "geometryType":
            return bytes(
                "esriGeometry" + random.pick(["Point", "Multipoint", "Polyline", "Polygon", "Envelope", "Bag", ""]))
        case "spatialRel":
            return bytes(
                "esriSpatialRel"
                    + random.pick([
                        "Intersects", "Contains", "Crosses", "EnvelopeIntersects", "IndexIntersects", "Overlaps",
                        "Touches",
                        "Within", "Relation", "Disjoint", "",
                    ]))
        case "relationParam":
            return bytes(random.pick(["T********", "FFFTTT***", "*********", "RELATE(G1,G2,\"T\")", "T"]))
        case "units":
            return bytes(random.pick(["esriSRUnit_Meter", "esriSRUnit_Foot", "esriSRUnit_StatuteMile", "9001", "x"]))
        case "inSR", "outSR", "defaultSR", "sr", "replicaSR", "bboxSR", "imageSR", "crs": return bytes(reference())
        case "topFilter", "quantizationParameters", "layerDefs", "layerQueries", "datumTransformation", "syncLayers",
            "layerServerGens", "serverGens", "replicaOptions", "dynamicLayers":
            return json(depth: 0)
        case "globalIds", "replicaID", "uploadId", "editSender", "requestId", "editsUploadId":
            return bytes(
                random.pick([
                    "{00000000-0000-0000-0000-000000000001}", "0000", "", "{12345678-1234-4321-8765-1234567890ab}",
                ]))
        case "time":
            return bytes(random.pick(["0,1", "null,null", "1e99", "-9223372036854775808,9223372036854775807", "x,y"]))
        default: return bytes(random.pick(Self.words + Self.numbers))
        }
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// What stands in an address or a form; the bytes of no text are sent as they are.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 2)
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2C, 0x2D, 0x2E, 0x5F: result.append(byte)
            default:
                result.append(0x25)
                result.append(digits[Int(byte >> 4)])
                result.append(digits[Int(byte & 15)])
            }
        }
        return result
    }

    /// A form as it goes over the line.
    static func form(_ parameters: [(String, [UInt8])]) -> [UInt8] {
        var result: [UInt8] = []
        for (name, value) in parameters {
            if !result.isEmpty { result.append(0x26) }
            result += Array(name.utf8)
            result.append(0x3D)
            result += encoded(value)
        }
        return result
    }

    // MARK: Kinds

    static let numbers = [
        "0", "-0", "1", "-1", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "1e308", "1e309", "-1e400", "1e-400", "0.1", "NaN", "Infinity", "-Infinity", "0x10",
        "1_000",
        "00000000000000000000000000000001", "1.7976931348623157e308", "5e-324", "١٢٣", "1,5", " 7 ", "+3", "",
    ]

    private static let words = [
        "true", "false", "TRUE", "1", "0", "null", "", "*", "none", "standard", "tile", "json", "esriTransportTypeUrl",
        "bidirectional", "snapshot", "perLayer", "perReplica", "open", "name", "'", "\"", "\\", "%", "<script>", "--",
        ";",
    ]

    /// What is a value of nothing.
    private mutating func odd() -> [UInt8] {
        switch random.number(0..<7) {
        case 0: return [0xFF, 0xFE, 0x00, 0xC0, 0xAF, 0xED, 0xA0, 0x80]
        case 1: return Array(repeating: random.pick([0x28, 0x5B, 0x7B, 0x2C, 0x27]), count: random.number(1..<20_000))
        case 2: return json(depth: 0)
        case 3: return bytes(random.pick(Self.numbers))
        case 4: return bytes(String(repeating: "é", count: random.number(1..<3_000)))
        case 5: return Array(repeating: 0x39, count: random.number(1..<5_000))
        default: return []
        }
    }

    private static let names = ["OBJECTID", "name", "counter", "Address", "size", "GlobalID", "Shape", "nothing"]

    private mutating func condition() -> String {
        switch random.number(0..<8) {
        case 0: return "\(random.pick(Self.names)) \(random.pick(["=", "<>", "<", ">=", "LIKE", "IN"])) \(literal())"
        case 1: return repeated("\(random.pick(Self.names)) = \(literal())", random.pick([" OR ", " AND "]))
        case 2: return repeated("UPPER(\(random.pick(Self.names))) = 'I'", " OR ")
        case 3: return "name = \(repeated("'a'", " || "))"
        case 4: return String(repeating: "(", count: random.number(1..<400)) + "1=1"
        case 5: return String(repeating: "NOT ", count: random.number(1..<400)) + "1=1"
        case 6: return "counter IN (\(repeated(random.pick(Self.numbers.filter { !$0.isEmpty }), ",")))"
        default:
            return
                "\(random.pick(["POWER", "EXP", "LOG", "SQRT", "ROUND", "MOD", "SUBSTRING", "CAST"]))(\(literal()), \(literal())) > 0"
        }
    }

    private mutating func literal() -> String {
        random.pick(
            Self.numbers.filter { !$0.isEmpty } + ["'a'", "'%_%'", "NULL", "DATE '9999-12-31'", "CURRENT_TIMESTAMP"])
    }

    private mutating func repeated(_ text: String, _ separator: String) -> String {
        Array(repeating: text, count: random.pick([1, 3, 30, 300])).joined(separator: separator)
    }

    private mutating func fields() -> String {
        let list = (0..<random.pick([1, 2, 3, 40])).map { _ in
            random.pick(Self.names) + random.pick(["", "", " DESC", " ASC"])
        }
        return list.joined(separator: random.pick([",", ", ", ",,"]))
    }

    private mutating func list() -> String {
        (0..<random.pick([1, 2, 3, 2_000])).map { _ in random.pick(Self.numbers) }.joined(separator: ",")
    }

    private mutating func reference() -> String {
        random.pick([
            "4326", "3857", "102100", "2913", "0", "-1", "99999999", #"{"wkid":4326}"#, #"{"wkid":1e99}"#,
            #"{"wkt":"PROJCS["}"#,
            #"{"wkid":32610,"latestWkid":"x"}"#, "",
        ])
    }

    private mutating func coordinate() -> String {
        random.pick([
            "0", "1", "2.5", "-180", "90", "1e7", "1e308", "-1e308", "1e-300", "\"NaN\"", "null", "\"x\"", "12345.678",
        ])
    }

    private mutating func positions(_ count: Int) -> String {
        let isWild = random.chance(30)
        let list = (0..<count).map { number -> String in
            isWild
                ? "[\(coordinate()),\(coordinate())]" : "[\(Double(number % 97) / 7),\(Double(number * 31 % 89) / 7)]"
        }
        return list.joined(separator: ",")
    }

    private mutating func geometry() -> String {
        let count = random.pick([0, 1, 2, 4, 5, 50, 700])
        switch random.number(0..<7) {
        case 0: return "\(coordinate()),\(coordinate())"
        case 1: return #"{"x":\#(coordinate()),"y":\#(coordinate()),"z":\#(coordinate())}"#
        case 2: return #"{"points":[\#(positions(count))]}"#
        case 3:
            return
                #"{"paths":[[\#(positions(count))]],"spatialReference":\#(random.pick(["4326", "{\"wkid\":3857}"]))}"#
        case 4: return #"{"rings":[[\#(positions(count))]]}"#
        case 5:
            return #"{"xmin":\#(coordinate()),"ymin":\#(coordinate()),"xmax":\#(coordinate()),"ymax":\#(coordinate())}"#
        default: return #"{"curveRings":[[[0,0],{"c":[[\#(coordinate()),3],[1,4]]},{"a":[[0,0],[0,2],0,1]}]]}"#
        }
    }

    private mutating func statistics() -> String {
        let list = (0..<random.pick([1, 2, 20])).map { number in
            let type = random.pick([
                "count", "sum", "min", "max", "avg", "stddev", "var", "percentile_cont", "EnvelopeAggregate",
                "ConvexHullAggregate", "x",
            ])
            return #"{"statisticType":"\#(type)","onStatisticField":"\#(random.pick(Self.names))","#
                + #""outStatisticFieldName":"s\#(number)","statisticParameters":{"value":\#(coordinate())}}"#
        }
        return "[\(list.joined(separator: ","))]"
    }

    private mutating func edits(_ name: String) -> String {
        let features = (0..<random.pick([0, 1, 2, 40])).map { _ in
            #"{"attributes":{"OBJECTID":\#(coordinate()),"name":"a","\#(random.pick(Self.names))":\#(coordinate())},"#
                + #""geometry":\#(geometry().hasPrefix("{") ? geometry() : "null")}"#
        }
        let list = "[\(features.joined(separator: ","))]"
        switch name {
        case "deletes": return "[\(coordinate()),\(coordinate())]"
        case "edits": return #"[{"id":\#(random.pick(["0", "1", "-1", "\"x\""])),"adds":\#(list),"deletes":[]}]"#
        case "attachments": return #"{"adds":[{"data":"\#(random.pick(["", "AAAA", "===="]))","name":"a.jpg"}]}"#
        case "calcExpression":
            return #"[{"field":"counter","sqlExpression":"\#(random.pick(["counter+1", "1/0", "(((("]))"}]"#
        default: return list
        }
    }

    /// Deep, wide, or broken.
    mutating func json(depth: Int) -> [UInt8] {
        switch random.number(0..<6) {
        case 0:
            let count = random.pick([1, 30, 600, 5_000])
            return Array(repeating: 0x5B, count: count)
                + (random.chance(50) ? Array(repeating: 0x5D, count: count) : [])
        case 1: return bytes("[\(repeated(random.pick(["0", "{}", "\"\"", "null", "[]"]), ","))]")
        case 2: return bytes("{\(repeated(#""a":1"#, ","))}")
        case 3: return bytes(#"{"groupByFields":"counter","topCount":\#(coordinate()),"orderByFields":"\#(fields())"}"#)
        case 4:
            return bytes(
                #"{"0":"\#(condition().filter { $0 != "\"" })","1":{"where":"1=1","queryOption":"useFilter"}}"#)
        default:
            return bytes(
                random.pick(["{", "[1,", "\"", "nul", "{\"a\":}", "\u{FEFF}{}", "{\"\\ud800\":1}", "[1e999]"]))
        }
    }
}
