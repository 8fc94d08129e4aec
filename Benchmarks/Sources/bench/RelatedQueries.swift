import BenchResults
import Foundation

/// The related records of 100 features, beside the same join in plain SQLite.
struct RelatedQueries {
    private static let sources = 100
    private static let clients = 4
    private static let sql = """
        SELECT json_group_array(json_object('fid', i.fid, 'tree', i.tree, 'year', i.year, 'condition', i.condition))
        FROM trees t JOIN inspections i ON i.tree = t.number WHERE t.fid BETWEEN ?1 AND ?2
        """

    var bench: Bench
    var port: UInt16
    /// The tables that were published, in a file of their own.
    var floorPath: String
    var count: Int

    func run() throws {
        try Floor(path: floorPath).execute("CREATE INDEX by_tree ON inspections (tree)")
        var (answered, floor) = (Rounds(), Rounds())
        for round in 0..<bench.rounds {
            floor.add(try floorRound(round).perSecond)
            answered.add(try serverRound(round).perSecond)
        }
        bench.report(.relatedQuery, answered, floor: floor, rows: count)
    }

    /// The first of the features of one question.
    private func first(_ generator: inout SplitMix64) -> Int {
        Int.random(in: 1...(count - Self.sources), using: &generator)
    }

    private func floorRound(_ round: Int) throws -> Measurement {
        let path = floorPath
        return try measure(threads: 1, seconds: bench.seconds) { _ in
            (try Floor(path: path), SplitMix64(seed: UInt64(round)))
        } operation: { state in
            let first = Double(first(&state.1))
            let ids = Box(minX: first, minY: 0, maxX: first + Double(Self.sources - 1), maxY: 0)
            guard try state.0.answer(to: Self.sql, in: ids) > 2 else { throw FloorError(message: "nothing was found") }
        }
    }

    private func serverRound(_ round: Int) throws -> Measurement {
        let port = port
        return try measure(threads: Self.clients, seconds: bench.seconds) { index in
            (try Connection(port: port), SplitMix64(seed: UInt64(round * 100 + index)))
        } operation: { state in
            let first = first(&state.1)
            let ids = (first..<(first + Self.sources)).map(String.init).joined(separator: ",")
            let body = try state.0.get(
                "/arcgis/rest/services/Trees/FeatureServer/0/queryRelatedRecords?f=json&relationshipId=0&outFields=*"
                    + "&objectIds=\(ids)")
            guard body.count > 1_000, !body.starts(with: Array(#"{"error"#.utf8)) else {
                throw ConnectionError(message: String(decoding: body.prefix(1_000), as: UTF8.self))
            }
        }
    }
}
