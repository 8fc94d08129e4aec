import Foundation

/// What a reader of a service sees: extents, single features, counts, the whole table.
struct Reads {
    var bench: Bench
    var server: ServerProcess
    var floorPath: String

    private static let layer = "/arcgis/rest/services/Trees/FeatureServer/0/query"
    private let clients = 4

    private var extentTarget: @Sendable (Box, String) -> String {
        let fields = TreeData.fieldNames.joined(separator: ",")
        return { box, format in
            "\(Self.layer)?f=\(format)&outFields=\(fields)&geometryType=esriGeometryEnvelope&inSR=3857"
                + "&geometry=\(box.minX),\(box.minY),\(box.maxX),\(box.maxY)"
        }
    }

    func run() throws {
        var floor = Rounds()
        var json = Rounds()
        var jsonLatency = Rounds()
        var pbf = Rounds()
        var single = Rounds()
        var count = Rounds()
        for round in 0..<bench.rounds {
            floor.add(try floorExtents(round).perSecond)
            let answer = try extents("json", round)
            json.add(answer.perSecond)
            jsonLatency.add(answer.percentile(0.99))
            pbf.add(try extents("pbf", round).perSecond)
            single.add(try requests { "\(Self.layer)?f=json&outFields=*&objectIds=\($0)" }.perSecond)
            count.add(try requests { _ in "\(Self.layer)?f=json&where=1=1&returnCountOnly=true" }.perSecond)
        }
        print("extents of about 1,000 features, a second:")
        print("  floor (SQLite, one thread, rows in random order): \(floor.text)")
        print(
            "  json: \(json.text), \(ratio(json, floor)) the floor; p99 \(String(format: "%.1f", jsonLatency.median)) ms"
        )
        print("  pbf:  \(pbf.text), \(ratio(pbf, json)) the json")
        print("single feature by id, a second: \(single.text)")
        print("count of all, a second: \(count.text)")
        try paging()
    }

    private func ratio(_ one: Rounds, _ other: Rounds) -> String {
        String(format: "%.2f times", one.median / other.median)
    }

    private func floorExtents(_ round: Int) throws -> Measurement {
        let (path, total) = (floorPath, bench.features)
        return try measure(threads: 1, seconds: bench.seconds) { _ in
            (try Floor(path: path), SplitMix64(seed: UInt64(round)))
        } operation: { state in
            let box = Box.random(holding: 1_000, of: total, using: &state.1)
            guard try state.0.extent(box) > 50_000 else { throw FloorError(message: "an extent was nearly empty") }
        }
    }

    private func extents(_ format: String, _ round: Int) throws -> Measurement {
        let (port, total, target) = (server.port, bench.features, extentTarget)
        return try measure(threads: clients, seconds: bench.seconds) { index in
            (try Connection(port: port), SplitMix64(seed: UInt64(round * 100 + index)))
        } operation: { state in
            let box = Box.random(holding: 1_000, of: total, using: &state.1)
            let body = try state.0.get(target(box, format))
            guard body.count > 20_000 else { throw ConnectionError(message: String(decoding: body, as: UTF8.self)) }
        }
    }

    private func requests(_ target: @escaping @Sendable (Int) -> String) throws -> Measurement {
        let (port, total) = (server.port, bench.features)
        return try measure(threads: clients, seconds: bench.seconds) { index in
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
        print(
            String(
                format: "whole table by key, one client: %.0f features a second; last pages take %.2f times the first",
                Double(features) / seconds, final / first))
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
