import Foundation

/// What a write-ahead log says of itself, read from its bytes (SQLite's file format, §4). Opening the database would replay it.
struct WrittenLog: Sendable, Hashable {
    /// Two numbers that SQLite draws for each beginning of a log.
    let salts: UInt64
    /// The state that the first transaction in the log left; nil where that transaction wrote none.
    private(set) var first: StateRow?
    /// The stamps of all transactions in it.
    private(set) var stamps: Set<Int64> = []
    /// The newest state in it.
    private(set) var last: StateRow?

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// nil when there is no log, or no whole transaction in it.
    init?(besideFile path: String) {
        let file = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let header = Self.read(file, Self.headerBytes, at: 0), Self.integer(header, 0) & ~1 == 0x377F_0682 else {
            return nil
        }
        let pageSize = Int(Self.integer(header, 8))
        guard (512...65_536).contains(pageSize) else { return nil }
        salts = Self.salts(header, 16)
        guard scan(file, pageSize) else { return nil }
    }

    /// The salts that a log has now; nil where there is none.
    static func salts(besideFile path: String) -> UInt64? {
        let file = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return read(file, headerBytes, at: 0).map { salts($0, 16) }
    }

    /// - Returns: whether a transaction is in it.
    private mutating func scan(_ file: Int32, _ pageSize: Int) -> Bool {
        var offset = Self.headerBytes
        var (pending, hasCommit): (StateRow?, Bool) = (nil, false)
        // The beginning of a page tells of nearly each that it is none of the state.
        while let frame = Self.read(file, Self.frameHeaderBytes + StateRow.headBytes, at: offset),
            Self.salts(frame, 8) == salts
        {
            if StateRow.mayStand(onPage: frame[Self.frameHeaderBytes...]),
                let page = Self.read(file, pageSize, at: offset + Self.frameHeaderBytes), let row = StateRow(page: page)
            {
                pending = row
            }
            // The last frame of a transaction tells the size of the database after it.
            if Self.integer(frame, 4) != 0 {
                if !hasCommit { first = pending }
                hasCommit = true
                if let row = pending { last = row }
                if let stamp = pending?.stamp { stamps.insert(stamp) }
                pending = nil
            }
            offset += Self.frameHeaderBytes + pageSize
        }
        return hasCommit
    }

    private static func read(_ file: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, count, off_t(offset)) }
        return got == count ? bytes : nil
    }

    private static func integer(_ bytes: [UInt8], _ at: Int) -> UInt32 {
        bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func salts(_ bytes: [UInt8], _ at: Int) -> UInt64 {
        UInt64(integer(bytes, at)) << 32 | UInt64(integer(bytes, at + 4))
    }
}
