import Testing

@testable import FieldworkDrawing

@Suite("Pictures of markers")
struct StampPixelsTests {
    /// Multiplied colours over others, each part as the definition says it.
    private static func over(_ pixel: UInt32, _ below: UInt32) -> UInt32 {
        let clear = Double(255 - pixel >> 24) / 255
        return [24, 16, 8, 0].reduce(0) { result, shift in
            let (upper, lower) = (Double(pixel >> shift & 255), Double(below >> shift & 255))
            return result << 8 | UInt32(upper + (lower * clear).rounded())
        }
    }

    /// A multiplied pixel.
    private static func pixel(_ alpha: Int, _ number: Int) -> UInt32 {
        let parts = [number, number / 3, number / 7].map { UInt32($0 % (alpha + 1)) }
        return UInt32(alpha) << 24 | parts[0] << 16 | parts[1] << 8 | parts[2]
    }

    private static func drawn(_ stamp: StampPixels, on image: [UInt32], width: Int, left: Int, top: Int) -> [UInt32] {
        var image = image
        image.withUnsafeMutableBufferPointer { stamp.draw(on: $0, width: width, left: left, top: top) }
        return image
    }

    @Test("Each opacity over each other is as the definition says it")
    func over() {
        var wrong = 0
        for upper in 0...255 {
            let stamp = StampPixels([Self.pixel(upper, upper * 31 + 5)], side: 1)
            let image = (0...255).map { Self.pixel($0, $0 * 17 + upper) }
            for index in image.indices {
                let result = Self.drawn(stamp, on: image, width: 256, left: index, top: 0)[index]
                if result != Self.over(Self.pixel(upper, upper * 31 + 5), image[index]) { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test("A picture is drawn at its place, cut at the edges, and nothing beyond them")
    func edges() {
        // A row with what is clear at both ends, one with a gap, one that is clear, and one that is opaque.
        let rows: [[UInt32]] = [
            [0, 0x8040_2010, 0xFF00_00FF, 0], [0xFFFF_0000, 0, 0xFF00_FF00, 0x1000_0010], [0, 0, 0, 0],
            [0xFF01_0203, 0xFF04_0506, 0xFF07_0809, 0xFF0A_0B0C],
        ]
        let stamp = StampPixels(rows.flatMap { $0 }, side: 4)
        let (width, height) = (6, 5)
        let image = (0..<width * height).map { Self.pixel(255, $0 * 91) }
        for top in -5...6 {
            for left in -5...7 {
                var expected = image
                for row in 0..<4 where (0..<height).contains(top + row) {
                    for column in 0..<4 where (0..<width).contains(left + column) {
                        let place = (top + row) * width + left + column
                        expected[place] = Self.over(rows[row][column], image[place])
                    }
                }
                #expect(Self.drawn(stamp, on: image, width: width, left: left, top: top) == expected, "\(left), \(top)")
            }
        }
    }
}
