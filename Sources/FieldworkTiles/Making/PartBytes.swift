import FieldworkREST

/// The form in which a feature's part in one tile waits for its tile: tags, kind, and the places of its parts.
enum PartBytes {
    static func append(_ tags: [UInt8], _ kind: VectorLayer.Kind, to bytes: inout [UInt8]) {
        ProtobufBytes.varint(UInt64(tags.count), to: &bytes)
        bytes += tags
        bytes.append(UInt8(kind.rawValue))
    }

    static func append(_ part: TilePart, isShell: Bool, to bytes: inout [UInt8]) {
        ProtobufBytes.varint(UInt64(part.places.count) << 1 | (isShell ? 1 : 0), to: &bytes)
        var last: (x: Int32, y: Int32) = (0, 0)
        for place in part.places {
            ProtobufBytes.varint(ProtobufBytes.zigZag(Int64(place.x &- last.x)), to: &bytes)
            ProtobufBytes.varint(ProtobufBytes.zigZag(Int64(place.y &- last.y)), to: &bytes)
            last = place
        }
    }

    /// The attributes that a level has.
    static func tags(_ tags: [MapFeature.Tag], level: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for tag in tags where tag.level <= level {
            text(tag.key, to: &bytes)
            switch tag.value {
            case .text(let value):
                bytes.append(0)
                text(value, to: &bytes)
            case .integer(let value):
                bytes.append(1)
                ProtobufBytes.varint(ProtobufBytes.zigZag(value), to: &bytes)
            case .real(let value):
                bytes.append(2)
                ProtobufBytes.varint(value.bitPattern, to: &bytes)
            }
        }
        return bytes
    }

    private static func text(_ text: String, to bytes: inout [UInt8]) {
        ProtobufBytes.varint(UInt64(text.utf8.count), to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    /// What a record holds.
    struct Content {
        var tags: ArraySlice<UInt8>
        var kind: VectorLayer.Kind
        var parts: [(part: TilePart, isShell: Bool)]
    }

    static func read(_ bytes: [UInt8]) throws -> Content {
        try bytes.withUnsafeBytes { raw in
            var reader = ProtocolBufferReader(raw)
            let count = Int(try reader.varint())
            let start = ProtobufBytes.varintLength(UInt64(count))
            guard start + count < bytes.count, let kind = VectorLayer.Kind(rawValue: UInt64(bytes[start + count]))
            else {
                throw TileError(.broken, "A part of a feature breaks off.")
            }
            reader = ProtocolBufferReader(UnsafeRawBufferPointer(rebasing: raw[(start + count + 1)...]))
            var content = Content(tags: bytes[start..<start + count], kind: kind, parts: [])
            while !reader.isAtEnd {
                let head = try reader.varint()
                var part = TilePart()
                part.places.reserveCapacity(Int(head >> 1))
                var last: (x: Int32, y: Int32) = (0, 0)
                for _ in 0..<(head >> 1) {
                    last.x &+= Int32(truncatingIfNeeded: try reader.zigzag())
                    last.y &+= Int32(truncatingIfNeeded: try reader.zigzag())
                    part.places.append(last)
                }
                content.parts.append((part, head & 1 == 1))
            }
            return content
        }
    }

    static func readTags(_ bytes: ArraySlice<UInt8>) throws -> [(key: String, value: VectorLayer.Value)] {
        try bytes.withUnsafeBytes { raw in
            var tags: [(key: String, value: VectorLayer.Value)] = []
            var place = 0
            func varint() throws -> UInt64 {
                var reader = ProtocolBufferReader(UnsafeRawBufferPointer(rebasing: raw[place...]))
                let value = try reader.varint()
                place += ProtobufBytes.varintLength(value)
                return value
            }
            func text() throws -> String {
                let count = Int(try varint())
                defer { place += count }
                return String(decoding: raw[place..<place + count], as: UTF8.self)
            }
            while place < raw.count {
                let key = try text()
                let type = raw[place]
                place += 1
                switch type {
                case 0: tags.append((key, .text(try text())))
                case 1:
                    let value = try varint()
                    tags.append((key, .integer(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))))
                default: tags.append((key, .real(Double(bitPattern: try varint()))))
                }
            }
            return tags
        }
    }
}
