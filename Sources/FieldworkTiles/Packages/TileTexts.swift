import FieldworkREST

/// Which ranges of glyphs the texts of vector tiles need, so that a package takes those along and no others.
struct TileTexts {
    /// The first code points of the ranges. That of Latin letters is always among them.
    private(set) var ranges: Set<Int> = [0]

    /// Looks at the values of a tile's layers. What can't be read names nothing: the tile is drawn without it.
    mutating func add(_ tile: [UInt8]) {
        var bytes = tile
        if tile.starts(with: [0x1F, 0x8B]) {
            guard let expanded = try? GzipReader.expanded(tile, maximum: Limits.packagePieceBytes) else { return }
            bytes = expanded
        }
        let found = bytes.withUnsafeBytes { bytes -> Set<Int> in (try? Self.ranges(bytes)) ?? [] }
        ranges.formUnion(found)
    }

    private static func ranges(_ tile: UnsafeRawBufferPointer) throws -> Set<Int> {
        var found = Set<Int>()
        var layers = ProtocolBufferReader(tile)
        while let (field, value) = try layers.next() {
            guard field == 3, case .bytes(let layer) = value else { continue }
            var members = ProtocolBufferReader(layer)
            while let (field, value) = try members.next() {
                guard field == 4, case .bytes(let message) = value else { continue }
                var reader = ProtocolBufferReader(message)
                guard case (1, .bytes(let text))? = try reader.next() else { continue }
                // Plain Latin needs no look at its characters.
                guard text.contains(where: { $0 >= 0x80 }) else { continue }
                for scalar in String(decoding: text, as: UTF8.self).unicodeScalars where scalar.value < 65_536 {
                    found.insert(Int(scalar.value) / Limits.glyphRange * Limits.glyphRange)
                }
            }
        }
        return found
    }
}
