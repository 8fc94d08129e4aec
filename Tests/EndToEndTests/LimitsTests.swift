import Foundation
import Testing

@Suite("Limits on the command line")
struct LimitsTests {
    @Test("Every named limit of every module is listed with its meaning")
    func complete() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let listed = try await FieldworkProcess.run(["limits"]).text
        let rows = Dictionary(
            grouping: listed.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) },
            by: { $0.count == 4 ? "\($0[0]).\($0[1])" : "malformed" })
        #expect(rows["malformed"] == nil)
        var count = 0
        for module in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path).sorted()
        {
            let file = root.appending(path: "Sources/\(module)/Limits.swift")
            guard let source = try? String(contentsOf: file, encoding: .utf8) else { continue }
            for line in source.split(separator: "\n") {
                guard let range = line.range(of: "static let ") else { continue }
                let name = line[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                let row = try #require(rows["\(module).\(name)"]?.first, "\(module).\(name): run make limits")
                #expect(!row[3].isEmpty, "\(module).\(name) has no meaning")
                // The value of the source, which a table written earlier may not have.
                let value = line[line.index(after: line.lastIndex(of: "=") ?? line.startIndex)...]
                let amount = value.split(separator: "*").reduce(1.0) { product, factor in
                    product * (Double(factor.filter { $0 != "_" && $0 != " " }) ?? .nan)
                }
                if !amount.isNaN { #expect(Double(row[2].prefix { $0 != " " }) == amount, "run make limits") }
                count += 1
            }
        }
        #expect(count > 0)
        #expect(count == rows.count)
    }
}
