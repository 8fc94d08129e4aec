extension PNGImage {
    /// The pixels of a small picture: row by row from the top, four bytes each; opacity is not multiplied into the colours.
    package struct Pixels: Sendable {
        package let width: Int
        package let height: Int
        package let bytes: [UInt8]
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Reads a picture (RFC 2083) of at most `Limits.pictureEdge` pixels across and down; nil for what is no PNG, and for the
    /// forms that small pictures don't come in: interlaced, or with sixteen bits a colour.
    package static func decoded(_ file: [UInt8]) -> Pixels? {
        guard file.starts(with: signature) else { return nil }
        var (head, palette, alphas, packed): (Head?, [UInt8], [UInt8], [UInt8]) = (nil, [], [], [])
        var place = signature.count
        while place + 12 <= file.count {
            let length = number(file, place)
            let start = place + 8
            guard length <= file.count - start - 4 else { return nil }
            let content = Array(file[start..<start + length])
            switch String(decoding: file[place + 4..<start], as: UTF8.self) {
            case "IHDR": head = Head(content)
            case "PLTE": palette = content
            case "tRNS": alphas = content
            case "IDAT": packed += content
            default: break
            }
            place = start + length + 4
        }
        guard let head,
            let rows = try? GzipReader.expanded(packed, maximum: (head.rowBytes + 1) * head.height, format: .zlib),
            let plain = unfiltered(rows, head)
        else { return nil }
        return head.pixels(plain, palette: palette, alphas: alphas)
    }

    fileprivate static func number(_ bytes: [UInt8], _ place: Int) -> Int {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Each row begins with the way in which its bytes were set against those to their left and above.
    private static func unfiltered(_ rows: [UInt8], _ head: Head) -> [UInt8]? {
        let (width, step) = (head.rowBytes, max(1, head.bitsPerPixel / 8))
        guard rows.count == (width + 1) * head.height else { return nil }
        var plain = [UInt8](repeating: 0, count: width * head.height)
        for row in 0..<head.height {
            let filter = rows[row * (width + 1)]
            for column in 0..<width {
                let index = row * width + column
                let left = column >= step ? Int(plain[index - step]) : 0
                let up = row > 0 ? Int(plain[index - width]) : 0
                let corner = row > 0 && column >= step ? Int(plain[index - width - step]) : 0
                let expected: Int
                switch filter {
                case 0: expected = 0
                case 1: expected = left
                case 2: expected = up
                case 3: expected = (left + up) / 2
                case 4: expected = nearest(left, up, corner)
                default: return nil
                }
                plain[index] = rows[row * (width + 1) + 1 + column] &+ UInt8(truncatingIfNeeded: expected)
            }
        }
        return plain
    }

    /// The filter that is named after Paeth.
    private static func nearest(_ left: Int, _ up: Int, _ corner: Int) -> Int {
        let guess = left + up - corner
        let (a, b, c) = (abs(guess - left), abs(guess - up), abs(guess - corner))
        return a <= b && a <= c ? left : b <= c ? up : corner
    }

    private struct Head {
        enum Colors: UInt8 {
            case gray = 0
            case colors = 2
            case palette = 3
            case grayAndAlpha = 4
            case colorsAndAlpha = 6

            var channels: Int {
                switch self {
                case .gray, .palette: 1
                case .grayAndAlpha: 2
                case .colors: 3
                case .colorsAndAlpha: 4
                }
            }
        }

        let width: Int
        let height: Int
        let depth: Int
        let colors: Colors

        init?(_ content: [UInt8]) {
            guard content.count == 13, let colors = Colors(rawValue: content[9]), content[12] == 0 else { return nil }
            (width, height, depth) = (number(content, 0), number(content, 4), Int(content[8]))
            self.colors = colors
            let isSmall = [1, 2, 4].contains(depth) && (colors == .gray || colors == .palette)
            guard depth == 8 || isSmall, (1...Limits.pictureEdge).contains(width),
                (1...Limits.pictureEdge).contains(height)
            else { return nil }
        }

        var bitsPerPixel: Int { depth * colors.channels }
        var rowBytes: Int { (width * bitsPerPixel + 7) / 8 }

        func pixels(_ plain: [UInt8], palette: [UInt8], alphas: [UInt8]) -> Pixels? {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(width * height * 4)
            for row in 0..<height {
                for column in 0..<width {
                    func value(_ channel: Int) -> UInt8 {
                        let bit = column * bitsPerPixel + channel * depth
                        let byte = plain[row * rowBytes + bit / 8]
                        return depth == 8 ? byte : byte >> UInt8(8 - depth - bit % 8) & UInt8((1 << depth) - 1)
                    }
                    switch colors {
                    case .gray:
                        let gray = UInt8(Int(value(0)) * 255 / ((1 << depth) - 1))
                        let isClear = alphas.count == 2 && alphas[1] == value(0)
                        bytes += [gray, gray, gray, isClear ? 0 : 255]
                    case .grayAndAlpha: bytes += [value(0), value(0), value(0), value(1)]
                    case .colors: bytes += [value(0), value(1), value(2), 255]
                    case .colorsAndAlpha: bytes += [value(0), value(1), value(2), value(3)]
                    case .palette:
                        let index = Int(value(0))
                        guard index * 3 + 2 < palette.count else { return nil }
                        bytes += palette[index * 3..<index * 3 + 3]
                        bytes.append(index < alphas.count ? alphas[index] : 255)
                    }
                }
            }
            return Pixels(width: width, height: height, bytes: bytes)
        }
    }
}
