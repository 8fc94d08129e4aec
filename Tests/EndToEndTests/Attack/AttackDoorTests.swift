import Foundation
import Testing

/// What comes to the door is not always HTTP, and not always sent by a friend.
@Suite("Attack on the door", .serialized)
struct AttackDoorTests {
    private static let path = "/arcgis/rest/services?f=json"

    /// What is sent, and whether it may be answered as if nothing was wrong.
    private static func cases(_ port: Int) -> [(name: String, bytes: String)] {
        let host = "Host: 127.0.0.1:\(port)\r\n"
        return [
            ("two hosts", "GET \(path) HTTP/1.1\r\n\(host)Host: example.com\r\n\r\n"),
            ("no host", "GET \(path) HTTP/1.1\r\n\r\n"),
            ("a foreign host", "GET \(path) HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
            ("TRACE", "TRACE \(path) HTTP/1.1\r\n\(host)\r\n"),
            ("CONNECT", "CONNECT 127.0.0.1:\(port) HTTP/1.1\r\n\(host)\r\n"),
            ("a head of 200 KB", "GET \(path) HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 200_000))\r\n\r\n"),
            ("a length that is no number", "POST \(path) HTTP/1.1\r\n\(host)Content-Length: ten\r\n\r\n"),
            ("a chunk that is no number", "POST \(path) HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
            ("no HTTP at all", "\u{1}\u{2}\u{3} hello\r\n\r\n"),
        ]
    }

    @Test("A request that HTTP does not allow, or that is meant for another host, is refused or cut off")
    func hostile() async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(.folder, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        let port = target.port
        for one in Self.cases(port) {
            let status = await AttackTarget.onThread { () -> Int? in
                guard let socket = try? AttackSocket(port: port) else { return nil }
                try? socket.write(Array(one.bytes.utf8))
                return try? socket.answer().status
            }
            // No answer at all is the end of the connection.
            let isRefused = status.map { (400..<500).contains($0) || $0 == 501 || $0 == 505 } ?? true
            #expect(isRefused, "\(one.name): \(status ?? 0)")
            print("Attack on the door, \(one.name): \(status.map(String.init) ?? "cut off")")
        }
        #expect(target.process.isRunning)
        #expect(try await PlainRequest.post(target.process.services, [("f", "json")])["services"] != nil)
        #expect(await target.process.interrupt() == 0)
    }

    @Test(
        "A head or a body that comes a byte at a time does not hold its connection for ever",
        .enabled(if: AttackForm.isFull, "It waits for the server's own times: make attack"))
    func slow() async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(.folder, in: folder.url)
        let target = try await AttackTarget.start(home, in: folder.url)
        let port = target.port
        let starts = [
            "GET \(Self.path) HTTP/1.1\r\nX: ",
            "POST \(Self.path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 1000000\r\n\r\n",
        ]
        for start in starts {
            let seconds = await AttackTarget.onThread { () -> Double? in
                let begin = ContinuousClock.now
                guard let socket = try? AttackSocket(port: port, patience: .seconds(1)) else { return nil }
                do {
                    try socket.write(Array(start.utf8))
                    for _ in 0..<180 {
                        Thread.sleep(forTimeInterval: 1)
                        try socket.write([0x61])
                    }
                } catch {
                    return (ContinuousClock.now - begin) / .seconds(1)
                }
                return nil
            }
            print("Attack on the door, a byte a second: cut off after \(seconds.map { "\(Int($0)) s" } ?? "never")")
            #expect(seconds != nil, "\(start.prefix(40))")
        }
        #expect(await target.process.interrupt() == 0)
    }
}
