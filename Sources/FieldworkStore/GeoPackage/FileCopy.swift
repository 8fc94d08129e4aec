import Foundation
import GRDBSQLite

/// A copy of a database as its last committed transaction left it: also while another program has it open, and with
/// what still lies in the write-ahead log beside it.
struct FileCopy {
    let source: URL
    let target: URL

    /// Is told which part of the file has been copied.
    var progress: @Sendable (Double) -> Void = { _ in }

    /// The target must not exist. Throws `CancellationError` when the task is cancelled meanwhile.
    func make() throws {
        guard FileManager.default.fileExists(atPath: source.path) else {
            throw StoreError(.notAGeoPackage, "There is no file \(source.lastPathComponent).")
        }
        try LogOwnership.requireOwn(source)
        let origin = try StoreConnection(path: source.path, mode: .readOnly)
        // All of it is read as one state, whoever writes meanwhile.
        try origin.begin("BEGIN")
        defer { try? origin.rollBack() }
        _ = try origin.integer("SELECT count(*) FROM sqlite_master")
        let copy = try StoreConnection(path: target.path, mode: .create)
        guard let backup = sqlite3_backup_init(copy.pointer, "main", origin.pointer, "main") else {
            throw copy.error(sqlite3_errcode(copy.pointer))
        }
        var code = SQLITE_OK
        while code == SQLITE_OK, !Task.isCancelled {
            code = sqlite3_backup_step(backup, Limits.pagesPerCopyStep)
            let total = sqlite3_backup_pagecount(backup)
            if total > 0 { progress(Double(total - sqlite3_backup_remaining(backup)) / Double(total)) }
        }
        let end = sqlite3_backup_finish(backup)
        if code == SQLITE_OK { throw CancellationError() }
        guard code == SQLITE_DONE else { throw copy.error(code) }
        guard end == SQLITE_OK else { throw copy.error(end) }
    }
}
