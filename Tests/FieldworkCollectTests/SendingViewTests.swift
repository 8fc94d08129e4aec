import Fieldwork
import Testing

@testable import FieldworkCollect

/// What is being sent just now, in words.
@Suite struct SendingViewTests {
    private static func view(_ change: (inout SendingProgress) -> Void) -> SendingView? {
        var progress = SendingProgress()
        change(&progress)
        return SendingView(Outbox.Report(phase: .sending, unsent: 1, lastSent: nil, sending: progress))
    }

    @Test func whereNothingIsSentNothingIsSaid() {
        #expect(SendingView(Outbox.Report(phase: .idle, unsent: 3, lastSent: nil)) == nil)
        #expect(SendingView.bar(Outbox.Report(phase: .idle, unsent: 3, lastSent: nil)).sending == nil)
    }

    @Test func editsThatGoTogetherAreCountedTogether() throws {
        let one = try #require(Self.view { ($0.edits, $0.answeredEdits) = (3, 2) })
        #expect(one.what == "Sending edit 3 of 3" && one.hundredths == 66)
        let all = try #require(Self.view { $0.edits = 3 })
        #expect(all.what == "Sending edits 1 to 3 of 3" && all.hundredths == 0)
        #expect(all.beginning == "3 edits on this device. Sending edits 1 to 3 of 3.")
    }

    @Test func aPhotoIsToldByItsBytesAndByThoseOfAll() throws {
        let view = try #require(
            Self.view { progress in
                (progress.edits, progress.answeredEdits) = (1, 1)
                (progress.files, progress.sentFiles) = (5, 1)
                (progress.bytes, progress.sentBytes) = (4_800_000, 1_000_000)
                (progress.isSendingFile, progress.currentSize, progress.currentBytes) = (true, 400_000, 200_000)
            })
        #expect(view.what == "Photo or file 2 of 5, 1.2 of 4.8 MB")
        #expect(view.hundredths == 41)
        #expect(view.beginning == "1 edit and 5 photos and files on this device. Photo or file 2 of 5, 1.2 of 4.8 MB.")
        #expect(view.spoken == "41 percent sent. Photo or file 2 of 5, 1.2 of 4.8 MB.")
    }

    @Test func aSyncGoesOnAfterTheSending() throws {
        var progress = SendingProgress()
        (progress.edits, progress.answeredEdits) = (2, 2)
        let report = Outbox.Report(phase: .sending, unsent: 2, lastSent: nil, sending: progress, canStop: true)
        #expect(SendingView(report)?.what == "All is sent. Getting what others changed")
    }

    @Test func beforeItIsKnownWhatGoesThereIsNoPartOfIt() throws {
        let view = try #require(SendingView(Outbox.Report(phase: .sending, unsent: 1, lastSent: nil)))
        #expect(!view.isUnderWay && view.what == "Waiting for the server")
    }
}
