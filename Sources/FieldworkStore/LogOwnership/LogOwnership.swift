import Foundation

/// Whether the write-ahead log beside a file is that file's own. A backup that was put back over a file leaves the log of the
/// one before beside it, and SQLite would replay it into the backup: both would be lost.
enum LogOwnership: Sendable, Hashable {
    /// There is no log with anything in it.
    case none
    /// It is the file's own; or nothing speaks against it, as of one that another program began.
    case own
    /// It belongs to another file, whose last known generation this is.
    case foreign(generation: Int64)
    /// The file can't be read without its log.
    case unreadable

    private static let tries = 5

    static func look(_ path: String) -> LogOwnership {
        for _ in 0..<tries {
            // First the file, then the log: what was moved into the file before it was read is in the log after it.
            let salts = WrittenLog.salts(besideFile: path)
            guard salts != nil else { return .none }
            let file = LogStamp.read(path)
            let log = WrittenLog(besideFile: path)
            let verdict = judge(file, log)
            // A log that another program began anew in between says nothing of the file as it was read.
            if verdict == .own || verdict == .none || WrittenLog.salts(besideFile: path) == salts { return verdict }
        }
        // It was begun anew at each look: programs are at work that know it as theirs.
        return .unreadable
    }

    /// Throws `StoreError.corrupt` where the log beside a file belongs to another one: reading through it would mix the two.
    static func requireOwn(_ url: URL) throws {
        guard case .foreign = look(FilePlace.resolve(url)) else { return }
        throw StoreError(
            .corrupt, "The log beside \(url.lastPathComponent) belongs to another file; fieldwork doctor says more.")
    }

    private static func judge(_ file: LogStamp.OfFile, _ log: WrittenLog?) -> LogOwnership {
        guard let log else { return .none }
        guard let base = log.first?.base else { return .own }
        let foreign = LogOwnership.foreign(generation: log.last?.generation ?? 0)
        switch file {
        case .none: return foreign
        // What is not known speaks against nothing.
        case .unreadable: return .unreadable
        case .stamp(let stamp, _): return stamp == base || log.stamps.contains(stamp) ? .own : foreign
        }
    }
}

/// Moves a log out of the way of a file that it does not belong to. Nothing is deleted.
enum LogSetAside {
    /// - Returns: the names that the log and its index have now.
    @discardableResult
    static func move(besideFile path: String, at moment: Date = .now) throws -> [String] {
        let time = DateText.text(milliseconds: moment.milliseconds).filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        var names: [String] = []
        // The index goes first: without it a log is read anew from its beginning.
        // One with nothing in it is nothing to keep.
        if WrittenLog(besideFile: path) == nil {
            for suffix in ["-shm", "-wal"] { unlink(path + suffix) }
            return []
        }
        for suffix in ["-shm", "-wal"] {
            let target = "\(path)\(suffix).set-aside-\(time)"
            if rename(path + suffix, target) == 0 {
                names.append(URL(filePath: target).lastPathComponent)
            } else if errno != ENOENT {
                throw StoreError(
                    .failure, "\(path)\(suffix) belongs to another file and can't be moved out of its way.")
            }
        }
        try? NewFile.synchronize(URL(filePath: path).deletingLastPathComponent())
        return names.reversed()
    }
}
