import Fieldwork
import Foundation

/// What is being sent just now, in words: "Sending edit 1 of 3", "Photo 2 of 5, 1.2 of 4.8 MB".
struct SendingView: Sendable, Hashable {
    let what: String
    let hundredths: Int
    /// "3 edits and 2 photos on this device."
    private let waiting: String
    /// Whether it is known what goes; before that there is no part of it to tell.
    let isUnderWay: Bool

    /// nil where nothing is sent.
    init?(_ report: Outbox.Report) {
        guard report.phase == .sending else { return nil }
        let progress = report.sending ?? SendingProgress()
        isUnderWay = progress.edits + progress.files > 0
        hundredths = Int(progress.part * 100)
        let edits = progress.edits > 0 ? FieldText.count(progress.edits, "edit") : nil
        let files = progress.files > 0 ? Self.files(progress.files) : nil
        waiting = [edits, files].compactMap { $0 }.joined(separator: " and ") + " on this device."
        let open = progress.answeredEdits < progress.edits
        if progress.isSendingFile || (!open && progress.sentFiles < progress.files) {
            let number = min(progress.sentFiles + 1, progress.files)
            let there = progress.sentBytes + progress.currentBytes
            what =
                "Photo or file \(FieldText.grouped(number)) of \(FieldText.grouped(progress.files)), "
                + ByteText.part(there, of: progress.bytes)
        } else if open {
            what = Self.edits(progress)
        } else if report.canStop, isUnderWay {
            what = "All is sent. Getting what others changed"
        } else {
            what = report.unsent == 0 ? "Looking for conflicts" : "Waiting for the server"
        }
    }

    /// Edits go together: all that are in the request are on their way at once.
    private static func edits(_ progress: SendingProgress) -> String {
        let (first, last) = (progress.answeredEdits + 1, progress.edits)
        let whole = FieldText.grouped(progress.edits)
        guard first < last else { return "Sending edit \(FieldText.grouped(first)) of \(whole)" }
        return "Sending edits \(FieldText.grouped(first)) to \(FieldText.grouped(last)) of \(whole)"
    }

    private static func files(_ count: Int) -> String {
        count == 1 ? "1 photo or file" : "\(FieldText.grouped(count)) photos and files"
    }

    var beginning: String { "\(waiting) \(what)." }
    var spoken: String { "\(hundredths) percent sent. \(what)." }

    static func bar(_ report: Outbox.Report) -> SendingBar {
        SendingBar(
            sending: SendingView(report).map { view in
                SendingBar.Progress(
                    what: view.what, hundredths: view.isUnderWay ? "\(view.hundredths)" : nil,
                    percent: view.isUnderWay ? "\(view.hundredths) %" : "", stop: report.canStop)
            })
    }
}
