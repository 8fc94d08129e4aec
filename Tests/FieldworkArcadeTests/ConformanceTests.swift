import FieldworkGeometry
import Foundation
import Testing

@testable import FieldworkArcade

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

    @Test("Every function of the language has a case")
    func everyFunction() throws {
        let file = try CaseFile.own()
        #expect(file.json["format"] == 1)
        let named = Set(file.cases.flatMap { ArcadeScript($0.expression, profile: .any).reads.functions })
        let missing = FunctionCatalogue.names.filter { !named.contains($0) }
        #expect(missing.isEmpty, "\(missing.joined(separator: ", "))")
    }

    @Test("Each case has an id of its own")
    func ids() throws {
        let ids = try CaseFile.own().cases.map(\.id)
        #expect(Set(ids).count == ids.count)
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
