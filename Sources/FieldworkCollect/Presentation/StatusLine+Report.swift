import Foundation

extension StatusLine {
    init(
        report: Outbox.Report, refusedCount: Int, isUnreachable: Bool, conflictCount: Int = 0, areaName: String? = nil,
        isPlainFile: Bool = false, isInTransaction: Bool = false, revision: UInt64 = 0
    ) {
        self.revision = revision
        let waitingCount = report.unsent + conflictCount
        count = waitingCount > 0 ? waitingCount : nil
        conflicts = conflictCount > 0 ? FieldText.count(conflictCount, "conflict") : nil
        let waiting: Bool
        if case .waiting = report.phase { waiting = true } else { waiting = false }
        // Who works in an area of this device doesn't miss the server.
        let away = areaName == nil && (waiting || isUnreachable)
        whereText =
            areaName.map { isPlainFile ? "File \($0)" : "Offline, \($0)" } ?? (away ? "No connection" : "Online")
        icon =
            isPlainFile
            ? "i-file" : away || areaName != nil ? "i-cloud-off" : report.unsent > 0 ? "i-cloud" : "i-cloud-ok"
        let open = max(0, report.unsent - refusedCount)
        if report.phase == .sending, open > 0 {
            unsent = "sending \(FieldText.grouped(open))"
        } else {
            unsent = open > 0 ? "\(FieldText.grouped(open)) not sent" : nil
        }
        refused = refusedCount > 0 ? "\(FieldText.grouped(refusedCount)) refused" : nil
        if isPlainFile {
            calm = isInTransaction ? nil : "all saved"
        } else if report.unsent == 0, refusedCount == 0, conflictCount == 0, !away {
            calm =
                report.lastSent.map {
                    "all sent \(FieldText.date($0, now: Date()).replacingOccurrences(of: "today ", with: ""))"
                } ?? "all sent"
        } else {
            calm = nil
        }
        text = [whereText, unsent, refused, conflicts, calm].compactMap { $0 }.joined(separator: ", ")
    }
}
