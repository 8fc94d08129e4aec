import FieldworkArcade
import Foundation
import Testing

@Suite("Arcade conformance")
struct ConformanceTests {
    @Test("Every case of this repository gives the result that it says")
    func ownCases() throws {
        let cases = try CaseFile.own().cases
        try #require(cases.count > 100)
        for one in cases {
            let difference = try one.difference()
            #expect(difference == nil, "\(one.id): \(one.expression) gives \(difference ?? "")")
        }
    }

    /// More cases, beside the repository where they are.
    private static let shared = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/data/arcade/cases.json")

    @Test(
        "Every confirmed case beside the repository gives its result",
        .enabled(if: FileManager.default.fileExists(atPath: shared.path), "there is no shared/data/arcade/cases.json"))
    func sharedCases() throws {
        let cases = try CaseFile(Self.shared).cases
        try #require(!cases.isEmpty)
        for one in cases {
            guard let difference = try one.difference() else { continue }
            if one.isConfirmed {
                Issue.record("\(one.id): \(one.expression) gives \(difference)")
            } else {
                print("Unconfirmed case \(one.id): \(one.expression) gives \(difference)")
            }
        }
    }
}
