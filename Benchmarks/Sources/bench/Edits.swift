import BenchResults
import Foundation

/// What an editor sees: adds by the thousand and one at a time, each durable when it is acknowledged.
struct Edits {
    var bench: Bench
    var server: ServerProcess
    var floorPath: String

    private static let target = "/arcgis/rest/services/Trees/FeatureServer/0/applyEdits"

    func run() throws {
        let floor = try Floor(path: floorPath)
        var (floorRate, rate) = (Rounds(), Rounds())
        var (singleFloor, single) = (Rounds(), Rounds())
        var data = TreeData()
        for _ in 0..<bench.rounds {
            let batch = (0..<1_000).map { _ in data.next() }
            floorRate.add(try floorAdds(of: batch, to: floor))
            rate.add(try adds(of: batch, clients: 2).perSecond * 1_000)
            singleFloor.add(try floorAdds(of: Array(batch.prefix(1)), to: floor))
            single.add(try adds(of: Array(batch.prefix(1)), clients: 16).perSecond)
        }
        print("adds, synchronous=FULL; floor: SQLite's C interface, as many a transaction, no log, same table")
        bench.report(.addsInBatches, rate, floor: floorRate)
        bench.report(.addsOneAtATime, single, floor: singleFloor)
    }

    /// Features a second through SQLite's C interface.
    private func floorAdds(of trees: [Tree], to floor: Floor) throws -> Double {
        let started = ContinuousClock.now
        var added = 0
        while started.duration(to: .now) < .seconds(bench.seconds) {
            try floor.add(trees)
            added += trees.count
        }
        return Double(added) / (started.duration(to: .now) / .seconds(1))
    }

    private func adds(of trees: [Tree], clients: Int) throws -> Measurement {
        let features = trees.map { tree in
            """
            {"attributes":{"species":"\(tree.species)","name":"\(tree.name)","condition":"\(tree.condition)",\
            "diameter":\(tree.diameter),"height":\(tree.height),"address":"\(tree.address)",\
            "planted_year":\(tree.plantedYear),"inspections":\(tree.inspections)},"geometry":{"x":\(tree.x),"y":\(tree.y)}}
            """
        }
        let json = "[" + features.joined(separator: ",") + "]"
        let allowed = CharacterSet.alphanumerics
        let form = Array("f=json&adds=\(json.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")".utf8)
        let port = server.port
        return try measure(threads: clients, seconds: bench.seconds) { _ in
            try Connection(port: port)
        } operation: { connection in
            let body = String(decoding: try connection.post(Self.target, form: form), as: UTF8.self)
            guard body.contains(#""success":true"#), !body.contains(#""success":false"#) else {
                throw ConnectionError(message: body)
            }
        }
    }
}
