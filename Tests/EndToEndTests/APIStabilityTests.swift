import Foundation
import Testing

/// The promise that programs which use the SDK go on compiling (`make api-check`).
@Suite("Stability of the SDK's names", .serialized, .timeLimit(.minutes(5)))
struct APIStabilityTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func check(_ options: String...) async throws -> FieldworkProcess.Output {
        try await FieldworkProcess.run(
            [repository.appending(path: "scripts/api-check").path] + options,
            environment: ["BUILD": FieldworkProcess.products.path], program: URL(filePath: "/usr/bin/python3"))
    }

    @Test("No public name that was promised is gone or another")
    func promised() async throws {
        let checked = try await Self.check()
        #expect(checked.status == 0, "\(checked.text)\(checked.errors)")
    }

    @Test("A name that is gone, a changed declaration and a new case are told as breaks, a new function is not")
    func breaks() async throws {
        let folder = try TemporaryFolder()
        let record = Self.repository.appending(path: "Documentation/api")
        for file in try FileManager.default.contentsOfDirectory(at: record, includingPropertiesForKeys: nil) {
            try FileManager.default.copyItem(at: file, to: folder.url.appending(path: file.lastPathComponent))
        }
        let file = folder.url.appending(path: "Fieldwork.txt")
        var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let last = try #require(lines.lastIndex { $0.contains(" · enum.case · ") })
        let newCase = lines.remove(at: last)
        let method = try #require(lines.firstIndex { $0.contains(" · method · ") })
        let newMethod = lines.remove(at: method)
        lines.append("Feature.vanish() · method · func vanish()")
        let property = try #require(lines.firstIndex { $0.contains(" · property · ") && $0.hasSuffix(": String") })
        let changed = lines[property] + "?"
        lines[property] = changed
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        let checked = try await Self.check("--promised", folder.url.path)
        #expect(checked.status == 1)
        #expect(checked.text.contains("gone or changed: Feature.vanish()"), "\(checked.text)")
        #expect(checked.text.contains("gone or changed: \(changed)"))
        #expect(checked.text.contains("breaks programs: \(newCase)"))
        #expect(checked.text.contains("new: \(newMethod)"))
        #expect(checked.text.contains("3 of the promised declarations break"))
    }
}
