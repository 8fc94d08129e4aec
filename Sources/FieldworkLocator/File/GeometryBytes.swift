/// Lines in GeoPackage's binary form, degrees of WGS 84, little-endian and without an envelope: a locator that is being made keeps
/// them so in its working file, exactly.
enum GeometryBytes {
    /// `GP`, version 0, little-endian without envelope, reference 4326.
    private static let header: [UInt8] = [0x47, 0x50, 0, 1, 0xE6, 0x10, 0, 0]
    /// Where the number of points stands.
    private static let countStart = 13

    static func line(_ coordinates: [Double]) -> [UInt8] {
        var bytes = header
        append(kind: 2, to: &bytes)
        append(UInt32(coordinates.count / 2), to: &bytes)
        for value in coordinates { append(value, to: &bytes) }
        return bytes
    }

    /// The coordinates of a line, x and y in turn.
    static func readLine(_ bytes: UnsafeRawBufferPointer) -> [Double] {
        guard bytes.count >= countStart + 4 else { return [] }
        return coordinates(bytes, countStart)?.values ?? []
    }

    private static func coordinates(
        _ bytes: UnsafeRawBufferPointer, _ position: Int
    ) -> (values: [Double], end: Int)? {
        guard bytes.count >= position + 4 else { return nil }
        let count = 2 * Int(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        let start = position + 4
        guard count <= (bytes.count - start) / 8 else { return nil }
        let values = [Double](unsafeUninitializedCapacity: count) { buffer, filled in
            for index in 0..<count { buffer.initializeElement(at: index, to: double(bytes, start + 8 * index)) }
            filled = count
        }
        return (values, start + 8 * count)
    }

    private static func double(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Double {
        Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    private static func append(kind: UInt32, to bytes: inout [UInt8]) {
        bytes.append(1)
        append(kind, to: &bytes)
    }

    private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func append(_ value: Double, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
