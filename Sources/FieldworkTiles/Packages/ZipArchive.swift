import FieldworkREST

/// The files within a zip file, as far as packages of tiles need them: stored, or small and deflated. Entries are found by
/// their names alone; nothing is unpacked to the disk.
package final class ZipArchive: Sendable {
    package struct Entry: Sendable, Hashable {
        package var isStored: Bool
        package var compressedSize: Int
        package var size: Int
        var checksum: UInt32
        var header: Int
    }

    private let file: PackageFile
    package let entries: [String: Entry]
    /// Bytes of the whole file.
    package var size: Int { file.size }

    package init(_ file: PackageFile) throws(TileError) {
        self.file = file
        let (start, size, count) = try Self.directory(file)
        guard count <= Limits.zipEntries else {
            throw TileError(.tooLarge, "The package has \(count) files; \(Limits.zipEntries) are allowed.")
        }
        let bytes = try file.bytes(at: start, count: size, limit: Limits.zipDirectoryBytes)
        var entries: [String: Entry] = [:]
        var place = 0
        for _ in 0..<count {
            guard bytes.littleEndian(at: place, bytes: 4) == 0x0201_4B50 else { throw Self.broken }
            let lengths = (
                name: try bytes.length(at: place + 28, bytes: 2), extra: try bytes.length(at: place + 30, bytes: 2),
                comment: try bytes.length(at: place + 32, bytes: 2)
            )
            let end = place + 46 + lengths.name + lengths.extra + lengths.comment
            guard end <= bytes.count else { throw Self.broken }
            let name = String(decoding: bytes[(place + 46)..<(place + 46 + lengths.name)], as: UTF8.self)
            let extra = Array(bytes[(place + 46 + lengths.name)..<(place + 46 + lengths.name + lengths.extra)])
            entries[name.replacing("\\", with: "/")] = try Self.entry(bytes, at: place, extra: extra)
            place = end
        }
        self.entries = entries
    }

    private static let broken = TileError(.broken, "The package is no whole zip file.")

    /// Where the list of files lies, how long it is and how many there are.
    private static func directory(_ file: PackageFile) throws(TileError) -> (start: Int, size: Int, count: Int) {
        let tailSize = min(file.size, 65_557)
        let tail = try file.bytes(at: file.size - tailSize, count: tailSize)
        guard tailSize >= 22,
            let place = (0...(tailSize - 22)).last(where: { tail.littleEndian(at: $0, bytes: 4) == 0x0605_4B50 })
        else { throw broken }
        let count = try tail.length(at: place + 10, bytes: 2)
        let size = try tail.length(at: place + 12, bytes: 4)
        let start = try tail.length(at: place + 16, bytes: 4)
        guard count == 0xFFFF || size == 0xFFFF_FFFF || start == 0xFFFF_FFFF else { return (start, size, count) }
        // Of large files the numbers stand before, with eight bytes each.
        guard place >= 20, tail.littleEndian(at: place - 20, bytes: 4) == 0x0706_4B50 else { throw broken }
        let wide = try file.bytes(at: tail.length(at: place - 12, bytes: 8), count: 56)
        guard wide.littleEndian(at: 0, bytes: 4) == 0x0606_4B50 else { throw broken }
        return (
            try wide.length(at: 48, bytes: 8), try wide.length(at: 40, bytes: 8), try wide.length(at: 32, bytes: 8)
        )
    }

    private static func entry(_ bytes: [UInt8], at place: Int, extra: [UInt8]) throws(TileError) -> Entry {
        let method = try bytes.length(at: place + 10, bytes: 2)
        guard method == 0 || method == 8 else {
            throw TileError(.unsupported, "The package is compressed in a way that is not known (\(method)).")
        }
        var entry = Entry(
            isStored: method == 0, compressedSize: try bytes.length(at: place + 20, bytes: 4),
            size: try bytes.length(at: place + 24, bytes: 4),
            checksum: UInt32(truncatingIfNeeded: try bytes.length(at: place + 16, bytes: 4)),
            header: try bytes.length(at: place + 42, bytes: 4))
        var field = 0
        while field + 4 <= extra.count {
            let (id, length) = (try extra.length(at: field, bytes: 2), try extra.length(at: field + 2, bytes: 2))
            if id == 1 {
                var value = field + 4
                if entry.size == 0xFFFF_FFFF {
                    entry.size = try extra.length(at: value, bytes: 8)
                    value += 8
                }
                if entry.compressedSize == 0xFFFF_FFFF {
                    entry.compressedSize = try extra.length(at: value, bytes: 8)
                    value += 8
                }
                if entry.header == 0xFFFF_FFFF { entry.header = try extra.length(at: value, bytes: 8) }
            }
            field += 4 + length
        }
        return entry
    }

    /// Where the bytes of an entry begin.
    package func start(of entry: Entry) throws(TileError) -> Int {
        let header = try file.bytes(at: entry.header, count: 30)
        guard header.littleEndian(at: 0, bytes: 4) == 0x0403_4B50 else { throw Self.broken }
        let (name, extra) = (try header.length(at: 26, bytes: 2), try header.length(at: 28, bytes: 2))
        return entry.header + 30 + name + extra
    }

    /// A small file as a whole; nil when there is none of this name.
    package func contents(_ name: String) throws(TileError) -> [UInt8]? {
        guard let entry = entries[name] else { return nil }
        guard max(entry.size, entry.compressedSize) <= Limits.packagePieceBytes else {
            throw TileError(
                .tooLarge,
                "\(name.prefix(100)) in the package has \(entry.size) bytes; \(Limits.packagePieceBytes) are allowed.")
        }
        let bytes = try file.bytes(at: start(of: entry), count: entry.compressedSize)
        if entry.isStored { return bytes }
        // The same stream in gzip's dress: its end tells the checksum and the size that the directory promises.
        var gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + bytes
        for word in [entry.checksum, UInt32(truncatingIfNeeded: entry.size)] {
            for shift in [0, 8, 16, 24] { gzip.append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
        }
        do {
            return try GzipReader.expanded(gzip, maximum: entry.size)
        } catch {
            throw TileError(.broken, "\(name.prefix(100)) in the package can't be expanded.")
        }
    }

    /// The bytes of a stored file, piece by piece. Throws at the end where they are not those that its checksum is of.
    package func pieces(
        of name: String, _ body: ([UInt8]) throws(TileError) -> Void
    ) throws(TileError) {
        guard let entry = entries[name] else { throw TileError(.broken, "The package has no \(name.prefix(100)).") }
        var checksum = Checksum32()
        try file.pieces(of: place(of: entry, name: name)) { (piece: [UInt8]) throws(TileError) in
            checksum.add(piece)
            try body(piece)
        }
        guard checksum.value == entry.checksum else {
            throw TileError(.broken, "\(name.prefix(100)) in the package is damaged: its checksum differs.")
        }
    }

    /// The bytes of the zip file that a stored file is.
    package func place(of entry: Entry, name: String) throws(TileError) -> Range<Int> {
        guard entry.isStored, entry.size == entry.compressedSize else {
            throw TileError(
                .unsupported, "\(name.prefix(100)) in the package is compressed. Pack it again without: zip -0.")
        }
        let start = try start(of: entry)
        guard entry.size <= file.size, start <= file.size - entry.size else { throw Self.broken }
        return start..<(start + entry.size)
    }

    /// A stretch of a stored file.
    package func bytes(of entry: Entry, at offset: Int, count: Int) throws(TileError) -> [UInt8] {
        guard entry.isStored else {
            throw TileError(
                .unsupported,
                "The tiles of the package are compressed once more as files. Pack it again without: zip -0.")
        }
        guard offset >= 0, count >= 0, offset <= entry.size, count <= entry.size - offset else {
            throw TileError(.broken, "A tile of the package lies beyond the end of its file.")
        }
        return try file.bytes(at: start(of: entry) + offset, count: count)
    }
}
