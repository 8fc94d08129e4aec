import Foundation
import Testing

/// A server that is attacked: a process of its own, which may not take the machine with it.
struct AttackTarget {
    /// Far more than the server may need, and less than the machine has.
    private static let addressSpaceKilobytes = 8 << 20

    let process: FieldworkProcess
    let port: Int

    static func start(_ home: ServiceHome, in folder: URL) async throws -> AttackTarget {
        try await CrewService.publish(rows(400), in: home, with: folder)
        let file = folder.appending(path: "areas.geojson")
        try Data(areas.utf8).write(to: file)
        let published = try await FieldworkProcess.run(["publish", file.path, "--service", "Areas"] + home.arguments)
        try #require(published.status == 0, "\(published.errors)")
        let process = try FieldworkProcess.start(
            [
                "-c", "ulimit -v \(addressSpaceKilobytes); exec \"$0\" \"$@\"", FieldworkProcess.executable.path,
                "serve",
                "--port", "0",
            ] + home.arguments, program: URL(filePath: "/bin/bash"))
        _ = try await process.readyLine()
        return AttackTarget(process: process, port: try #require(URL(string: process.services)?.port))
    }

    private static func rows(_ count: Int) -> String {
        (0..<count).map { "\($0 % 20),\($0 / 20),name \($0),\($0 % 7)\n" }.joined()
    }

    private static let areas: String = {
        let features = (0..<36).map { number in
            let (x, y) = (number % 6, number / 6)
            return #"{"type":"Feature","properties":{"Address":"\#(number) Main St","size":\#(number)},"geometry":"#
                + #"{"type":"Polygon","coordinates":[[[\#(x),\#(y)],[\#(x + 1),\#(y)],[\#(x + 1),\#(y + 1)],[\#(x),\#(y)]]]}}"#
        }
        return #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
    }()

    /// Runs blocking work on a thread of its own.
    static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }

    /// In megabytes: what the process holds now, and the most that it ever held since `forgetPeak`.
    func memory() throws -> (now: Int, peak: Int) {
        let text = try String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)
        func value(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        // Mapped files are the system's: what they hold here says nothing of the process.
        return (value("RssAnon:") / 1_024, value("VmHWM:") / 1_024)
    }

    /// Seconds that the process has computed, on all cores together.
    func computed() throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process.processID)/stat", encoding: .utf8)
        // The name, in parentheses, may have spaces in it; the state follows, then numbers.
        let numbers = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ").compactMap {
            Double($0)
        }
        return (numbers[9] + numbers[10]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    func forgetPeak() { try? Data("5".utf8).write(to: URL(filePath: "/proc/\(process.processID)/clear_refs")) }
}
