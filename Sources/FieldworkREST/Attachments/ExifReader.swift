package import FieldworkGeometry

/// Values of one directory of a photo, as the protocol groups them.
package struct ExifGroup: Sendable, Hashable {
    package struct Tag: Sendable, Hashable {
        package var name: String
        /// For people.
        package var description: String
        package var value: JSONValue

        package init(name: String, description: String, value: JSONValue) {
            self.name = name
            self.description = description
            self.value = value
        }
    }

    package var name: String
    package var tags: [Tag]

    package init(name: String, tags: [Tag]) {
        self.name = name
        self.tags = tags
    }
}

/// Reads what a JPEG photo says of itself (Exif 2.3): orientation, camera, moment, place. Photos come from anybody: every
/// offset is checked, no directory is read twice, and nothing is allocated by what the file says of its lengths.
package struct ExifReader {
    private let bytes: ArraySlice<UInt8>
    private let isLittleEndian: Bool
    private var tagsLeft = Limits.exifTags

    /// - Parameter start: the first bytes of a file. Anything but a JPEG with Exif data gives nothing.
    package static func groups(in start: [UInt8]) -> [ExifGroup] {
        guard let block = exifBlock(of: start), var reader = ExifReader(block) else { return [] }
        return reader.groups()
    }

    /// Walks the segments of a JPEG up to the picture itself.
    private static func exifBlock(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var position = 2
        while position + 4 <= bytes.count, bytes[position] == 0xFF {
            let marker = bytes[position + 1]
            // The scan: no more segments of this kind.
            if marker == 0xDA || marker == 0xD9 { return nil }
            let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
            let end = position + 2 + length
            guard length >= 2, end <= bytes.count else { return nil }
            if marker == 0xE1, bytes[(position + 4)..<end].starts(with: Array("Exif\0\0".utf8)) {
                return bytes[(position + 10)..<end]
            }
            position = end
        }
        return nil
    }

    private init?(_ block: ArraySlice<UInt8>) {
        bytes = block
        if block.starts(with: [0x49, 0x49, 0x2A, 0x00]) {
            isLittleEndian = true
        } else if block.starts(with: [0x4D, 0x4D, 0x00, 0x2A]) {
            isLittleEndian = false
        } else {
            return nil
        }
    }

    // MARK: Numbers, counted from the block's begin

    private func byte(_ offset: Int) -> UInt8? {
        guard offset >= 0, offset < bytes.count else { return nil }
        return bytes[bytes.startIndex + offset]
    }

    private func number(_ offset: Int, _ length: Int) -> Int? {
        guard offset >= 0, offset + length <= bytes.count else { return nil }
        var value = 0
        for index in 0..<length {
            let at = bytes.startIndex + offset + (isLittleEndian ? length - 1 - index : index)
            value = value << 8 | Int(bytes[at])
        }
        return value
    }

    // MARK: Directories

    private mutating func groups() -> [ExifGroup] {
        guard let first = number(4, 4) else { return [] }
        let main = entries(at: first)
        var groups = [ExifGroup(name: "Exif IFD0", tags: tags(main, ExifNames.main))]
        if let offset = pointer(main[ExifNames.exifDirectory]) {
            groups.append(ExifGroup(name: "Exif SubIFD", tags: tags(entries(at: offset), ExifNames.exif)))
        }
        if let offset = pointer(main[ExifNames.placeDirectory]) {
            groups.append(ExifGroup(name: "GPS", tags: place(entries(at: offset))))
        }
        return groups.filter { !$0.tags.isEmpty }
    }

    private struct Entry {
        var type: Int
        var count: Int
        /// Where the value lies.
        var offset: Int
    }

    private mutating func entries(at offset: Int) -> [Int: Entry] {
        var entries: [Int: Entry] = [:]
        guard let count = number(offset, 2) else { return [:] }
        for index in 0..<count {
            let position = offset + 2 + index * 12
            guard tagsLeft > 0, let tag = number(position, 2), let type = number(position + 2, 2),
                let count = number(position + 4, 4), let place = number(position + 8, 4)
            else { break }
            tagsLeft -= 1
            let size = Self.size(ofType: type) * count
            guard size > 0 else { continue }
            entries[tag] = Entry(type: type, count: count, offset: size <= 4 ? position + 8 : place)
        }
        return entries
    }

    private static func size(ofType type: Int) -> Int {
        switch type {
        case 1, 2, 6, 7: 1
        case 3, 8: 2
        case 4, 9: 4
        case 5, 10: 8
        default: 0
        }
    }

    private func pointer(_ entry: Entry?) -> Int? {
        guard let entry, entry.type == 4, entry.count == 1 else { return nil }
        return number(entry.offset, 4)
    }

    // MARK: Values

    private func tags(_ entries: [Int: Entry], _ names: KeyValuePairs<Int, String>) -> [ExifGroup.Tag] {
        names.compactMap { tag, name in
            guard let entry = entries[tag], let value = value(entry) else { return nil }
            let description =
                tag == ExifNames.orientation ? ExifNames.orientations[Int(value.integerValue ?? 0)] : nil
            return ExifGroup.Tag(name: name, description: description ?? text(of: value), value: value)
        }
    }

    private func text(of value: JSONValue) -> String { value.stringValue ?? value.text }

    private func value(_ entry: Entry) -> JSONValue? {
        switch entry.type {
        case 2: return text(entry).map(JSONValue.string)
        case 3, 4: return number(entry.offset, Self.size(ofType: entry.type)).map { .integer(Int64($0)) }
        case 5, 10: return fraction(entry.offset, isSigned: entry.type == 10).map(JSONValue.number)
        default: return nil
        }
    }

    private func text(_ entry: Entry) -> String? {
        var characters: [UInt8] = []
        for index in 0..<min(entry.count, Self.textLength) {
            guard let byte = byte(entry.offset + index), byte != 0 else { break }
            characters.append(byte)
        }
        guard let text = String(validating: characters, as: UTF8.self) else { return nil }
        return String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
    }

    private static let textLength = 256

    private func fraction(_ offset: Int, isSigned: Bool) -> Double? {
        guard let above = number(offset, 4), let below = number(offset + 4, 4), below != 0 else { return nil }
        guard isSigned else { return Double(above) / Double(below) }
        return Double(Int32(truncatingIfNeeded: above)) / Double(Int32(truncatingIfNeeded: below))
    }

    // MARK: The place

    private func place(_ entries: [Int: Entry]) -> [ExifGroup.Tag] {
        var tags: [ExifGroup.Tag] = []
        for (name, reference, position, negative) in [
            ("GPS Latitude", 1, 2, "S"), ("GPS Longitude", 3, 4, "W"),
        ] {
            guard let degrees = degrees(entries[position]) else { continue }
            let isNegative = entries[reference].flatMap(text)?.uppercased() == negative
            let value = isNegative ? -degrees : degrees
            tags.append(ExifGroup.Tag(name: name, description: JSONValue.number(value).text, value: .number(value)))
        }
        if let entry = entries[6], let height = fraction(entry.offset, isSigned: false) {
            let isBelowSea = entries[5].flatMap { byte($0.offset) } == 1
            let value = isBelowSea ? -height : height
            tags.append(
                ExifGroup.Tag(
                    name: "GPS Altitude", description: "\(JSONValue.number(value).text) metres", value: .number(value)))
        }
        if let entry = entries[17], let direction = fraction(entry.offset, isSigned: false) {
            tags.append(
                ExifGroup.Tag(
                    name: "GPS Img Direction", description: "\(JSONValue.number(direction).text) degrees",
                    value: .number(direction)))
        }
        if let date = entries[29].flatMap(text) {
            tags.append(ExifGroup.Tag(name: "GPS Date Stamp", description: date, value: .string(date)))
        }
        return tags
    }

    /// Degrees, minutes and seconds as one number.
    private func degrees(_ entry: Entry?) -> Double? {
        guard let entry, entry.type == 5, entry.count == 3 else { return nil }
        let parts = (0..<3).compactMap { fraction(entry.offset + $0 * 8, isSigned: false) }
        guard parts.count == 3 else { return nil }
        return parts[0] + parts[1] / 60 + parts[2] / 3_600
    }
}

/// The numbers and names of what is read of a photo.
private enum ExifNames {
    static let orientation = 0x0112
    static let exifDirectory = 0x8769
    static let placeDirectory = 0x8825

    static let main: KeyValuePairs<Int, String> = [
        0x010E: "Image Description", 0x010F: "Make", 0x0110: "Model", orientation: "Orientation", 0x0131: "Software",
        0x0132: "Date/Time", 0x013B: "Artist", 0x8298: "Copyright",
    ]
    static let exif: KeyValuePairs<Int, String> = [
        0x829A: "Exposure Time", 0x829D: "F-Number", 0x8827: "ISO Speed Ratings", 0x9003: "Date/Time Original",
        0x9004: "Date/Time Digitized", 0x9010: "Time Zone", 0x9011: "Time Zone Original", 0x920A: "Focal Length",
        0xA002: "Exif Image Width", 0xA003: "Exif Image Height",
    ]
    static let orientations: [Int: String] = [
        1: "Top, left side (Horizontal / normal)", 2: "Top, right side (Mirror horizontal)",
        3: "Bottom, right side (Rotate 180)", 4: "Bottom, left side (Mirror vertical)",
        5: "Left side, top (Mirror horizontal and rotate 270 CW)", 6: "Right side, top (Rotate 90 CW)",
        7: "Right side, bottom (Mirror horizontal and rotate 90 CW)", 8: "Left side, bottom (Rotate 270 CW)",
    ]
}
