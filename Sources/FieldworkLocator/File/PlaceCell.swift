/// Numbers the places of the earth so that near places have near numbers (a Z-order curve): what stands together in a row of the
/// file lies together.
enum PlaceCell {
    /// Bits of an axis: a cell is about 10 metres wide at the equator and 5 metres high.
    private static let bits: UInt64 = 22

    private static func column(_ x: Double) -> UInt64 { clamp((x + 180) / 360) }
    private static func row(_ y: Double) -> UInt64 { clamp((y + 90) / 180) }

    private static func clamp(_ share: Double) -> UInt64 {
        guard share > 0 else { return 0 }
        return min(UInt64(share * Double(1 << bits)), (1 << bits) - 1)
    }

    /// The bits of a number, each with a gap behind it.
    private static func spread(_ value: UInt64) -> UInt64 {
        var value = value & 0xFFFF_FFFF
        value = (value | value << 16) & 0x0000_FFFF_0000_FFFF
        value = (value | value << 8) & 0x00FF_00FF_00FF_00FF
        value = (value | value << 4) & 0x0F0F_0F0F_0F0F_0F0F
        value = (value | value << 2) & 0x3333_3333_3333_3333
        return (value | value << 1) & 0x5555_5555_5555_5555
    }

    /// The number of the cell of a place.
    static func number(x: Double, y: Double) -> Int64 { Int64(spread(column(x)) | spread(row(y)) << 1) }
}
