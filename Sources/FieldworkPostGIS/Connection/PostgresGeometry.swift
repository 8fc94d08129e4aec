/// Translates geometries between a GeoPackage's binary form, in which the rest of the store knows them, and PostGIS's
/// extended WKB. Both are WKB inside; header, numbers of the types and the place of the reference differ
/// (OGC 12-128r18 §2.1.3; PostGIS manual, "ST_AsEWKB").
enum PostgresGeometry {
    private static let zFlag: UInt32 = 0x8000_0000
    private static let mFlag: UInt32 = 0x4000_0000
    private static let referenceFlag: UInt32 = 0x2000_0000
    /// A geometry within a geometry within … : GEOS and PostGIS give up earlier.
    private static let deepest = 32

    // MARK: To GeoPackage

    /// Appends the GeoPackage form of an extended WKB; false, and nothing appended, when it can't be read.
    static func appendGeoPackage(_ extended: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Bool {
        let start = bytes.count
        var reader = Reader(bytes: extended)
        guard let head = reader.peekHead() else { return false }
        // "GP", version 0, flags: the header's integers little-endian, no envelope; then the reference.
        bytes += [0x47, 0x50, 0, 0x01]
        append(UInt32(bitPattern: head.reference ?? 0), isLittleEndian: true, to: &bytes)
        guard translate(&reader, toISO: true, reference: nil, depth: 0, &bytes), reader.isAtEnd else {
            bytes.removeSubrange(start...)
            return false
        }
        return true
    }

    /// The size in GeoPackage's form of a point of two coordinates, which most geometries are; nil for anything else.
    static func sizeOfPoint(_ extended: UnsafeRawBufferPointer) -> Int? {
        guard extended.count >= 21, extended[0] == 1 else { return nil }
        let number = UInt32(littleEndian: extended.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
        guard number == 1 && extended.count == 21 || number == 1 | referenceFlag && extended.count == 25 else {
            return nil
        }
        return plainPointSize
    }

    /// Of a point of two coordinates in GeoPackage's form: the header, and WKB.
    static let plainPointSize = 8 + 21

    /// Writes what `sizeOfPoint` has measured.
    static func writePoint(_ extended: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) {
        let reference = extended.count == 25 ? extended.loadUnaligned(fromByteOffset: 5, as: UInt32.self) : 0
        writeHead(reference: reference, to: room)
        UnsafeMutableRawBufferPointer(rebasing: room[13..<29]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: extended[(extended.count - 16)...]))
    }

    /// Writes PostgreSQL's own point, two doubles with their highest byte first, without a reference: the layer has one.
    static func writePlainPoint(_ pair: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) {
        writeHead(reference: 0, to: room)
        for offset in [0, 8] {
            let bits = UInt64(bigEndian: pair.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            room.storeBytes(of: bits.littleEndian, toByteOffset: 13 + offset, as: UInt64.self)
        }
    }

    /// What stands before the coordinates of a point.
    private static func writeHead(reference: UInt32, to room: UnsafeMutableRawBufferPointer) {
        // "GP", version 0, flags as in `appendGeoPackage`.
        room.storeBytes(of: UInt32(0x0100_5047).littleEndian, as: UInt32.self)
        room.storeBytes(of: reference, toByteOffset: 4, as: UInt32.self)
        room[8] = 1
        room.storeBytes(of: UInt32(1).littleEndian, toByteOffset: 9, as: UInt32.self)
    }

    // MARK: To PostGIS

    /// Appends the extended WKB of a GeoPackage geometry; false, and nothing appended, when it can't be read.
    static func appendExtended(_ blob: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Bool {
        let start = bytes.count
        guard blob.count >= 8, blob[0] == 0x47, blob[1] == 0x50 else { return false }
        let flags = blob[3]
        let envelopeSizes = [0, 32, 48, 48, 64]
        let kind = Int(flags >> 1 & 0x07)
        guard kind < envelopeSizes.count else { return false }
        let isLittleEndian = flags & 1 == 1
        let stored = UnsafeRawBufferPointer(rebasing: blob[4..<8]).loadUnaligned(as: UInt32.self)
        let reference = isLittleEndian ? UInt32(littleEndian: stored) : UInt32(bigEndian: stored)
        let offset = 8 + envelopeSizes[kind]
        guard blob.count >= offset else { return false }
        var reader = Reader(bytes: UnsafeRawBufferPointer(rebasing: blob[offset...]))
        guard translate(&reader, toISO: false, reference: reference, depth: 0, &bytes), reader.isAtEnd else {
            bytes.removeSubrange(start...)
            return false
        }
        return true
    }

    // MARK: Both

    /// Copies one geometry with its type's number in the other form.
    private static func translate(
        _ reader: inout Reader, toISO: Bool, reference: UInt32?, depth: Int, _ bytes: inout [UInt8]
    ) -> Bool {
        guard depth < deepest, let head = reader.head() else { return false }
        bytes.append(head.isLittleEndian ? 1 : 0)
        if toISO {
            let dimensions: UInt32 = (head.hasZ ? 1_000 : 0) + (head.hasM ? 2_000 : 0)
            append(head.kind + dimensions, isLittleEndian: head.isLittleEndian, to: &bytes)
        } else {
            var number = head.kind | (head.hasZ ? zFlag : 0) | (head.hasM ? mFlag : 0)
            if reference != nil { number |= referenceFlag }
            append(number, isLittleEndian: head.isLittleEndian, to: &bytes)
            if let reference { append(reference, isLittleEndian: head.isLittleEndian, to: &bytes) }
        }
        let coordinates = 2 + (head.hasZ ? 1 : 0) + (head.hasM ? 1 : 0)
        switch head.kind {
        case 1: return reader.copy(coordinates * 8, to: &bytes)
        case 2, 8: return copyPoints(&reader, coordinates, head, &bytes)
        case 3:
            guard let rings = copyCount(&reader, head, &bytes) else { return false }
            for _ in 0..<rings { guard copyPoints(&reader, coordinates, head, &bytes) else { return false } }
            return true
        case 4, 5, 6, 7, 9, 10, 11, 12, 15, 16:
            guard let members = copyCount(&reader, head, &bytes) else { return false }
            for _ in 0..<members {
                guard translate(&reader, toISO: toISO, reference: nil, depth: depth + 1, &bytes) else { return false }
            }
            return true
        default: return false
        }
    }

    private static func copyCount(_ reader: inout Reader, _ head: Head, _ bytes: inout [UInt8]) -> UInt32? {
        guard let count = reader.integer(isLittleEndian: head.isLittleEndian) else { return nil }
        append(count, isLittleEndian: head.isLittleEndian, to: &bytes)
        return count
    }

    private static func copyPoints(
        _ reader: inout Reader, _ coordinates: Int, _ head: Head, _ bytes: inout [UInt8]
    ) -> Bool {
        guard let count = copyCount(&reader, head, &bytes) else { return false }
        let (size, overflow) = Int(count).multipliedReportingOverflow(by: coordinates * 8)
        return !overflow && reader.copy(size, to: &bytes)
    }

    private static func append(_ value: UInt32, isLittleEndian: Bool, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: isLittleEndian ? value.littleEndian : value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private struct Head {
        var isLittleEndian: Bool
        var kind: UInt32
        var hasZ: Bool
        var hasM: Bool
        var reference: Int32?
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset = 0

        var isAtEnd: Bool { offset == bytes.count }

        init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        func peekHead() -> Head? {
            var copy = self
            return copy.head()
        }

        /// Order of bytes, type and reference, in either form.
        mutating func head() -> Head? {
            guard offset < bytes.count, bytes[offset] <= 1 else { return nil }
            let isLittleEndian = bytes[offset] == 1
            offset += 1
            guard let number = integer(isLittleEndian: isLittleEndian) else { return nil }
            var reference: Int32?
            if number & referenceFlag != 0 {
                guard let value = integer(isLittleEndian: isLittleEndian) else { return nil }
                reference = Int32(bitPattern: value)
            }
            let plain = number & ~(zFlag | mFlag | referenceFlag)
            let thousands = plain / 1_000
            guard thousands <= 3 else { return nil }
            return Head(
                isLittleEndian: isLittleEndian, kind: plain % 1_000,
                hasZ: number & zFlag != 0 || thousands == 1 || thousands == 3,
                hasM: number & mFlag != 0 || thousands >= 2, reference: reference)
        }

        mutating func integer(isLittleEndian: Bool) -> UInt32? {
            guard bytes.count - offset >= 4 else { return nil }
            let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            offset += 4
            return isLittleEndian ? UInt32(littleEndian: value) : UInt32(bigEndian: value)
        }

        mutating func copy(_ count: Int, to result: inout [UInt8]) -> Bool {
            guard count >= 0, bytes.count - offset >= count else { return false }
            result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            offset += count
            return true
        }
    }
}
