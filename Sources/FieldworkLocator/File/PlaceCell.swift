/// Numbers the places of the earth so that near places have near numbers (a Z-order curve). Addresses and crossings have row
/// ids that begin with the number of their cell: a look at a small area reads a few ranges of a table in its own order, and no
/// further index is needed.
package enum PlaceCell {
    /// Bits of an axis: a cell is about 10 metres wide at the equator and 5 metres high.
    private static let bits: UInt64 = 22
    /// Bits of a row id for rows in the same cell.
    static let rowBits: Int64 = 12

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

    /// The first row id of a cell.
    static func firstRow(x: Double, y: Double) -> Int64 { number(x: x, y: y) << rowBits }

    /// Ranges of row ids that hold every place of a box: cells of one size, put together where they follow one another.
    static func ranges(xMin: Double, yMin: Double, xMax: Double, yMax: Double) -> [ClosedRange<Int64>] {
        let (left, right) = (column(xMin), column(xMax))
        let (bottom, top) = (row(yMin), row(yMax))
        // Cells so large that the box touches few of them.
        var shift: UInt64 = 0
        while (right >> shift) - (left >> shift) > 3 || (top >> shift) - (bottom >> shift) > 3 { shift += 1 }
        var starts: [Int64] = []
        for x in (left >> shift)...(right >> shift) {
            for y in (bottom >> shift)...(top >> shift) {
                starts.append(Int64((spread(x) | spread(y) << 1) << (2 * shift)))
            }
        }
        let size = Int64(1) << Int64(2 * shift)
        var ranges: [ClosedRange<Int64>] = []
        for start in starts.sorted() {
            let range = (start << rowBits)...(((start + size) << rowBits) - 1)
            if let last = ranges.last, last.upperBound + 1 == range.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound...range.upperBound
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }
}
