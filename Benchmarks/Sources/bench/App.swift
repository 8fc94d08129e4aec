import BenchResults
import Foundation

/// What one waits for in the collection app, over all the points: the times of the app's design, from the request to the last
/// byte of the answer. What the browser draws of it comes on top.
struct App {
    var bench: Bench
    var folder: URL
    var server: ServerProcess

    private static let port: UInt16 = 18_474
    private static let repeats = 200

    /// One of the waits, with the most that the design allows for 95 of 100.
    private struct Wait {
        var figure: Figure
        var most: Double
        var request: (AppVisitor, Int) throws -> Void
    }

    func run() throws {
        let service = "http://127.0.0.1:\(server.port)/arcgis/rest/services/Trees/FeatureServer"
        let process = Process()
        process.executableURL = bench.executable
        process.arguments = [
            "collect", "--map", service, "--data", folder.appending(path: "crew").path, "--port", "\(Self.port)",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        let visitor = try AppVisitor(port: Self.port)
        let list = String(decoding: try visitor.get("/list/0?scope=all&sort=OBJECTID"), as: UTF8.self)
        guard let start = list.range(of: "href=\"/f/0/") else { throw ConnectionError(message: "the list is empty") }
        let key = list[start.upperBound...].prefix { $0 != "\"" && $0 != "/" }
        let waits = [
            Wait(figure: .appFrame, most: 200) { visitor, _ in _ = try visitor.get("/map") },
            Wait(figure: .appCallOut, most: 100) { visitor, index in
                let place = "lon=\(-122.6 + Double(index) * 0.0001)&lat=45.5&tolerance=20"
                _ = try visitor.post("/data/identify", place)
            },
            Wait(figure: .appPopUp, most: 100) { visitor, _ in _ = try visitor.get("/f/0/\(key)") },
            Wait(figure: .appList, most: 100) { visitor, _ in
                _ = try visitor.get("/list/0?scope=all&sort=OBJECTID")
            },
        ]
        print("the app over \(bench.features) points, milliseconds (the most that its design allows):")
        for wait in waits { try measure(wait, visitor) }
    }

    private func measure(_ wait: Wait, _ visitor: AppVisitor) throws {
        var times: [Double] = []
        for index in 0..<Self.repeats {
            let started = ContinuousClock.now
            try wait.request(visitor, index)
            times.append(started.duration(to: .now) / .milliseconds(1))
        }
        times.sort()
        let most = times[min(times.count - 1, times.count * 95 / 100)]
        print("  \(wait.figure.title): \(String(format: "%.1f", most)) (\(Int(wait.most)))")
        bench.record(wait.figure, Rounds([most]))
    }
}

/// The app's own page, as the app sees it: it comes by the address that was printed, with the key that it was given.
final class AppVisitor {
    private let connection: Connection
    private let fields: String

    init(port: UInt16) throws {
        let host = "127.0.0.1:\(port)"
        for _ in 0..<400 {
            if let connection = try? Connection(port: port),
                let answer = try? connection.exchange("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n"),
                let cookie = answer.head["set-cookie"]?.split(separator: ";").first
            {
                self.connection = connection
                fields = "Host: \(host)\r\nOrigin: http://\(host)\r\nCookie: \(cookie)\r\n"
                return
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw ConnectionError(message: "the app did not start")
    }

    func get(_ path: String) throws -> [UInt8] {
        try body(connection.exchange("GET \(path) HTTP/1.1\r\n\(fields)\r\n"))
    }

    func post(_ path: String, _ form: String) throws -> [UInt8] {
        try body(
            connection.exchange(
                "POST \(path) HTTP/1.1\r\n\(fields)Content-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: \(form.utf8.count)\r\n\r\n\(form)"))
    }

    private func body(_ answer: (status: String, head: [String: String], body: [UInt8])) throws -> [UInt8] {
        guard answer.status.contains(" 200") else { throw ConnectionError(message: answer.status) }
        return answer.body
    }
}
