import Foundation
import GRDBSQLite

/// A copy of a database as its last committed transaction left it: also while another program has it open, and with
/// what still lies in the write-ahead log beside it.
struct FileCopy {
    let source: URL
    let target: URL

    /// The target must not exist.
    func make() throws {
        guard FileManager.default.fileExists(atPath: source.path) else {
            throw StoreError(.notAGeoPackage, "There is no file \(source.lastPathComponent).")
        }
        let origin = try StoreConnection(path: source.path, mode: .readOnly)
        let copy = try StoreConnection(path: target.path, mode: .create)
        guard let backup = sqlite3_backup_init(copy.pointer, "main", origin.pointer, "main") else {
            throw copy.error(sqlite3_errcode(copy.pointer))
        }
        let code = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw copy.error(code) }
        guard end == SQLITE_OK else { throw copy.error(end) }
    }
}
