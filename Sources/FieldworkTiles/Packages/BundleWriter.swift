import Foundation

/// Writes the bundles of a package, one after the other: files of the Compact Cache V2, each with 128 rows and columns of one level. A
/// bundle is made in a file of its own, since its head tells what follows.
final class BundleWriter {
    static let side = 128
    private static let headSize = 64
    private static let indexSize = 8 * side * side

    /// The bundle that a tile is in: the level, and the first row and column.
    struct Place: Hashable {
        var level: Int
        var row: Int
        var column: Int

        init(_ tile: TileAddress) {
            level = tile.level
            row = tile.row / side * side
            column = tile.column / side * side
        }

        var name: String {
            "L\(level < 10 ? "0" : "")\(level)/R\(Self.hex(row))C\(Self.hex(column)).bundle"
        }

        private static func hex(_ number: Int) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    let place: Place
    private let url: URL
    private let handle: FileHandle
    private var index = [UInt8](repeating: 0, count: indexSize)
    private var position = headSize + indexSize
    private var largest = 0

    /// - Parameter url: a file that is made anew, and is nobody else's.
    init(_ place: Place, at url: URL) throws(TileError) {
        self.place = place
        self.url = url
        guard FileManager.default.createFile(atPath: url.path, contents: nil),
            let handle = FileHandle(forWritingAtPath: url.path)
        else { throw Self.unwritable }
        self.handle = handle
        try Self.write([UInt8](repeating: 0, count: position), to: handle)
    }

    private static let unwritable = TileError(
        .unwritable, "The package can't be written: there may be no room on the disk.")

    private static func write(_ bytes: [UInt8], to handle: FileHandle) throws(TileError) {
        do {
            try handle.write(contentsOf: Data(bytes))
        } catch {
            throw unwritable
        }
    }

    /// Adds a tile of this bundle.
    func add(_ bytes: [UInt8], at tile: TileAddress) throws(TileError) {
        guard !bytes.isEmpty, bytes.count < 1 << 24 else {
            throw TileError(.tooLarge, "A tile has \(bytes.count) bytes; a package takes up to \((1 << 24) - 1).")
        }
        var head: [UInt8] = []
        Self.append(bytes.count, 4, to: &head)
        try Self.write(head + bytes, to: handle)
        var entry: [UInt8] = []
        Self.append(position + 4, 5, to: &entry)
        Self.append(bytes.count, 3, to: &entry)
        let start = 8 * (Self.side * (tile.row - place.row) + tile.column - place.column)
        index.replaceSubrange(start..<start + 8, with: entry)
        position += 4 + bytes.count
        largest = max(largest, bytes.count)
    }

    private static func append(_ number: Int, _ count: Int, to bytes: inout [UInt8]) {
        for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    /// Writes the head and the index; the file is whole then.
    func finish() throws(TileError) -> URL {
        var head: [UInt8] = []
        // Version, tiles of a bundle, bytes of the largest, bytes of a place in the index.
        for number in [3, Self.side * Self.side, largest, 5] { Self.append(number, 4, to: &head) }
        // Bytes without use, of the file, before the index and of it.
        for number in [0, position, 40] { Self.append(number, 8, to: &head) }
        for number in [20 + Self.indexSize, 3, 16, Self.side * Self.side, 5, Self.indexSize] {
            Self.append(number, 4, to: &head)
        }
        do {
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: Data(head + index))
            try handle.close()
        } catch {
            throw Self.unwritable
        }
        return url
    }
}
