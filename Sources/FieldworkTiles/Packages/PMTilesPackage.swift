import FieldworkGeometry
import FieldworkREST
import Synchronization

/// Reads PMTiles, version 3: one file, tiles in the order of a Hilbert curve, directories of them that are searched.
package final class PMTilesPackage: TilePackage {
    package let description: TileSetDescription
    private let file: PackageFile
    private let isCompressed: Bool
    private let root: [PMTilesEntry]
    private let leaves: (start: Int, size: Int)
    private let data: (start: Int, size: Int)

    /// By where they lie in the section of directories.
    private let lastLeaves = Mutex<[Int: [PMTilesEntry]]>([:])

    private static let compressions = [1: "none", 2: "gzip", 3: "brotli", 4: "zstd"]

    package init(_ file: PackageFile) throws(TileError) {
        self.file = file
        let header = try file.bytes(at: 0, count: 127)
        guard header[7] == 3 else { throw TileError(.unsupported, "Only PMTiles of version 3 can be read.") }
        func section(_ offset: Int) throws(TileError) -> (start: Int, size: Int) {
            let (start, size) = (try header.length(at: offset, bytes: 8), try header.length(at: offset + 8, bytes: 8))
            guard start >= 0, size >= 0, start <= file.size, size <= file.size - start else {
                throw TileError(.broken, "A section of the PMTiles lies beyond the end of the file.")
            }
            return (start, size)
        }
        for (byte, what) in [(97, "directories"), (98, "tiles")] where ![1, 2].contains(header[byte]) {
            let name = Self.compressions[Int(header[byte])] ?? "in an unknown way"
            throw TileError(.unsupported, "The \(what) of the PMTiles are compressed by \(name); gzip can be read.")
        }
        isCompressed = header[97] == 2
        let (rootPlace, metadata) = (try section(8), try section(24))
        (leaves, data) = (try section(40), try section(56))
        root = try Self.directory(file.bytes(at: rootPlace.start, count: rootPlace.size), isCompressed)
        guard let format = [1: TileSetDescription.Format.vector, 2: .png, 3: .jpeg, 4: .webp][Int(header[99])] else {
            throw TileError(.unsupported, "The PMTiles hold tiles of a kind that can't be served.")
        }
        let text = try Self.expanded(file.bytes(at: metadata.start, count: metadata.size), isCompressed)
        let json = try? JSONParser.parse(text)
        func degrees(_ offset: Int) -> Double {
            Double(Int32(truncatingIfNeeded: header.littleEndian(at: offset, bytes: 4) ?? 0)) / 1e7
        }
        description = TileSetDescription(
            name: json?["name"]?.stringValue ?? "", attribution: json?["attribution"]?.stringValue ?? "",
            format: format, levels: try TileSetDescription.levels(Int(header[100]), Int(header[101])),
            box: TileSetDescription.box(
                west: degrees(102), south: degrees(106), east: degrees(110), north: degrees(114)),
            vectorLayers: json?["vector_layers"]?.arrayValue ?? [],
            schema: json?[MBTilesWriter.schemaName]?.stringValue)
    }

    private static func expanded(_ bytes: [UInt8], _ isCompressed: Bool) throws(TileError) -> [UInt8] {
        guard isCompressed, !bytes.isEmpty else { return bytes }
        do {
            return try GzipReader.expanded(bytes, maximum: Limits.packagePieceBytes)
        } catch .tooLarge {
            throw TileError(.tooLarge, "A directory of the PMTiles has more than \(Limits.packagePieceBytes) bytes.")
        } catch {
            throw TileError(.broken, "A directory of the PMTiles can't be expanded.")
        }
    }

    /// A directory below the root. The last ones are kept: tiles that are asked for together lie in few.
    private func leaf(_ entry: PMTilesEntry) throws(TileError) -> [PMTilesEntry] {
        if let known = lastLeaves.withLock({ $0[entry.offset] }) { return known }
        let read = try Self.directory(
            file.bytes(at: leaves.start + entry.offset, count: entry.length), isCompressed)
        lastLeaves.withLock { kept in
            let count = kept.values.reduce(read.count) { $0 + $1.count }
            if count > Limits.directoryEntries { kept.removeAll() }
            kept[entry.offset] = read
        }
        return read
    }

    private static func directory(_ bytes: [UInt8], _ isCompressed: Bool) throws(TileError) -> [PMTilesEntry] {
        try PMTilesEntry.read(expanded(bytes, isCompressed))
    }

    package func tile(_ address: TileAddress) throws(TileError) -> [UInt8]? {
        guard let entry = try entry(address) else { return nil }
        return try file.bytes(at: data.start + entry.offset, count: entry.length)
    }

    package func has(_ address: TileAddress) throws(TileError) -> Bool { try entry(address) != nil }

    /// What the directories say of a tile, within the section of tiles.
    private func entry(_ address: TileAddress) throws(TileError) -> PMTilesEntry? {
        let id = PMTilesEntry.id(address)
        var entries = root
        // Real files have two storeys; one that leads on without end is refused.
        for _ in 0..<4 {
            guard let entry = PMTilesEntry.find(id, in: entries) else { return nil }
            if entry.run > 0 {
                guard entry.offset <= data.size, entry.length <= data.size - entry.offset else {
                    throw TileError(.broken, "A tile of the PMTiles lies beyond its section.")
                }
                return entry
            }
            guard entry.offset <= leaves.size, entry.length <= leaves.size - entry.offset else {
                throw TileError(.broken, "A directory of the PMTiles lies beyond its section.")
            }
            entries = try leaf(entry)
        }
        throw TileError(.broken, "The directories of the PMTiles have no end.")
    }
}

/// An entry of a directory: tiles of equal bytes that follow each other, or another directory.
struct PMTilesEntry: Sendable, Hashable {
    var id: UInt64
    /// How many tiles; 0 for a directory.
    var run: UInt64
    var length: Int
    var offset: Int

    /// The place of a tile on the curve, after those of all levels above.
    static func id(_ address: TileAddress) -> UInt64 {
        var above: UInt64 = 0
        for level in 0..<address.level { above += 1 << UInt64(2 * level) }
        var (x, y) = (UInt64(address.column), UInt64(address.row))
        var place: UInt64 = 0
        let side: UInt64 = 1 << UInt64(address.level)
        var step = side / 2
        while step > 0 {
            let (right, below) = (x & step > 0 ? UInt64(1) : 0, y & step > 0 ? UInt64(1) : 0)
            place += step * step * ((3 * right) ^ below)
            if below == 0 {
                if right == 1 { (x, y) = (side - 1 - x, side - 1 - y) }
                swap(&x, &y)
            }
            step /= 2
        }
        return above + place
    }

    static func find(_ id: UInt64, in entries: [PMTilesEntry]) -> PMTilesEntry? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id <= id { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let entry = entries[low - 1]
        return entry.run == 0 || id - entry.id < entry.run ? entry : nil
    }

    static func read(_ bytes: [UInt8]) throws(TileError) -> [PMTilesEntry] {
        do {
            return try bytes.withUnsafeBytes { try read($0) }
        } catch let error as TileError {
            throw error
        } catch {
            throw TileError(.broken, "A directory of the PMTiles breaks off.")
        }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws -> [PMTilesEntry] {
        var reader = ProtocolBufferReader(bytes)
        let count = try reader.varint()
        // Each entry takes four bytes at least.
        guard count > 0, count <= UInt64(bytes.count / 4), count <= UInt64(Limits.directoryEntries) else {
            throw TileError(.broken, "A directory of the PMTiles says that it has \(count) entries.")
        }
        var entries = [PMTilesEntry](repeating: PMTilesEntry(id: 0, run: 0, length: 0, offset: 0), count: Int(count))
        var id: UInt64 = 0
        for index in entries.indices {
            id &+= try reader.varint()
            entries[index].id = id
        }
        for index in entries.indices { entries[index].run = try reader.varint() }
        for index in entries.indices { entries[index].length = try length(reader.varint()) }
        for index in entries.indices {
            let value = try reader.varint()
            if value == 0, index > 0 {
                entries[index].offset = try length(
                    UInt64(entries[index - 1].offset) + UInt64(entries[index - 1].length))
            } else {
                entries[index].offset = try length(value &- 1)
            }
        }
        return entries
    }

    private static func length(_ value: UInt64) throws(TileError) -> Int {
        guard value < 1 << 48 else { throw TileError(.broken, "An entry of the PMTiles is too large for any file.") }
        return Int(value)
    }
}
