import FieldworkREST
package import Foundation

/// Writes a zip file whose files are stored as they are, so that readers find each byte by its place. Files that are larger than four
/// gigabytes, or lie behind so many bytes, are noted with eight bytes for their numbers.
package final class ZipWriter {
    private struct Entry {
        var name: String
        var checksum: UInt32
        var size: Int
        var offset: Int
    }

    private let handle: FileHandle
    private var entries: [Entry] = []
    private var position = 0

    /// Numbers from here on are written with eight bytes.
    private let wide: Int

    /// - Parameters:
    ///   - url: is made anew.
    ///   - wide: the least number that is written with eight bytes; the format needs it from `0xFFFF_FFFF` on.
    package init(_ url: URL, wide: Int = 0xFFFF_FFFF) throws(TileError) {
        self.wide = wide
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw TileError(.unwritable, "\(url.lastPathComponent) can't be written: there may be no room.")
        }
        handle = try Self.writing { try FileHandle(forWritingTo: url) }
    }

    private static func writing<Result>(_ body: () throws -> Result) throws(TileError) -> Result {
        do {
            return try body()
        } catch {
            throw TileError(.unwritable, "The package can't be written: \(error.localizedDescription)")
        }
    }

    private func write(_ bytes: [UInt8]) throws(TileError) {
        let handle = handle
        try Self.writing { try handle.write(contentsOf: Data(bytes)) }
        position += bytes.count
    }

    /// Adds a file that is in memory.
    package func add(_ bytes: [UInt8], as name: String) throws(TileError) {
        var checksum = Checksum32()
        checksum.add(bytes)
        try begin(Entry(name: name, checksum: checksum.value, size: bytes.count, offset: position))
        try write(bytes)
    }

    /// Adds a file that lies on the disk. It is read twice: its checksum stands before it.
    /// - Parameter afterPiece: called with the bytes of each piece that was read; an error ends the writing.
    package func add(
        _ file: PackageFile, as name: String, afterPiece: (Int) throws(TileError) -> Void = { _ in }
    ) throws(TileError) {
        var checksum = Checksum32()
        try file.pieces { (piece: [UInt8]) throws(TileError) in
            checksum.add(piece)
            try afterPiece(piece.count)
        }
        try begin(Entry(name: name, checksum: checksum.value, size: file.size, offset: position))
        try file.pieces { (piece: [UInt8]) throws(TileError) in
            try write(piece)
            try afterPiece(piece.count)
        }
    }

    // MARK: The form

    private func begin(_ entry: Entry) throws(TileError) {
        guard entries.count < Limits.zipEntries else {
            throw TileError(.tooLarge, "The package would have more than \(Limits.zipEntries) files.")
        }
        entries.append(entry)
        var head: [UInt8] = []
        Self.append(0x0403_4B50, 4, to: &head)
        appendCommon(entry, to: &head)
        let extra = entry.size >= wide ? Self.wideField([entry.size, entry.size]) : []
        Self.append(extra.count, 2, to: &head)
        try write(head + Array(entry.name.utf8) + extra)
    }

    /// What stands of a file both before it and in the list, up to the length of its name. The date is the first of the format:
    /// equal tiles make an equal file.
    private func appendCommon(_ entry: Entry, to bytes: inout [UInt8]) {
        // The version, names in UTF-8, stored, the time and the date.
        for number in [45, 0x0800, 0, 0, 0x0021] { Self.append(number, 2, to: &bytes) }
        Self.append(Int(entry.checksum), 4, to: &bytes)
        for _ in 0..<2 { Self.append(narrow(entry.size), 4, to: &bytes) }
        Self.append(entry.name.utf8.count, 2, to: &bytes)
    }

    /// A number of four bytes, which says that the number stands elsewhere where it is too large.
    private func narrow(_ number: Int) -> Int { number >= wide ? 0xFFFF_FFFF : number }

    private static func wideField(_ numbers: [Int]) -> [UInt8] {
        guard !numbers.isEmpty else { return [] }
        var field: [UInt8] = []
        append(1, 2, to: &field)
        append(8 * numbers.count, 2, to: &field)
        for number in numbers { append(number, 8, to: &field) }
        return field
    }

    private static func append(_ number: Int, _ count: Int, to bytes: inout [UInt8]) {
        for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    /// Writes the list of files, and has all on the disk when it returns.
    package func finish() throws(TileError) {
        let start = position
        var list: [UInt8] = []
        for entry in entries {
            Self.append(0x0201_4B50, 4, to: &list)
            Self.append(45, 2, to: &list)
            appendCommon(entry, to: &list)
            var numbers: [Int] = []
            if entry.size >= wide { numbers += [entry.size, entry.size] }
            if entry.offset >= wide { numbers.append(entry.offset) }
            let extra = Self.wideField(numbers)
            Self.append(extra.count, 2, to: &list)
            // No comment, the first disk, no attributes.
            for size in [2, 2, 2, 4] { Self.append(0, size, to: &list) }
            Self.append(narrow(entry.offset), 4, to: &list)
            list += Array(entry.name.utf8) + extra
        }
        let size = list.count
        if start + size >= wide || entries.count >= 0xFFFF {
            Self.append(0x0606_4B50, 4, to: &list)
            Self.append(44, 8, to: &list)
            for _ in 0..<2 { Self.append(45, 2, to: &list) }
            for _ in 0..<2 { Self.append(0, 4, to: &list) }
            for number in [entries.count, entries.count, size, start] { Self.append(number, 8, to: &list) }
            Self.append(0x0706_4B50, 4, to: &list)
            Self.append(0, 4, to: &list)
            Self.append(start + size, 8, to: &list)
            Self.append(1, 4, to: &list)
        }
        Self.append(0x0605_4B50, 4, to: &list)
        for _ in 0..<2 { Self.append(0, 2, to: &list) }
        for _ in 0..<2 { Self.append(min(entries.count, 0xFFFF), 2, to: &list) }
        Self.append(narrow(size), 4, to: &list)
        Self.append(narrow(start), 4, to: &list)
        Self.append(0, 2, to: &list)
        try write(list)
        let handle = handle
        try Self.writing {
            try handle.synchronize()
            try handle.close()
        }
    }
}
