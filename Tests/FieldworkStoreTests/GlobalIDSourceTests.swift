import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Global ids that the store gives", .fewAtATime)
struct GlobalIDSourceTests {
    @Test("They are distinct, in ascending order, and say that they are of version 7")
    func order() {
        let source = GlobalIDSource(moment: Date(timeIntervalSince1970: 1_767_323_045))
        let ids = (0..<50_000).map { _ in source.next().uuidString }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        #expect(ids.allSatisfy { $0.utf8.dropFirst(14).first == UInt8(ascii: "7") })
        #expect(ids.allSatisfy { $0.utf8.dropFirst(19).first.map { "89AB".utf8.contains($0) } ?? false })
    }

    @Test("Two sources of one moment give different ids")
    func twoSources() {
        let moment = Date(timeIntervalSince1970: 1)
        let (one, other) = (GlobalIDSource(moment: moment), GlobalIDSource(moment: moment))
        let ids = Set((0..<1_000).flatMap { _ in [one.next(), other.next()] })
        #expect(ids.count == 2_000)
    }
}
