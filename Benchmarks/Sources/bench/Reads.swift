import BenchResults
import Foundation

/// What a reader of a service sees: extents, single features, counts, the whole table.
struct Reads {
    var bench: Bench
    var server: ServerProcess
    var floorPath: String

    /// Whether there is a service whose rows lie in the order in which they came.
    var hasKeptOrder: Bool
    /// Other programs, which are asked for the same boxes along the curve.
    var peers: Peers

    private static let layer = "/arcgis/rest/services/Trees/FeatureServer/0/query"
    private static let keptLayer = "/arcgis/rest/services/TreesKept/FeatureServer/0/query"
    static let clients = 4

    private func extentTarget(_ order: RowOrder) -> @Sendable (Box, String) -> String {
        let fields = TreeData.fieldNames.joined(separator: ",")
        let layer = order == .curve ? Self.layer : Self.keptLayer
        return { box, format in
            "\(layer)?f=\(format)&outFields=\(fields)&geometryType=esriGeometryEnvelope&inSR=3857"
                + "&geometry=\(box.minX),\(box.minY),\(box.maxX),\(box.maxY)"
        }
    }

    func run() throws {
        let orders = hasKeptOrder ? RowOrder.allCases : [.curve]
        var extents = orders.map { (order: $0, rounds: ExtentRounds()) }
        var (single, singleFloor) = (Rounds(), Rounds())
        var (count, countFloor) = (Rounds(), Rounds())
        let geoJSON = extentTarget(.curve)
        try peers.keepEqual(to: server, total: bench.features) { geoJSON($0, "geojson") }
        for round in 0..<bench.rounds {
            for index in extents.indices {
                let order = extents[index].order
                extents[index].rounds.floor.add(try floorExtents(round, order).perSecond)
                let answer = try self.extents("json", round, order)
                extents[index].rounds.json.add(answer.perSecond)
                extents[index].rounds.latency.add(answer.percentile(0.99))
                extents[index].rounds.pbf.add(try self.extents("pbf", round, order).perSecond)
                if order == .curve { try askPeers(round, &extents[index].rounds) }
            }
            singleFloor.add(try floorAnswers(round, Self.singleSQL))
            single.add(try requests { "\(Self.layer)?f=json&outFields=*&objectIds=\($0)" }.perSecond)
            countFloor.add(try floorAnswers(round, "SELECT count(*) FROM trees_along_curve"))
            count.add(try requests { _ in "\(Self.layer)?f=json&where=1=1&returnCountOnly=true" }.perSecond)
        }
        for (order, rounds) in extents { rounds.report(order, bench) }
        peers.report(to: bench.recorder)
        if !hasKeptOrder { print("rows in random order: not measured, GDAL's ogr2ogr is not installed") }
        bench.report(.single, single, floor: singleFloor)
        bench.report(.count, count, floor: countFloor)
        try paging()
    }

    private func floorExtents(_ round: Int, _ order: RowOrder) throws -> Measurement {
        let (path, total) = (floorPath, bench.features)
        return try measure(threads: 1, seconds: bench.seconds) { _ in
            (try Floor(path: path), SplitMix64(seed: UInt64(round)))
        } operation: { state in
            let box = Box.random(holding: 1_000, of: total, using: &state.1)
            guard try state.0.extent(box, order) > 50_000 else {
                throw FloorError(message: "an extent was nearly empty")
            }
        }
    }

    /// The server's GeoJSON and that of each peer, in turn.
    private func askPeers(_ round: Int, _ rounds: inout ExtentRounds) throws {
        rounds.geoJSON.add(try extents("geojson", round, .curve).perSecond)
        for peer in peers.running {
            do {
                let answers = try extents(port: peer.port, round) { peer.target($0) }
                rounds.peers[peer.name, default: Rounds()].add(answers.perSecond)
            } catch {
                // What others' programs do must not cost the run its other figures.
                peers.leaveOut(peer, because: "\(error)")
                rounds.peers[peer.name] = nil
            }
        }
    }

    private func extents(_ format: String, _ round: Int, _ order: RowOrder) throws -> Measurement {
        let target = extentTarget(order)
        return try extents(port: server.port, round) { target($0, format) }
    }

    private func extents(port: UInt16, _ round: Int, target: @escaping @Sendable (Box) -> String) throws -> Measurement
    {
        let total = bench.features
        return try measure(threads: Self.clients, seconds: bench.seconds) { index in
            (try Connection(port: port), SplitMix64(seed: UInt64(round * 100 + index)))
        } operation: { state in
            let box = Box.random(holding: 1_000, of: total, using: &state.1)
            let body = try state.0.get(target(box))
            guard body.count > 20_000 else { throw ConnectionError(message: String(decoding: body, as: UTF8.self)) }
        }
    }

    private static let singleSQL = """
        SELECT json_object('fid', fid, 'species', species, 'name', name, 'condition', condition, 'diameter', diameter,
          'height', height, 'address', address, 'planted_year', planted_year, 'inspections', inspections, 'x', x, 'y', y)
        FROM trees_along_curve WHERE fid = ?1
        """

    /// Answers a second of SQLite alone; `?1` is an id, where the question has one.
    private func floorAnswers(_ round: Int, _ sql: String) throws -> Double {
        let (path, total) = (floorPath, bench.features)
        return try measure(threads: 1, seconds: bench.seconds) { _ in
            (try Floor(path: path), SplitMix64(seed: UInt64(round)))
        } operation: { state in
            let id = Double(Int.random(in: 1...total, using: &state.1))
            let place = Box(minX: id, minY: 0, maxX: id, maxY: 0)
            guard try state.0.answer(to: sql, in: place) > 0 else { throw FloorError(message: "nothing was found") }
        }.perSecond
    }

    private func requests(_ target: @escaping @Sendable (Int) -> String) throws -> Measurement {
        let (port, total) = (server.port, bench.features)
        return try measure(threads: Self.clients, seconds: bench.seconds) { index in
            (try Connection(port: port), SplitMix64(seed: UInt64(7_000 + index)))
        } operation: { state in
            let body = try state.0.get(target(Int.random(in: 1...total, using: &state.1)))
            guard body.count > 10, !body.starts(with: Array(#"{"error"#.utf8)) else {
                throw ConnectionError(message: String(decoding: body, as: UTF8.self))
            }
        }
    }

    /// The whole table by key, two thousand at a time, with the time of the first and the last pages.
    private func paging() throws {
        let connection = try Connection(port: server.port)
        let page = 2_000
        var (last, features) = (0, 0)
        var times: [Double] = []
        let started = ContinuousClock.now
        while true {
            let before = ContinuousClock.now
            let body = try connection.get(
                "\(Self.layer)?f=json&outFields=*&orderByFields=OBJECTID&resultRecordCount=\(page)&where=OBJECTID%3E\(last)"
            )
            times.append(before.duration(to: .now) / .milliseconds(1))
            let ids = objectIDs(body)
            guard let highest = ids.max() else { break }
            features += ids.count
            last = highest
            if ids.count < page { break }
        }
        let seconds = started.duration(to: .now) / .seconds(1)
        guard features == bench.features else {
            throw ConnectionError(message: "paging found \(features) features, not \(bench.features)")
        }
        let tenth = max(1, times.count / 10)
        let first = times.prefix(tenth).reduce(0, +) / Double(tenth)
        let final = times.suffix(tenth).reduce(0, +) / Double(tenth)
        bench.report(.wholeTable, Rounds([Double(features) / seconds]))
        print(String(format: "    the last pages take %.2f times the first", final / first))
    }

    /// The object ids of an answer, found by their place behind each feature's first brace.
    private func objectIDs(_ body: [UInt8]) -> [Int] {
        let marker = Array(#"{"attributes":{"OBJECTID":"#.utf8)
        var ids: [Int] = []
        var position = 0
        while position + marker.count < body.count {
            guard body[position] == marker[0], body[position..<position + marker.count].elementsEqual(marker) else {
                position += 1
                continue
            }
            position += marker.count
            var id = 0
            while position < body.count, body[position] >= 0x30, body[position] <= 0x39 {
                id = id * 10 + Int(body[position] - 0x30)
                position += 1
            }
            ids.append(id)
        }
        return ids
    }
}

/// Extents of a service beside those of SQLite on rows in the same order.
private struct ExtentRounds {
    var floor = Rounds()
    var json = Rounds()
    var latency = Rounds()
    var pbf = Rounds()
    var geoJSON = Rounds()
    var peers: [String: Rounds] = [:]

    func report(_ order: RowOrder, _ bench: Bench) {
        print("extents; floor: SQLite, one thread, file mapped")
        guard order == .curve else {
            bench.report(.extentsRandomJSON, json, floor: floor)
            bench.report(.extentsRandomP99, latency)
            bench.report(.extentsRandomPBF, pbf, floor: floor)
            print("    \(pbf.times(json)) the JSON")
            return
        }
        bench.report(.extentsCurveJSON, json, floor: floor)
        bench.report(.extentsCurveP99, latency)
        bench.report(.extentsCurvePBF, pbf, floor: floor)
        print("    \(pbf.times(json)) the JSON")
        bench.report(.extentsCurveGeoJSON, geoJSON, floor: floor, peers: peers)
        for (figure, name) in [(Figure.extentsMapServer, "mapserver"), (.extentsTipg, "tipg")] {
            if let rounds = peers[name] { bench.report(figure, rounds) }
        }
    }
}
