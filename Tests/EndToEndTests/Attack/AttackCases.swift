import Foundation
import TestSupport

/// A request that once took a server's time or memory.
struct AttackCase: Sendable {
    var name: String
    /// Below the root of the services.
    var path: String
    var headers = ""
    /// A form. It is made when it is sent: some are large.
    var body: @Sendable () throws -> [UInt8]

    static let all: [AttackCase] = [
        multipoint(100_000), multipoint(20_000), relation, percentiles, upperCase, conditions, star, texts, objectIDs,
        names,
        bomb, widenedPath, search, changes, replica,
    ]

    private static let areas = "Areas/FeatureServer/0/query"
    private static let crews = "Crews/FeatureServer/0/query"

    private static func form(_ parameters: [String: String]) -> [UInt8] {
        let all = parameters.merging(["f": "json"]) { $1 }.sorted { $0.key < $1.key }
        return AttackValues.form(all.map { ($0.key, Array($0.value.utf8)) })
    }

    private static func positions(_ count: Int, _ place: (Double) -> (x: Double, y: Double)) -> String {
        var list: [String] = []
        for number in 0..<count {
            let position = place(Double(number))
            list.append("[\(position.x),\(position.y)]")
        }
        return list.joined(separator: ",")
    }

    private static func multipoint(_ count: Int) -> AttackCase {
        AttackCase(name: "a widened multipoint of \(count) points", path: areas) {
            let points = positions(count) { number in
                (x: number.truncatingRemainder(dividingBy: 400) * 900, y: number * 4)
            }
            return form([
                "where": "1=1", "geometryType": "esriGeometryMultipoint", "inSR": "3857", "distance": "1000",
                "units": "esriSRUnit_Meter", "geometry": "{\"points\":[\(points)]}",
            ])
        }
    }

    private static let relation = AttackCase(name: "a relation with a self-crossing path of 1,000 points", path: areas)
    {
        let path = positions(1_000) { number in (x: 6 * abs(sin(number * 7.31)), y: 6 * abs(sin(number * 3.77 + 1))) }
        return form([
            "where": "1=1", "geometryType": "esriGeometryPolyline", "inSR": "4326", "relationParam": "T********",
            "spatialRel": "esriSpatialRelRelation", "geometry": "{\"paths\":[[\(path)]]}",
        ])
    }

    private static let percentiles = AttackCase(name: "100 percentiles", path: crews) {
        var list: [String] = []
        for number in 0..<100 {
            let name = "\"outStatisticFieldName\":\"p\(number)\""
            let value = "\"statisticParameters\":{\"value\":0.\(number)}"
            list.append("{\"statisticType\":\"percentile_cont\",\"onStatisticField\":\"counter\",\(name),\(value)}")
        }
        return form(["where": "1=1", "outStatistics": "[\(list.joined(separator: ","))]"])
    }

    private static func repeating(_ text: String, _ count: Int, _ separator: String) -> String {
        Array(repeating: text, count: count).joined(separator: separator)
    }

    private static let upperCase = AttackCase(name: "1,000 comparisons of upper case", path: areas) {
        form(["where": repeating("UPPER(Address)='i'", 1_000, " OR ")])
    }

    private static let conditions = AttackCase(name: "6,000 conditions that hold", path: areas) {
        form(["where": repeating("1=1", 6_000, " AND ")])
    }

    private static let star = AttackCase(name: "a star of 100,000 corners", path: areas) {
        let corners = positions(100_000) { number in
            let radius = number.truncatingRemainder(dividingBy: 2) == 0 ? 5.0 : 1.0
            let angle = number * 2 * Double.pi / 100_000
            return (x: 3 + radius * cos(angle), y: 3 + radius * sin(angle))
        }
        return form([
            "where": "1=1", "geometryType": "esriGeometryPolygon", "inSR": "4326",
            "geometry": "{\"rings\":[[\(corners)]]}",
        ])
    }

    private static let widenedPath = AttackCase(name: "a self-crossing path of 200 points that is widened", path: areas)
    {
        let path = positions(200) { number in (x: 6 * abs(sin(number * 7.31)), y: 6 * abs(sin(number * 3.77 + 1))) }
        return form([
            "where": "1=1", "geometryType": "esriGeometryPolyline", "inSR": "4326", "distance": "0.01",
            "geometry": "{\"paths\":[[\(path)]]}",
        ])
    }

    private static let search = AttackCase(name: "stored texts that are looked for in each other", path: crews) {
        form(["where": repeating("name LIKE '%' || name || '%x'", 300, " OR ")])
    }

    private static let slowLayer =
        "{\"0\":{\"queryOption\":\"useFilter\",\"where\":\"\(repeating("UPPER(name)='i'", 1_000, " OR "))\"}}"

    private static let changes = AttackCase(
        name: "changes of features that meet 1,000 conditions", path: "Crews/FeatureServer/extractChanges"
    ) {
        form([
            "layers": "[0]", "serverGens": "[0]", "layerQueries": slowLayer, "returnInserts": "true",
            "returnUpdates": "true", "returnDeletes": "true", "dataFormat": "json",
        ])
    }

    private static let replica = AttackCase(
        name: "a replica of features that meet 1,000 conditions", path: "Crews/FeatureServer/createReplica"
    ) {
        form([
            "layers": "0", "layerQueries": slowLayer, "syncModel": "none", "dataFormat": "json",
            "transportType": "esriTransportTypeEmbedded", "replicaName": "r",
        ])
    }

    private static let texts = AttackCase(name: "150 texts put together", path: crews) {
        form(["where": "name = \(repeating("'a'", 150, " || "))"])
    }

    private static let objectIDs = AttackCase(name: "one object id a million times", path: crews) {
        form(["objectIds": repeating("1", 1_000_000, ",")])
    }

    private static let names = AttackCase(name: "parameters without a value, a million times", path: crews) {
        Array(repeating: Array("a&".utf8), count: 1_000_000).flatMap(\.self)
    }

    private static let bomb = AttackCase(
        name: "a small body that becomes large", path: "Crews/FeatureServer/0/applyEdits",
        headers: "Content-Encoding: gzip\r\n"
    ) {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-bomb-\(UUID().uuidString).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        let text = "printf 'f=json&adds=['; yes '{\"\":0},' | head -n 12000000 | tr -d '\\n'; printf '{}]'"
        try ChildProcess("/bin/bash", ["-c", "(\(text)) | gzip -9 > '\(file.path)'"]).wait()
        return [UInt8](try Data(contentsOf: file))
    }
}
