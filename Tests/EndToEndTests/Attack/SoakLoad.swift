import Foundation
import Synchronization
import TestSupport

/// What clients of a service do all day: queries in each format, statistics, edits, photos, new connections, answers that are
/// left half read. Turn n of a seed is always the same.
struct SoakLoad: Sendable {
    private static let workers = 8
    private static let layer = "Crews/FeatureServer/0"

    let port: Int
    let seed: UInt64
    private let failed = FailedTurns()

    init(port: Int, seed: UInt64 = AttackForm.seed) {
        self.port = port
        self.seed = seed
    }

    /// What went wrong, in words.
    var failures: [String] { failed.all }

    /// Runs turns on several connections at a time.
    func run(_ turns: Range<Int>) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    await AttackTarget.onThread { self.work(turns.filter { $0 % Self.workers == worker }) }
                }
            }
        }
    }

    private func work(_ turns: [Int]) {
        var line = AttackLine(port: port)
        for turn in turns {
            var numbers = SeededGenerator(seed: seed, request: turn)
            do {
                try take(turn, &numbers, &line)
            } catch {
                failed.add("FIELDWORK_ATTACK_SEED=\(seed) turn \(turn): \(error)")
            }
        }
    }

    private func take(_ turn: Int, _ numbers: inout SeededGenerator, _ line: inout AttackLine) throws {
        switch turn / Self.workers % 6 {
        case 0: try query(&numbers, &line)
        case 1: try statistics(&numbers, &line)
        case 2: try edit(turn, &numbers, &line)
        case 3: try photo(turn, &numbers, &line)
        case 4:
            // Each comes on a connection of its own.
            line = AttackLine(port: port)
            try query(&numbers, &line)
        default: try leave()
        }
    }

    // MARK: Turns

    private func query(_ numbers: inout SeededGenerator, _ line: inout AttackLine) throws {
        let condition = numbers.pick([
            "1=1", "counter > \(numbers.number(0..<7))", "name LIKE 'name \(numbers.number(0..<400))%'",
        ])
        var form = [
            "f": numbers.pick(["json", "geojson", "pbf", "pjson"]), "where": condition, "outFields": "*",
            "resultRecordCount": numbers.pick(["1", "50", "2000"]),
        ]
        if numbers.chance(50) {
            form["geometryType"] = "esriGeometryEnvelope"
            form["geometry"] = "\(numbers.number(0..<10)),\(numbers.number(0..<10)),15,15"
        }
        _ = try post("\(Self.layer)/query", form, &line)
    }

    private func statistics(_ numbers: inout SeededGenerator, _ line: inout AttackLine) throws {
        let kind = numbers.pick(["count", "avg", "stddev", "percentile_cont"])
        // A name of its own, as many clients make one: no statement is the same as the one before.
        let name = "s\(numbers.number(0..<100_000))"
        let value = kind == "percentile_cont" ? #","statisticParameters":{"value":0.5}"# : ""
        _ = try post(
            "\(Self.layer)/query",
            [
                "f": "json", "where": "1=1", "groupByFieldsForStatistics": "counter",
                "outStatistics":
                    #"[{"statisticType":"\#(kind)","onStatisticField":"OBJECTID","outStatisticFieldName":"\#(name)"\#(value)}]"#,
            ], &line)
    }

    private func edit(_ turn: Int, _ numbers: inout SeededGenerator, _ line: inout AttackLine) throws {
        let attributes = #"{"name":"soak \#(turn)","counter":\#(numbers.number(0..<100))}"#
        let added = try post(
            "\(Self.layer)/addFeatures",
            [
                "f": "json",
                "features": #"[{"attributes":\#(attributes),"geometry":{"x":\#(numbers.number(0..<20)),"y":3}}]"#,
            ],
            &line)
        let id = try Self.objectID(in: added)
        _ = try post(
            "\(Self.layer)/updateFeatures",
            ["f": "json", "features": #"[{"attributes":{"OBJECTID":\#(id),"counter":7}}]"#], &line)
        _ = try post("\(Self.layer)/deleteFeatures", ["f": "json", "objectIds": "\(id)"], &line)
    }

    private func photo(_ turn: Int, _ numbers: inout SeededGenerator, _ line: inout AttackLine) throws {
        let content = (0..<numbers.pick([1_000, 30_000, 300_000])).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ turn) }
        var body = Array("--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\njson\r\n".utf8)
        body += "--b\r\nContent-Disposition: form-data; name=\"attachment\"; filename=\"\(turn).raw\"\r\n".utf8
        body += Array("Content-Type: application/octet-stream\r\n\r\n".utf8) + content + Array("\r\n--b--\r\n".utf8)
        let added = try send("\(Self.layer)/1/addAttachment", "multipart/form-data; boundary=b", body, &line)
        let id = try Self.objectID(in: added)
        let head =
            "GET /arcgis/rest/services/\(Self.layer)/1/attachments/\(id) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
        let read = try line.answer(to: Array(head.utf8))
        guard read.status == 200, read.size == content.count else {
            throw AttackSocket.Failure(description: "An attachment came with \(read.size) bytes of \(content.count).")
        }
        _ = try post("\(Self.layer)/1/deleteAttachments", ["f": "json", "attachmentIds": "\(id)"], &line)
    }

    /// Asks for everything and goes.
    private func leave() throws {
        let socket = try AttackSocket(port: port)
        try socket.write(request("\(Self.layer)/query", ["f": "json", "where": "1=1", "outFields": "*"]))
    }

    // MARK: Requests

    private func post(_ path: String, _ form: [String: String], _ line: inout AttackLine) throws -> AttackSocket.Answer
    {
        try checked(line.answer(to: request(path, form)), path)
    }

    private func request(_ path: String, _ form: [String: String]) -> [UInt8] {
        let body = AttackValues.form(form.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value.utf8)) })
        return Self.head(path, "application/x-www-form-urlencoded", body.count, port) + body
    }

    private func send(
        _ path: String, _ type: String, _ body: [UInt8], _ line: inout AttackLine
    ) throws -> AttackSocket.Answer {
        try checked(line.answer(to: Self.head(path, type, body.count, port) + body), path)
    }

    private static func head(_ path: String, _ type: String, _ length: Int, _ port: Int) -> [UInt8] {
        Array(
            """
            POST /arcgis/rest/services/\(path) HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Content-Type: \(type)\r
            Content-Length: \(length)\r
            \r

            """.utf8)
    }

    private func checked(_ answer: AttackSocket.Answer, _ path: String) throws -> AttackSocket.Answer {
        guard answer.status == 200, answer.errorCode == nil else {
            throw AttackSocket.Failure(description: "\(path): \(answer.status) \(answer.text.prefix(300))")
        }
        return answer
    }

    private static func objectID(in answer: AttackSocket.Answer) throws -> Int {
        guard let start = answer.text.range(of: #""objectId":"#)?.upperBound,
            let id = Int(answer.text[start...].prefix(while: \.isNumber))
        else { throw AttackSocket.Failure(description: "No object id: \(answer.text.prefix(300))") }
        return id
    }
}

/// What went wrong in any thread.
private final class FailedTurns: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
