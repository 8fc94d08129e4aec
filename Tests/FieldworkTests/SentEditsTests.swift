import FieldworkREST
import Foundation
import Testing

@testable import Fieldwork

/// How far a device goes back with a service that was put back to an earlier state.
@Suite("Edits that were sent")
struct SentEditsTests {
    private func mark(_ generation: Int64) -> SentEdits.Mark {
        SentEdits.Mark(generation: generation, layers: [0: generation])
    }

    private func sent(_ count: Int) -> (edits: SentEdits, ids: [UUID]) {
        var edits = SentEdits()
        let ids = (0..<count).map { _ in UUID() }
        for (index, id) in ids.enumerated() {
            edits.add(id, from: mark(Int64(index)), to: mark(Int64(index + 1)))
        }
        return (edits, ids)
    }

    @Test("A device goes back to the last upload that the service still has, and to the first when it has none")
    func goesBack() {
        let (edits, ids) = sent(5)
        var (some, none, all) = (edits, edits, edits)
        let toThird = some.goBack(to: [ids[0], ids[2]])
        #expect(toThird == mark(3) && some.uploads.filter { !$0.isLost }.map(\.id) == Array(ids.prefix(3)))
        let toStart = none.goBack(to: [])
        #expect(toStart == mark(0))
        let toLast = all.goBack(to: Set(ids))
        #expect(toLast == mark(5))
        var nothing = SentEdits()
        let toNothing = nothing.goBack(to: [UUID()])
        #expect(toNothing == nil)
    }

    @Test(
        "A backup that has what an earlier one had not brings the device forward again, also after the file was closed")
    func forwardAgain() {
        var (edits, ids) = sent(2)
        let toStart = edits.goBack(to: [])
        #expect(toStart == mark(0))
        let other = UUID()
        edits.add(other, from: mark(0), to: mark(3))
        var reopened = SentEdits(json: edits.json)
        #expect(reopened == edits)
        let toSecond = reopened.goBack(to: Set(ids))
        #expect(toSecond == mark(2) && reopened.uploads.map(\.isLost) == [false, false, true])
        let toOther = edits.goBack(to: [other])
        #expect(toOther == mark(3))
    }

    @Test("Uploads that the service lost make room first, and are not taken for sent")
    func lostMakeRoom() {
        var (edits, _) = sent(Limits.sentUploads)
        _ = edits.goBack(to: [])
        for number in 1...Limits.sentUploads { edits.add(UUID(), from: mark(0), to: mark(Int64(number))) }
        #expect(edits.uploads.count == Limits.sentUploads && edits.start == mark(0))
        let start = edits.goBack(to: [])
        #expect(start == mark(0))
    }

    @Test("An upload that is sent twice counts once, as it was sent last")
    func twice() {
        var (edits, ids) = sent(3)
        edits.add(ids[2], from: mark(2), to: mark(9))
        #expect(edits.uploads.count == 3)
        let last = edits.goBack(to: Set(ids))
        #expect(last == mark(9))
    }

    @Test("A device keeps as many uploads as the limit says; those before are taken for one")
    func limit() {
        let (full, ids) = sent(Limits.sentUploads)
        #expect(full.uploads.count == Limits.sentUploads && full.start == mark(0))
        var more = full
        more.add(UUID(), from: mark(Int64(Limits.sentUploads)), to: mark(Int64(Limits.sentUploads + 1)))
        #expect(more.uploads.count == Limits.sentUploads && more.start == mark(1))
        #expect(!more.uploads.contains { $0.id == ids[0] })
        let start = more.goBack(to: [])
        #expect(start == mark(1))
    }
}
