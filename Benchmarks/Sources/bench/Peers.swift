import BenchResults
import Foundation

/// Programs that others wrote, over the same rows; `peers.py` starts those that are installed.
final class Peers {
    /// A program that answers with the GeoJSON of a box.
    struct Peer: Decodable {
        var name: String
        var version: String
        var reads: String
        var port: UInt16
        /// With `{box}` for west, south, east and north in degrees.
        var path: String

        func target(_ box: Box) -> String { path.replacingOccurrences(of: "{box}", with: box.degrees) }
    }

    private struct Absent: Decodable {
        var name: String
        var reason: String
        var install: String
    }

    private struct Report: Decodable {
        var peers: [Peer]
        var absent: [Absent]
    }

    private static let script = "Benchmarks/peers.py"

    private(set) var running: [Peer] = []
    private var process: Process?
    /// The script waits until this is closed.
    private let input = Pipe()

    /// - rows: the GeoPackage that holds the service's rows. - clients: how many ask at a time.
    init(bench: Bench, rows: URL, table: String, clients: Int) throws {
        guard bench.peers != "none" else { return }
        guard let python = Offline.tool("python3"), FileManager.default.fileExists(atPath: Self.script) else {
            print("peers: left out, python3 or \(Self.script) is missing")
            return
        }
        let process = Process()
        process.executableURL = python
        process.arguments = [
            Self.script, "--rows", rows.path, "--table", table, "--fields", TreeData.fieldNames.joined(separator: ","),
            "--folder", bench.data.appending(path: "peers-\(bench.features)").path, "--peers", bench.peers,
            "--clients", "\(clients)", "--python", bench.python,
        ]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        self.process = process
        let line = Self.line(from: output.fileHandleForReading)
        guard let report = try? JSONDecoder().decode(Report.self, from: line) else {
            print("peers: left out, \(Self.script) did not say what it started")
            return
        }
        running = report.peers
        for absent in report.absent {
            print(
                "\(absent.name): left out, \(absent.reason)" + (absent.install.isEmpty ? "" : "; \(absent.install)"))
        }
    }

    private static func line(from handle: FileHandle) -> Data {
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
            let part = handle.availableData
            if part.isEmpty { break }
            line += part
        }
        return line
    }

    /// Leaves those out that don't give as many features as the server does: to compare them would mean nothing.
    /// - own: the server's target for a box.
    func keepEqual(to server: ServerProcess, total: Int, own: (Box) -> String) throws {
        var generator = SplitMix64(seed: 5)
        let boxes = (0..<5).map { _ in Box.random(holding: 1_000, of: total, using: &generator) }
        let expected = try boxes.map { try Self.count(server.port, own($0)) }
        running = running.filter { peer in
            do {
                let found = try boxes.map { try Self.count(peer.port, peer.target($0)) }
                if found == expected { return true }
                print("\(peer.name): left out, it gives \(found) features of boxes where the server gives \(expected)")
            } catch {
                print("\(peer.name): left out, \(error)")
            }
            return false
        }
    }

    func leaveOut(_ peer: Peer, because reason: String) {
        print("\(peer.name): left out, \(reason.prefix(300))")
        running.removeAll { $0.name == peer.name }
    }

    /// Says which programs were asked, and keeps that for the result.
    func report(to recorder: Recorder) {
        for peer in running {
            print("    \(peer.name): \(peer.version), reads \(peer.reads)")
            recorder.add(PeerProgram(name: peer.name, version: peer.version, reads: peer.reads))
        }
    }

    private static func count(_ port: UInt16, _ target: String) throws -> Int {
        let document = try JSONSerialization.jsonObject(with: Data(Connection(port: port).get(target)))
        guard let features = (document as? [String: Any])?["features"] as? [Any] else {
            throw ConnectionError(message: "the answer is no GeoJSON")
        }
        return features.count
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process?.waitUntilExit()
        process = nil
    }
}

extension Box {
    /// West, south, east and north in degrees, as peers want them.
    fileprivate var degrees: String {
        [minX, minY, maxX, maxY].enumerated().map { index, metres in
            let radians = metres / 6_378_137
            let angle = index % 2 == 0 ? radians : 2 * atan(exp(radians)) - .pi / 2
            return String(format: "%.9f", angle * 180 / .pi)
        }.joined(separator: ",")
    }
}
