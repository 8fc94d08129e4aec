import FieldworkJPEG
import Foundation

/// Makes JPEG pictures smaller, with libjpeg-turbo: upright, at most so many pixels long. Its memory is bounded by the size
/// that is asked for, not by that of the picture: the library leaves out pixels while it decodes.
enum PhotoScaler {
    /// Width and height as they are stored.
    struct Size: Sendable, Equatable {
        var width: Int
        var height: Int
        var longerEdge: Int { max(width, height) }
        var ofImage: JPEGImage.Size { JPEGImage.Size(width: width, height: height) }
    }

    /// Pixels of three bytes, rows from the top.
    private struct Pixels {
        var size: Size
        var bytes: [UInt8]
    }

    /// How large a picture is; nil for one that can't be read.
    static func size(_ jpeg: Data) -> Size? {
        jpeg.withUnsafeBytes { JPEGImage.size($0) }.map { Size(width: $0.width, height: $0.height) }
    }

    /// A copy whose longer edge has at most so many pixels.
    /// - Parameter keepsNotes: whether what the camera wrote beside the pixels stays, the place included.
    /// - Returns: nil where the picture isn't larger or can't be read; then it stays what it is.
    static func scaled(_ jpeg: Data, longerEdge: Int, keepsNotes: Bool) -> Data? {
        guard let size = size(jpeg), size.longerEdge > longerEdge, longerEdge > 0,
            size.width * size.height <= Limits.photoPixels, let decoded = decode(jpeg, size, atLeast: longerEdge)
        else { return nil }
        let ratio = Double(longerEdge) / Double(size.longerEdge)
        let wanted = Size(
            width: max(1, Int((Double(size.width) * ratio).rounded())),
            height: max(1, Int((Double(size.height) * ratio).rounded())))
        let notes = PhotoNotes(jpeg)
        let upright = turned(shrunk(decoded, to: wanted), orientation: notes.orientation)
        guard let encoded = encode(upright) else { return nil }
        guard keepsNotes else { return encoded }
        let kept = notes.uprightSegments(of: jpeg)
        // After the marker that begins the picture.
        return kept.isEmpty ? encoded : encoded.prefix(2) + kept + encoded.dropFirst(2)
    }

    // MARK: Decoding

    /// Decodes at the smallest of the library's eighths that is not smaller than what is wanted.
    private static func decode(_ jpeg: Data, _ full: Size, atLeast edge: Int) -> Pixels? {
        let eighths = (1...8).first { (full.longerEdge * $0 + 7) / 8 >= edge } ?? 8
        let size = Size(width: (full.width * eighths + 7) / 8, height: (full.height * eighths + 7) / 8)
        // A warning, as for a cut picture, leaves pixels as far as they go; then the original is kept.
        let pixels = jpeg.withUnsafeBytes { JPEGImage.decoded($0, size: size.ofImage, as: .rgb) }
        return pixels.map { Pixels(size: size, bytes: $0) }
    }

    // MARK: Pixels

    /// Each pixel is the mean of those that it stands for.
    private static func shrunk(_ source: Pixels, to wanted: Size) -> Pixels {
        guard source.size != wanted else { return source }
        let columns = spans(from: source.size.width, to: wanted.width)
        let rows = spans(from: source.size.height, to: wanted.height)
        var result = [UInt8](repeating: 0, count: wanted.width * wanted.height * 3)
        source.bytes.withUnsafeBufferPointer { bytes in
            for (y, row) in rows.enumerated() {
                for (x, column) in columns.enumerated() {
                    var (red, green, blue) = (0, 0, 0)
                    for sourceY in row {
                        var at = (sourceY * source.size.width + column.lowerBound) * 3
                        for _ in column {
                            red += Int(bytes[at])
                            green += Int(bytes[at + 1])
                            blue += Int(bytes[at + 2])
                            at += 3
                        }
                    }
                    let count = row.count * column.count
                    let to = (y * wanted.width + x) * 3
                    result[to] = UInt8(red / count)
                    result[to + 1] = UInt8(green / count)
                    result[to + 2] = UInt8(blue / count)
                }
            }
        }
        return Pixels(size: wanted, bytes: result)
    }

    private static func spans(from source: Int, to wanted: Int) -> [Range<Int>] {
        (0..<wanted).map { index in
            let start = min(index * source / wanted, source - 1)
            return start..<max(start + 1, min((index + 1) * source / wanted, source))
        }
    }

    /// Turns and mirrors the pixels so that the picture is upright without a note.
    private static func turned(_ source: Pixels, orientation: Int) -> Pixels {
        guard (2...8).contains(orientation) else { return source }
        let swaps = orientation >= 5
        let (width, height) = (source.size.width, source.size.height)
        let size = swaps ? Size(width: height, height: width) : source.size
        var result = [UInt8](repeating: 0, count: source.bytes.count)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (fromX, fromY) =
                    switch orientation {
                    case 2: (width - 1 - x, y)
                    case 3: (width - 1 - x, height - 1 - y)
                    case 4: (x, height - 1 - y)
                    case 5: (y, x)
                    case 6: (y, height - 1 - x)
                    case 7: (width - 1 - y, height - 1 - x)
                    default: (width - 1 - y, x)
                    }
                let (from, to) = ((fromY * width + fromX) * 3, (y * size.width + x) * 3)
                for channel in 0..<3 { result[to + channel] = source.bytes[from + channel] }
            }
        }
        return Pixels(size: size, bytes: result)
    }

    private static func encode(_ pixels: Pixels) -> Data? {
        let bytes = pixels.bytes.withUnsafeBytes {
            JPEGImage.encoded($0, size: pixels.size.ofImage, as: .rgb, quality: Limits.photoQuality)
        }
        return bytes.map { Data($0) }
    }
}
