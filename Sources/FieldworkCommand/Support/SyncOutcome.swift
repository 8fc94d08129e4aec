import Fieldwork
import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// What a sync did with each edit, for a person and for a script.
struct SyncOutcome: Sendable {
    /// The exit codes of `fieldwork sync` beside those that all verbs share.
    enum Code: Int32, Sendable {
        /// An edit of the file lost to the service's rule.
        case lost = 3
        /// The replica was ended: the file gets no changes any more.
        case ended = 4
        case refused = 65
        /// Something is left to be sent or fetched.
        case unfinished = 75
    }

    /// An edit that met another one, as the service tells it.
    struct Conflict: Sendable {
        var id: Int64
        /// nil where the service does not show it.
        var json: JSONValue?
        /// What lost and what stands, in words.
        var lost = ""
        var won = ""
        var layer = ""

        /// Whether the edit of this file lost.
        var isLoss: Bool { json?["winner"]?.stringValue != "upload" }
        var isOpen: Bool { json?["state"]?.stringValue == "open" }
    }

    /// An edit of an attachment that was refused.
    struct RefusedAttachment: Sendable {
        var feature: String
        var reason: String
    }

    var fileName: String
    var serviceAddress: String
    var direction: SyncCommand.Direction
    var report: SyncReport
    var conflicts: [Conflict]
    /// What the service refused, and is still in the file.
    var refused: [FeatureDifference]
    var refusedAttachments: [RefusedAttachment]
    /// Edits of the file that were not sent.
    var unsentCount: Int

    private var refusedCount: Int { refused.count + refusedAttachments.count }
    private var lossCount: Int { conflicts.count(where: \.isLoss) }

    /// nil when all that was asked for was done.
    var code: Code? {
        if refusedCount > 0 { return .refused }
        if report.isEnded { return .ended }
        if lossCount > 0 { return .lost }
        return report.missingContents > 0 || (unsentCount > 0 && direction != .download) ? .unfinished : nil
    }

    // MARK: Text

    var lines: [String] {
        var lines = refused.map { edit in
            "refused  \(DifferenceText.title(edit))  \(DifferenceText.summary(edit)): \(edit.refusal ?? "")"
        }
        lines += refusedAttachments.map { "refused  attachment of \($0.feature): \($0.reason)" }
        lines += conflicts.map(line)
        lines.append("\(sentText); received \(Counted.text(report.received.total, "change"))")
        lines += endings
        return lines
    }

    private func line(_ conflict: Conflict) -> String {
        guard let json = conflict.json else { return "conflict \(conflict.id): the service does not show it" }
        let id = json["globalId"]?.stringValue.flatMap(GUID.parse)?.uuidString ?? ""
        let feature = "~ \(conflict.layer) \(json["objectId"]?.integerValue ?? 0) \(id)"
        let side = conflict.isLoss ? "lost   " : "kept   "
        let other = conflict.isLoss ? "the service has" : "replaced"
        let (own, theirs) = conflict.isLoss ? (conflict.lost, conflict.won) : (conflict.won, conflict.lost)
        let wait = conflict.isOpen ? ", waits for review" : ""
        return "\(side)  \(feature)  \(own); \(other) \(theirs) (conflict \(conflict.id)\(wait))"
    }

    private var sentText: String {
        let sent = report.sent
        guard sent.total > 0 else { return "Sent no edits" }
        let kinds = [
            (sent.adds, "added"), (sent.updates, "changed"), (sent.deletes, "deleted"),
            (sent.attachments, "of attachments"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        var fates: [String] = []
        if lossCount > 0 { fates.append("\(lossCount) lost to the service's rule") }
        if refusedCount > 0 { fates.append("\(refusedCount) refused") }
        let fate = fates.isEmpty ? "all taken" : fates.joined(separator: ", ")
        return "Sent \(Counted.text(sent.total, "edit")) (\(kinds.joined(separator: ", "))): \(fate)"
    }

    /// What is true of the file and its service now, and what to do about it.
    private var endings: [String] {
        var lines: [String] = []
        if refusedCount > 0 {
            lines.append(
                "The refused edits are still in \(fileName): fieldwork diff shows them, the next sync sends them again")
        }
        if lossCount > 0 {
            lines.append("fieldwork conflicts restore \(serviceAddress) NUMBER brings back what lost")
        }
        if report.missingContents > 0 {
            let photos = Counted.text(report.missingContents, "attachment")
            lines.append("\(photos) could not be fetched now: the next sync asks again")
        }
        if report.isEnded {
            lines.append(
                """
                The replica of \(fileName) was ended at the service: it can send edits and gets no changes any more; fieldwork \
                offline create makes a new file
                """)
        } else if direction == .download {
            lines.append("\(fileName) has what its service has, but for \(Counted.text(unsentCount, "edit")) not sent")
        } else if unsentCount > refusedCount {
            lines.append("Edits that were made during the sync are still in \(fileName): sync again")
        } else if direction == .upload {
            lines.append("The edits of \(fileName) were sent; what others changed was not fetched (--direction upload)")
        } else if refusedCount == 0, report.missingContents == 0 {
            lines.append("\(fileName) and its service have the same")
        }
        return lines
    }

    // MARK: JSON

    private var word: String {
        switch code {
        case .refused?: "refused"
        case .ended?: "ended"
        case .lost?: "lost"
        case .unfinished?: "unfinished"
        case nil: direction == .both ? "same" : direction == .upload ? "sent" : "fetched"
        }
    }

    var json: JSONValue {
        [
            "file": .string(fileName), "service": .string(serviceAddress), "outcome": .string(word),
            "direction": .string(direction.rawValue), "sent": Self.json(report.sent),
            "received": Self.json(report.received), "lost": .integer(Int64(lossCount)),
            "unsent": .integer(Int64(unsentCount)), "missingAttachments": .integer(Int64(report.missingContents)),
            "isReplicaEnded": .bool(report.isEnded),
            "refused": .array(refused.map(DifferenceText.json)),
            "refusedAttachments": .array(
                refusedAttachments.map { ["feature": .string($0.feature), "reason": .string($0.reason)] }),
            "conflicts": .array(conflicts.map { $0.json ?? ["id": .integer($0.id)] }),
        ]
    }

    private static func json(_ count: SyncReport.Count) -> JSONValue {
        [
            "adds": .integer(Int64(count.adds)), "updates": .integer(Int64(count.updates)),
            "deletes": .integer(Int64(count.deletes)), "attachments": .integer(Int64(count.attachments)),
        ]
    }
}
