import BenchResults
import Foundation

/// Questions that are answered with few rows after a look at many: each beside the same question in plain SQLite.
struct Queries {
    var bench: Bench
    var server: ServerProcess
    var floorPath: String

    private static let layer = "/arcgis/rest/services/Trees/FeatureServer/0/query?f=json&"
    private let clients = 4

    private struct Kind {
        var figure: Figure
        /// The parameters for a box.
        var request: @Sendable (Box) -> String
        /// The same in SQLite. `?1` to `?4` are the box: x from, x to, y from, y to.
        var sql: String
    }

    private static let inBox = """
        FROM trees_rtree r JOIN trees t ON t.fid = r.id
        WHERE r.maxx >= ?1 AND r.minx <= ?2 AND r.maxy >= ?3 AND r.miny <= ?4
        """

    private static func statistics(_ box: Box) -> String {
        let wanted = #"""
            [{"statisticType":"count","onStatisticField":"OBJECTID","outStatisticFieldName":"n"},
             {"statisticType":"avg","onStatisticField":"diameter","outStatisticFieldName":"mean"}]
            """#
        return "outStatistics=\(escaped(wanted))&groupByFieldsForStatistics=condition"
    }

    private static func envelope(_ box: Box) -> String {
        "inSR=3857&geometryType=esriGeometryEnvelope&geometry=\(box.minX),\(box.minY),\(box.maxX),\(box.maxY)"
    }

    /// The square on its corner that fits a box: half of what the R-tree finds has to be looked at more closely.
    private static func diamond(_ box: Box) -> String {
        let (x, y) = ((box.minX + box.maxX) / 2, (box.minY + box.maxY) / 2)
        let ring = [(box.minX, y), (x, box.maxY), (box.maxX, y), (x, box.minY), (box.minX, y)]
        let corners = ring.map { "[\($0.0),\($0.1)]" }.joined(separator: ",")
        return "inSR=3857&geometryType=esriGeometryPolygon&geometry=\(escaped(#"{"rings":[[\#(corners)]]}"#))"
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    private static let kinds = [
        Kind(
            figure: .statisticsOfAll, request: { statistics($0) },
            sql: "SELECT json_group_array(n) FROM (SELECT count(*) AS n, avg(diameter) FROM trees GROUP BY condition)"),
        Kind(
            figure: .statisticsOfExtent, request: { "\(statistics($0))&\(envelope($0))" },
            sql: """
                SELECT json_group_array(n) FROM (SELECT count(*) AS n, avg(t.diameter) \(inBox) GROUP BY t.condition)
                """),
        Kind(
            figure: .distinct,
            request: { _ in "where=1=1&returnDistinctValues=true&returnGeometry=false&outFields=species,condition" },
            sql: "SELECT json_group_array(species) FROM (SELECT DISTINCT species, condition FROM trees)"),
        Kind(
            figure: .counted,
            request: { _ in "where=\(escaped("diameter > 30 AND condition = 'Good'"))&returnCountOnly=true" },
            sql: "SELECT count(*) FROM trees WHERE diameter > 30 AND condition = 'Good'"),
        Kind(
            figure: .contained,
            request: { "\(diamond($0))&spatialRel=esriSpatialRelContains&returnIdsOnly=true" },
            sql: "SELECT json_group_array(t.fid) \(inBox)"),
        Kind(
            figure: .hull,
            request: {
                "outStatistics=\(escaped(#"[{"statisticType":"ConvexHullAggregate","outStatisticFieldName":"h"}]"#))"
                    + "&\(envelope($0))"
            }, sql: "SELECT json_array(min(t.x), min(t.y), max(t.x), max(t.y)) \(inBox)"),
    ]

    func run() throws {
        for kind in Self.kinds {
            var (answered, floor) = (Rounds(), Rounds())
            for round in 0..<bench.rounds {
                floor.add(try floorRound(kind, round).perSecond)
                answered.add(try serverRound(kind, round).perSecond)
            }
            bench.report(kind.figure, answered, floor: floor)
        }
    }

    private func floorRound(_ kind: Kind, _ round: Int) throws -> Measurement {
        let (path, total, sql) = (floorPath, bench.features, kind.sql)
        return try measure(threads: 1, seconds: bench.seconds) { _ in
            (try Floor(path: path), SplitMix64(seed: UInt64(round)))
        } operation: { state in
            let box = Box.random(holding: 1_000, of: total, using: &state.1)
            guard try state.0.answer(to: sql, in: box) > 0 else { throw FloorError(message: "nothing was found") }
        }
    }

    private func serverRound(_ kind: Kind, _ round: Int) throws -> Measurement {
        let (port, total, request) = (server.port, bench.features, kind.request)
        return try measure(threads: clients, seconds: bench.seconds) { index in
            (try Connection(port: port), SplitMix64(seed: UInt64(round * 100 + index)))
        } operation: { state in
            let box = Box.random(holding: 1_000, of: total, using: &state.1)
            let body = try state.0.get(Self.layer + request(box))
            guard body.count > 10, !body.starts(with: Array(#"{"error"#.utf8)) else {
                throw ConnectionError(message: String(decoding: body, as: UTF8.self))
            }
        }
    }
}
