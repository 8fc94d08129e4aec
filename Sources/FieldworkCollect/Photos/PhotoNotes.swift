import Foundation

/// What a camera writes beside a picture's pixels (Exif 2.32, in the APP1 segment of a JPEG): which side is up, and where it
/// was taken. Reads no further than it must, and never beyond the bytes.
struct PhotoNotes: Sendable, Equatable {
    /// 1 to 8, as Exif numbers them; 1 is upright.
    private(set) var orientation = 1
    /// Whether it says where it was taken.
    private(set) var hasPlace = false
    /// The segment, from its marker on, within the file.
    private(set) var segments: [Range<Int>] = []
    /// Where in the file the orientation stands, and whether its first byte is the low one.
    private var orientationSpot: (offset: Int, isLittle: Bool)?

    static func == (one: PhotoNotes, other: PhotoNotes) -> Bool {
        one.orientation == other.orientation && one.hasPlace == other.hasPlace && one.segments == other.segments
    }

    private static let mark = Array("Exif\0\0".utf8)
    private static let orientationTag = 0x0112
    private static let placeTag = 0x8825

    init(_ jpeg: Data) {
        let bytes = [UInt8](jpeg.prefix(Limits.photoNoteBytes))
        var offset = 2
        while offset + 4 <= bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] != 0xDA {
            let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            let end = offset + 2 + length
            guard length >= 2, end <= bytes.count else { return }
            let body = offset + 4
            // Notes are in APP1, those of Adobe too, which repeat the place.
            if bytes[offset + 1] == 0xE1 {
                segments.append(offset..<end)
                if bytes[body..<end].starts(with: Self.mark) {
                    read(bytes, start: body + Self.mark.count, end: end)
                } else if String(decoding: bytes[body..<end], as: UTF8.self).contains("GPSLatitude") {
                    hasPlace = true
                }
            }
            offset = end
        }
    }

    private mutating func read(_ bytes: [UInt8], start: Int, end: Int) {
        guard start + 8 <= end else { return }
        let isLittle = bytes[start] == 0x49
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= start, offset + count <= end else { return nil }
            let own = bytes[offset..<offset + count]
            return (isLittle ? Array(own.reversed()) : Array(own)).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(start + 4, 4), let count = number(start + directory, 2) else { return }
        for index in 0..<min(count, 512) {
            let entry = start + directory + 2 + index * 12
            guard let tag = number(entry, 2) else { return }
            if tag == Self.placeTag { hasPlace = true }
            if tag == Self.orientationTag, let value = number(entry + 8, 2), (1...8).contains(value) {
                orientation = value
                orientationSpot = (entry + 8, isLittle)
            }
        }
    }

    /// The notes for a copy whose pixels were turned upright; nothing where there are none.
    func uprightSegments(of jpeg: Data) -> Data {
        var result = Data()
        let bytes = [UInt8](jpeg.prefix(Limits.photoNoteBytes))
        for segment in segments {
            var copy = Array(bytes[segment])
            if let spot = orientationSpot, segment.contains(spot.offset) {
                copy[spot.offset - segment.lowerBound] = spot.isLittle ? 1 : 0
                copy[spot.offset - segment.lowerBound + 1] = spot.isLittle ? 0 : 1
            }
            result.append(contentsOf: copy)
        }
        return result
    }

    /// The picture without its notes, but for the side that is up. Its pixels stay as they are, byte for byte.
    func withoutPlace(_ jpeg: Data) -> Data {
        var result = Data([0xFF, 0xD8])
        if orientation != 1 { result.append(Self.segment(orientation: orientation)) }
        var offset = 2
        for segment in segments {
            result.append(jpeg[jpeg.startIndex + offset..<jpeg.startIndex + segment.lowerBound])
            offset = segment.upperBound
        }
        result.append(jpeg[(jpeg.startIndex + offset)...])
        return result
    }

    /// The shortest notes that say which side is up.
    static func segment(orientation: Int) -> Data {
        var body = mark + Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1]
        body += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(clamping: orientation), 0, 0, 0, 0, 0, 0]
        let length = body.count + 2
        return Data([0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + body)
    }
}
