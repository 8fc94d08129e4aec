import FieldworkGeometry
import FieldworkREST
package import Foundation

/// Writes PMTiles, version 3. The tiles come in any order; in the file they lie along the curve, each content once.
package final class PMTilesWriter: TilePackageWriter {
    /// A tile of the file in which the contents wait for their order.
    private struct Waiting {
        var id: UInt64
        var offset: Int
        var length: Int
    }

    /// Where the bytes of a content may be found again.
    private struct Content: Hashable {
        var hash: Int
        var length: Int
    }

    private let format: TileSetDescription.Format
    private let url: URL
    private let waitingURL: URL
    private let handle: FileHandle
    private var tiles: [Waiting] = []
    private var known: [Content: Int] = [:]
    private var position = 0
    private var levels: ClosedRange<Int>?

    /// The header and the root lie in the first bytes of the file, which readers ask for at once.
    private static let headBytes = 16_384
    private static let headerBytes = 127
    /// Many tiles of the sea or of a park are equal. Larger ones hardly ever are, and are not compared.
    private static let comparedBytes = 4_096

    /// - Parameter url: is made anew; while it is made, a file beside it holds its tiles.
    package init(_ url: URL, format: TileSetDescription.Format) throws(TileError) {
        self.format = format
        self.url = url
        waitingURL = URL(filePath: "\(url.path).tiles")
        handle = try Self.created(waitingURL)
    }

    deinit {
        try? handle.close()
        try? FileManager.default.removeItem(at: waitingURL)
    }

    private static let unwritable = TileError(
        .unwritable, "The package can't be written: there may be no room on the disk.")

    private static func created(_ url: URL) throws(TileError) -> FileHandle {
        guard FileManager.default.createFile(atPath: url.path, contents: nil),
            let handle = FileHandle(forUpdatingAtPath: url.path)
        else { throw unwritable }
        return handle
    }

    private static func write(_ bytes: [UInt8], to handle: FileHandle) throws(TileError) {
        do {
            try handle.write(contentsOf: Data(bytes))
        } catch {
            throw unwritable
        }
    }

    // MARK: Tiles

    package func add(_ bytes: [UInt8], at tile: TileAddress) throws(TileError) {
        let bytes = try Self.packed(bytes, format)
        guard !bytes.isEmpty else { return }
        let known = levels ?? tile.level...tile.level
        levels = min(known.lowerBound, tile.level)...max(known.upperBound, tile.level)
        let offset = try place(of: bytes)
        tiles.append(Waiting(id: PMTilesEntry.id(tile), offset: offset, length: bytes.count))
    }

    /// Where a content waits: it is written unless it is there already.
    private func place(of bytes: [UInt8]) throws(TileError) -> Int {
        let content = Content(hash: bytes.hashValue, length: bytes.count)
        if bytes.count <= Self.comparedBytes, let offset = known[content], try waiting(offset, bytes.count) == bytes {
            return offset
        }
        let offset = position
        do {
            try handle.seek(toOffset: UInt64(offset))
        } catch {
            throw Self.unwritable
        }
        try Self.write(bytes, to: handle)
        position += bytes.count
        if bytes.count <= Self.comparedBytes { known[content] = offset }
        return offset
    }

    private func waiting(_ offset: Int, _ length: Int) throws(TileError) -> [UInt8] {
        do {
            try handle.seek(toOffset: UInt64(offset))
            let data = try handle.read(upToCount: length) ?? Data()
            if data.count == length { return Array(data) }
        } catch {
            throw TileError(.unreadable, "The tiles of the package can't be read again.")
        }
        throw TileError(.unreadable, "The tiles of the package can't be read again.")
    }

    // MARK: The file

    /// The tiles in the order of the curve.
    private struct Order {
        var entries: [PMTilesEntry] = []
        /// Where each content waits, in the order in which they lie in the file.
        var contents: [(offset: Int, length: Int)] = []
        var size = 0
    }

    private func order() throws(TileError) -> Order {
        tiles.sort { $0.id < $1.id }
        var order = Order()
        var placed: [Int: Int] = [:]
        var last: UInt64?
        for tile in tiles {
            guard tile.id != last else { throw TileError(.broken, "A tile of the package came twice.") }
            last = tile.id
            let offset: Int
            if let known = placed[tile.offset] {
                offset = known
            } else {
                offset = order.size
                placed[tile.offset] = offset
                order.contents.append((tile.offset, tile.length))
                order.size += tile.length
            }
            if let end = order.entries.last, end.offset == offset, end.id + end.run == tile.id {
                order.entries[order.entries.count - 1].run += 1
            } else {
                order.entries.append(PMTilesEntry(id: tile.id, run: 1, length: tile.length, offset: offset))
            }
        }
        return order
    }

    package func finish(_ description: TileSetDescription) throws(TileError) {
        let order = try order()
        let directories = try Directories(order.entries, most: Self.headBytes - Self.headerBytes)
        let metadata = try Self.compressed(Array(Self.metadata(description).text.utf8))
        var head = Array("PMTiles".utf8) + [3]
        var place = Self.headerBytes
        for size in [directories.root.count, metadata.count, directories.leaves.count, order.size] {
            Self.append(place, 8, to: &head)
            Self.append(size, 8, to: &head)
            place += size
        }
        for count in [tiles.count, order.entries.count, order.contents.count] { Self.append(count, 8, to: &head) }
        // The tiles lie along the curve; directories and metadata are compressed by gzip.
        head += [1, 2, format == .vector ? 2 : 1, Self.kind(format)]
        let levels = levels ?? description.levels
        head += [UInt8(clamping: levels.lowerBound), UInt8(clamping: levels.upperBound)]
        head += Self.box(description, levels)
        let file = try Self.created(url)
        try Self.write(head + directories.root + metadata + directories.leaves, to: file)
        for content in order.contents { try Self.write(waiting(content.offset, content.length), to: file) }
        do {
            try file.synchronize()
            try file.close()
        } catch {
            throw Self.unwritable
        }
    }

    private static func kind(_ format: TileSetDescription.Format) -> UInt8 {
        switch format {
        case .vector: 1
        case .png: 2
        case .jpeg: 3
        case .webp: 4
        }
    }

    /// The box in degrees, and a level and a place to begin with.
    private static func box(_ description: TileSetDescription, _ levels: ClosedRange<Int>) -> [UInt8] {
        let plane = PlaneBox(
            xMin: -WebMercator.halfSide, yMin: -WebMercator.halfSide, xMax: WebMercator.halfSide,
            yMax: WebMercator.halfSide)
        let box = description.box ?? plane
        let (west, east) = (WebMercator.longitude(x: box.xMin), WebMercator.longitude(x: box.xMax))
        let (south, north) = (WebMercator.latitude(y: box.yMin), WebMercator.latitude(y: box.yMax))
        var bytes: [UInt8] = []
        for degrees in [west, south, east, north] { append(fixed(degrees), 4, to: &bytes) }
        bytes.append(UInt8(clamping: (levels.lowerBound + levels.upperBound) / 2))
        for degrees in [(west + east) / 2, (south + north) / 2] { append(fixed(degrees), 4, to: &bytes) }
        return bytes
    }

    /// Degrees as a count of ten-millionths.
    private static func fixed(_ degrees: Double) -> Int {
        Int(exactly: (min(max(degrees, -180), 180) * 1e7).rounded()) ?? 0
    }

    private static func metadata(_ description: TileSetDescription) -> JSONValue {
        var metadata = JSONObject(["name": .string(description.name), "type": "baselayer"])
        if !description.attribution.isEmpty { metadata["attribution"] = .string(description.attribution) }
        if description.format == .vector { metadata["vector_layers"] = .array(description.vectorLayers) }
        if let schema = description.schema { metadata[MBTilesWriter.schemaName] = .string(schema) }
        return .object(metadata)
    }

    fileprivate static func compressed(_ bytes: [UInt8]) throws(TileError) -> [UInt8] {
        do {
            return try GzipStream.compressed(bytes, level: 9)
        } catch {
            throw TileError(.unwritable, "The package's directory can't be compressed.")
        }
    }

    private static func append(_ number: Int, _ count: Int, to bytes: inout [UInt8]) {
        for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }
}

/// The directories of a file: the root, which has to be small, and those below it where it would not be.
private struct Directories {
    let root: [UInt8]
    private(set) var leaves: [UInt8] = []

    /// - Parameter most: the most bytes that the root may have.
    init(_ entries: [PMTilesEntry], most: Int) throws(TileError) {
        let all = try PMTilesWriter.compressed(Self.bytes(entries))
        guard all.count > most else {
            root = all
            return
        }
        var size = 4_096
        while true {
            var (above, below): ([PMTilesEntry], [UInt8]) = ([], [])
            for start in stride(from: 0, to: entries.count, by: size) {
                let part = Array(entries[start..<min(start + size, entries.count)])
                let leaf = try PMTilesWriter.compressed(Self.bytes(part))
                above.append(PMTilesEntry(id: part[0].id, run: 0, length: leaf.count, offset: below.count))
                below += leaf
            }
            let top = try PMTilesWriter.compressed(Self.bytes(above))
            if top.count <= most || above.count == 1 {
                (root, leaves) = (top, below)
                return
            }
            size *= 2
        }
    }

    private static func bytes(_ entries: [PMTilesEntry]) -> [UInt8] {
        var bytes: [UInt8] = []
        func put(_ value: UInt64) { ProtobufBytes.varint(value, to: &bytes) }
        put(UInt64(entries.count))
        var last: UInt64 = 0
        for entry in entries {
            put(entry.id - last)
            last = entry.id
        }
        for entry in entries { put(entry.run) }
        for entry in entries { put(UInt64(entry.length)) }
        var end: Int?
        for entry in entries {
            put(entry.offset == end ? 0 : UInt64(entry.offset) + 1)
            end = entry.offset + entry.length
        }
        return bytes
    }
}
