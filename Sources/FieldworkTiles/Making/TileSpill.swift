import Foundation

/// Sorts what belongs into tiles by tile. What doesn't fit into memory goes to a file in sorted runs, which are merged when they
/// are read: the memory that it takes doesn't grow with the map.
struct TileSpill: ~Copyable {
    /// A feature's part in one tile.
    struct Record {
        var tile: UInt64
        /// The order within the tile.
        var rank: UInt64
        var bytes: [UInt8]
    }

    private struct Entry {
        var tile: UInt64
        var rank: UInt64
        var offset: Int
        var length: Int
    }

    private let url: URL
    private let memory: Int
    private var file: FileHandle?
    private var written = 0
    /// Where each sorted run lies in the file.
    private var runs: [Range<Int>] = []
    private var arena: [UInt8] = []
    private var entries: [Entry] = []
    private(set) var count = 0

    /// - Parameters:
    ///   - url: the file, which is made when it is needed and is gone at the end.
    ///   - memory: bytes.
    init(file url: URL, memory: Int = Limits.basemapSpillBytes) {
        self.url = url
        self.memory = memory
    }

    deinit {
        guard let file else { return }
        try? file.close()
        try? FileManager.default.removeItem(at: url)
    }

    static func key(level: Int, column: Int, row: Int) -> UInt64 {
        UInt64(level) << 58 | UInt64(column) << 29 | UInt64(row)
    }

    static func address(_ key: UInt64) -> TileAddress? {
        let mask: UInt64 = (1 << 29) - 1
        return TileAddress(level: Int(key >> 58), column: Int(key >> 29 & mask), row: Int(key & mask))
    }

    mutating func add(tile: UInt64, rank: UInt64, _ write: (inout [UInt8]) -> Void) throws {
        let offset = arena.count
        write(&arena)
        entries.append(Entry(tile: tile, rank: rank, offset: offset, length: arena.count - offset))
        count += 1
        if arena.count + entries.count * MemoryLayout<Entry>.stride > memory { try spill() }
    }

    private mutating func sort() {
        entries.sort { ($0.tile, $0.rank, $0.offset) < ($1.tile, $1.rank, $1.offset) }
    }

    private mutating func spill() throws {
        try Task.checkCancellation()
        sort()
        let handle = try file ?? opened()
        file = handle
        let start = written
        var buffer: [UInt8] = []
        func flush() throws {
            try handle.write(contentsOf: buffer)
            written += buffer.count
            buffer.removeAll(keepingCapacity: true)
        }
        for entry in entries {
            for number in [entry.tile, entry.rank, UInt64(entry.length)] {
                withUnsafeBytes(of: number.littleEndian) { buffer.append(contentsOf: $0) }
            }
            buffer += arena[entry.offset..<entry.offset + entry.length]
            if buffer.count > 1 << 20 { try flush() }
        }
        try flush()
        runs.append(start..<written)
        entries.removeAll(keepingCapacity: true)
        arena.removeAll(keepingCapacity: true)
    }

    private func opened() throws -> FileHandle {
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = FileHandle(forWritingAtPath: url.path)
        else { throw TileError(.unreadable, "\(url.path) can't be written.") }
        return handle
    }

    /// Gives all records in the order of their tiles, and within a tile of their ranks.
    mutating func forEach(_ body: (Record) throws -> Void) throws {
        guard !runs.isEmpty else {
            sort()
            for entry in entries {
                let bytes = Array(arena[entry.offset..<entry.offset + entry.length])
                try body(Record(tile: entry.tile, rank: entry.rank, bytes: bytes))
            }
            return
        }
        if !entries.isEmpty { try spill() }
        arena = []
        entries = []
        let file = try PackageFile(path: url.path)
        var readers = runs.map { RunReader(file: file, range: $0) }
        for index in readers.indices { try readers[index].advance() }
        while true {
            var least: (index: Int, tile: UInt64, rank: UInt64)?
            for index in readers.indices {
                guard let head = readers[index].head else { continue }
                if let known = least, (known.tile, known.rank) <= (head.tile, head.rank) { continue }
                least = (index, head.tile, head.rank)
            }
            guard let least, let record = readers[least.index].head else { return }
            try body(record)
            try readers[least.index].advance()
        }
    }
}

/// Reads one sorted run.
private struct RunReader {
    private(set) var head: TileSpill.Record?
    private let file: PackageFile
    private var rest: Range<Int>
    private var buffer: [UInt8] = []
    private var position = 0
    private static let step = 256 * 1_024

    init(file: PackageFile, range: Range<Int>) {
        self.file = file
        rest = range
    }

    mutating func advance() throws(TileError) {
        guard try fill(24) else {
            head = nil
            return
        }
        let tile = buffer.littleEndian(at: position, bytes: 8) ?? 0
        let rank = buffer.littleEndian(at: position + 8, bytes: 8) ?? 0
        let length = try buffer.length(at: position + 16, bytes: 8)
        position += 24
        guard try fill(length) else { throw TileError(.broken, "The file of parts ends early.") }
        head = TileSpill.Record(tile: tile, rank: rank, bytes: Array(buffer[position..<position + length]))
        position += length
    }

    /// Makes so many bytes lie in the buffer; false at the end.
    private mutating func fill(_ count: Int) throws(TileError) -> Bool {
        guard buffer.count - position < count else { return true }
        let missing = count - (buffer.count - position)
        guard missing <= rest.count else { return false }
        let piece = min(max(missing, Self.step), rest.count)
        buffer.removeFirst(position)
        position = 0
        buffer += try file.bytes(at: rest.lowerBound, count: piece)
        rest = (rest.lowerBound + piece)..<rest.upperBound
        return true
    }
}
