import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

/// Small bodies that would become large: the server counts while it parses and stops at the first limit.
///
/// The measure is the memory of the whole process: `make test` runs this suite in a process where one test runs at a time, because
/// the memory of tests beside it would be taken for the server's.
@Suite("Memory of a request", .serialized)
struct RequestMemoryTests {
    private static let layer = "Trees/FeatureServer/0"

    /// The most memory that this process has taken, in bytes.
    private static func mostMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        let words = line.split(separator: " ")
        return (Int(words[words.count - 2]) ?? 0) * 1_024
    }

    /// Starts the measure of `mostMemory` anew.
    private static func forgetMemory() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    @Test("Bodies that would become large in memory are refused by the first limit, in little memory")
    func smallBodies() async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            // As values they would take more than a gigabyte.
            let bytes = 32 * 1_024 * 1_024
            let bodies = [
                ("applyEdits", "f=json&adds=[" + String(repeating: "{\"\":0},", count: bytes / 7) + "0]", "100000"),
                ("query", "f=json&objectIds=" + String(repeating: "1,", count: bytes / 2), "100000"),
                ("query", String(repeating: "a&", count: bytes / 2), "1000"),
                ("query", "f=json&time=" + String(repeating: "1,", count: bytes / 2), "1048576"),
                (
                    "addFeatures",
                    "f=json&features=[{\"attributes\":{" + String(repeating: "\"a\":1,", count: bytes / 6)
                        + "\"a\":1}}]", "20000"
                ),
            ]
            for (operation, body, limit) in bodies {
                Self.forgetMemory()
                let before = try Self.mostMemory()
                let answer = try await server.client.post("\(Self.layer)/\(operation)", body: body)
                let error = try answer.json["error"]
                #expect(error?["code"]?.integerValue == 400 || error?["code"]?.integerValue == 413, "\(operation)")
                #expect(error?["details"]?.text.contains(limit) == true, "\(operation): \(error?.text ?? "")")
                #expect(try Self.mostMemory() - before < 512 * 1_024 * 1_024, "\(operation) \(limit)")
            }
        }
    }
}
