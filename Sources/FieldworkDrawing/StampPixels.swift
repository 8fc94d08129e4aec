/// The picture of a marker as pixels of cairo, and where each of its rows is drawn on.
///
/// A marker of ten pixels costs cairo more in what it does for each picture than in its pixels. So it is set here, with the numbers that
/// cairo would give.
struct StampPixels {
    private struct Row {
        /// From the first to the last pixel that is not clear.
        var drawn: Range<Int>
        /// Pixels among them that hide what is below.
        var opaque: Range<Int>
    }

    private let side: Int
    private let pixels: [UInt32]
    private let rows: [Row]

    /// - Parameter pixels: of a square, row by row: opacity first, the colours multiplied with it.
    init(_ pixels: [UInt32], side: Int) {
        (self.side, self.pixels) = (side, pixels)
        rows = (0..<side).map { row in
            let line = Array(pixels[row * side..<(row + 1) * side])
            guard let first = line.firstIndex(where: { $0 != 0 }), let last = line.lastIndex(where: { $0 != 0 }) else {
                return Row(drawn: 0..<0, opaque: 0..<0)
            }
            let start = line.firstIndex(where: Self.isOpaque) ?? first
            let end = start + line[start...].prefix(while: Self.isOpaque).count
            return Row(drawn: first..<last + 1, opaque: start..<end)
        }
    }

    private static func isOpaque(_ pixel: UInt32) -> Bool { pixel >> 24 == 255 }

    /// Sets the picture over what is drawn. What of it is beyond the image's edges is left out.
    /// - Parameters:
    ///   - image: row by row, as many as the width has.
    ///   - left, top: the place of the picture's first pixel, which may be beyond the edges.
    func draw(on image: UnsafeMutableBufferPointer<UInt32>, width: Int, left: Int, top: Int) {
        let height = width > 0 ? image.count / width : 0
        guard left < width, top < height, left > -side, top > -side else { return }
        let shown = max(0, -left)..<min(side, width - left)
        pixels.withUnsafeBufferPointer { pixels in
            guard let source = pixels.baseAddress, let target = image.baseAddress else { return }
            for row in max(0, -top)..<min(side, height - top) {
                let drawn = rows[row].drawn.clamped(to: shown)
                let opaque = rows[row].opaque.clamped(to: drawn)
                let (from, to) = (source + row * side, target + ((top + row) * width + left))
                for column in drawn.lowerBound..<opaque.lowerBound { Self.set(from[column], over: &to[column]) }
                (to + opaque.lowerBound).update(from: from + opaque.lowerBound, count: opaque.count)
                for column in opaque.upperBound..<drawn.upperBound { Self.set(from[column], over: &to[column]) }
            }
        }
    }

    /// Porter and Duff's *over* of multiplied colours, each product with the opacity rounded to the nearest.
    @inline(__always)
    private static func set(_ pixel: UInt32, over below: inout UInt32) {
        let clear = 255 &- pixel >> 24
        // Two of the four parts at a time: a product of two bytes has sixteen bits of room.
        let mask: UInt32 = 0x00FF_00FF
        var (even, odd) = ((below & mask) &* clear &+ 0x80_0080, (below >> 8 & mask) &* clear &+ 0x80_0080)
        even = ((even >> 8 & mask) &+ even) >> 8 & mask
        odd = ((odd >> 8 & mask) &+ odd) & ~mask
        below = pixel &+ (even | odd)
    }
}
