import FieldworkREST

/// One layer of a Mapbox vector tile (2.1) that is being written. Keys and values stand once each, and only those that a feature
/// of the layer has.
package struct VectorLayer: Sendable {
    package enum Kind: UInt64, Sendable {
        case point = 1
        case line = 2
        case polygon = 3
    }

    package enum Value: Hashable, Sendable {
        case text(String)
        case integer(Int64)
        case real(Double)
    }

    package static let extent = 4_096

    package let name: String
    private var ids: [Int64?] = []
    /// Kind and geometry of the features, as they stand in the tile.
    private var shapes: [UInt8] = []
    /// Where each feature ends in `shapes`.
    private var ends: [Int] = []
    /// The numbers of keys and values, in pairs, of all features.
    private var tags: [UInt32] = []
    /// Where each feature ends in `tags`.
    private var tagEnds: [Int] = []
    private var keys = EncodedPieces()
    private var values = EncodedPieces()
    /// The keys of the feature that was added last, and their numbers: the next one has the same in the same order, mostly.
    private var lastKeys: [(key: String, number: UInt32)] = []
    /// The attributes of the feature that is added next: their keys, and where each value ends in `notedValues`.
    private var noted: [(key: String, end: Int)] = []
    /// Values as they stand in the tile.
    private var notedValues: [UInt8] = []

    package init(name: String) { self.name = name }

    package var count: Int { ends.count }
    /// About what the layer takes.
    package var byteCount: Int { shapes.count + 2 * tags.count + 6 * ends.count + keys.byteCount + values.byteCount }

    /// Notes an attribute of the feature that is added next.
    package mutating func tag(_ key: String, _ value: Value) {
        Self.append(value, to: &notedValues)
        noted.append((key, notedValues.count))
    }

    /// The same of a text whose bytes are known to be UTF-8.
    package mutating func tag(_ key: String, text: UnsafeRawBufferPointer) {
        Self.append(text: text, to: &notedValues)
        noted.append((key, notedValues.count))
    }

    /// Adds a feature with the attributes that were noted. Without commands it is left out, and they are forgotten.
    package mutating func add(id: Int64?, kind: Kind, commands: [UInt32]) {
        defer { forgetTags() }
        guard !commands.isEmpty else { return }
        addTags()
        // JavaScript counts no further than 2^53.
        ids.append(id.flatMap { (0..<1 << 53).contains($0) ? $0 : nil })
        let length = commands.reduce(0) { $0 + ProtobufBytes.varintLength(UInt64($1)) }
        BytePlace.append(to: &shapes, most: 3 + BytePlace.longestVarint + length) { place in
            place.put(0x18, UInt8(truncatingIfNeeded: kind.rawValue))
            place.put(0x22)
            place.put(varint: UInt64(length))
            for command in commands { place.put(varint: UInt64(command)) }
        }
        ends.append(shapes.count)
    }

    private mutating func addTags() {
        // Taken out, so that they can be read while keys and values are added.
        var (noted, notedValues): ([(key: String, end: Int)], [UInt8]) = ([], [])
        swap(&noted, &self.noted)
        swap(&notedValues, &self.notedValues)
        notedValues.withUnsafeBytes { bytes in
            var start = 0
            for place in noted.indices {
                tags.append(number(of: noted[place].key, at: place))
                let end = noted[place].end
                tags.append(values.number(of: UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
                start = end
            }
        }
        swap(&noted, &self.noted)
        swap(&notedValues, &self.notedValues)
        tagEnds.append(tags.count)
    }

    private mutating func number(of key: String, at place: Int) -> UInt32 {
        if place < lastKeys.count, lastKeys[place].key == key {
            keys.use(lastKeys[place].number)
            return lastKeys[place].number
        }
        var piece: [UInt8] = []
        ProtobufBytes.delimited(key, field: 3, to: &piece)
        let number = piece.withUnsafeBytes { keys.number(of: $0) }
        if place < lastKeys.count {
            lastKeys[place] = (key, number)
        } else {
            lastKeys.append((key, number))
        }
        return number
    }

    /// A value as a message of its own, whose length stands before it; each field inside has a tag of one byte.
    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        func appendInteger(_ integer: UInt64, tag: UInt8) {
            BytePlace.append(to: &bytes, most: 3 + BytePlace.longestVarint) { place in
                place.put(0x22, UInt8(1 + ProtobufBytes.varintLength(integer)))
                place.put(tag)
                place.put(varint: integer)
            }
        }
        switch value {
        case .text(var text): text.withUTF8 { append(text: UnsafeRawBufferPointer($0), to: &bytes) }
        case .real(let real):
            BytePlace.append(to: &bytes, most: 11) { place in
                place.put(0x22, 0x09)
                place.put(0x19)
                place.put(word: real.bitPattern)
            }
        case .integer(let integer) where integer >= 0: appendInteger(UInt64(integer), tag: 0x28)
        case .integer(let integer): appendInteger(ProtobufBytes.zigZag(integer), tag: 0x30)
        }
    }

    private static func append(text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        let length = UInt64(text.count)
        BytePlace.append(to: &bytes, most: 2 + 2 * BytePlace.longestVarint + text.count) { place in
            place.put(0x22)
            place.put(varint: length + UInt64(1 + ProtobufBytes.varintLength(length)))
            place.put(tag: 0x0A, bytes: text)
        }
    }

    /// Forgets the attributes that were noted for a feature that is not added.
    package mutating func forgetTags() {
        noted.removeAll(keepingCapacity: true)
        notedValues.removeAll(keepingCapacity: true)
    }

    /// Keeps only the features at some places of the order in which they were added, and what they name.
    package mutating func keep(_ isKept: [Bool]) {
        var newIDs: [Int64?] = []
        var (newShapes, newEnds): ([UInt8], [Int]) = ([], [])
        var (newTags, newTagEnds): ([UInt32], [Int]) = ([], [])
        var (newKeys, newValues) = (EncodedPieces(), EncodedPieces())
        for index in ends.indices where index < isKept.count && isKept[index] {
            newShapes += shapes[Self.range(index, ends)]
            newEnds.append(newShapes.count)
            newIDs.append(ids[index])
            let range = Self.range(index, tagEnds)
            for place in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
                newTags.append(newKeys.take(tags[place], of: keys))
                newTags.append(newValues.take(tags[place + 1], of: values))
            }
            newTagEnds.append(newTags.count)
        }
        (ids, shapes, ends, tags, tagEnds) = (newIDs, newShapes, newEnds, newTags, newTagEnds)
        (keys, values, lastKeys) = (newKeys, newValues, [])
    }

    private static func range(_ index: Int, _ ends: [Int]) -> Range<Int> {
        (index > 0 ? ends[index - 1] : 0)..<ends[index]
    }

    /// About the bytes that go with one feature: its own, and those of values that no other has.
    package func size(_ index: Int) -> Int {
        let range = Self.range(index, tagEnds)
        var size = Self.range(index, ends).count + 2 * range.count + 6
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            size += values.ownSize(tags[place + 1])
        }
        return size
    }

    /// Appends the layer to a tile; nothing when it is empty, which the format forbids.
    package func append(to tile: inout [UInt8]) {
        guard !ends.isEmpty else { return }
        var head: [UInt8] = []
        ProtobufBytes.integer(2, field: 15, to: &head)
        ProtobufBytes.delimited(name, field: 1, to: &head)
        var foot: [UInt8] = []
        ProtobufBytes.integer(UInt64(Self.extent), field: 5, to: &foot)
        // Lengths stand before what they measure: they are reckoned first, so that all is written to its place at once.
        var lengths: [(tags: Int, feature: Int)] = []
        lengths.reserveCapacity(ends.count)
        var features = 0
        for index in ends.indices {
            let own = self.lengths(ofFeature: index)
            lengths.append(own)
            features += Self.delimitedLength(own.feature)
        }
        let length = head.count + features + keys.bytes.count + values.bytes.count + foot.count
        BytePlace.append(to: &tile, most: Self.delimitedLength(length)) { place in
            place.put(0x1A)
            place.put(varint: UInt64(length))
            place.put(bytes: head)
            for index in ends.indices { write(index, lengths[index], to: &place) }
            place.put(bytes: keys.bytes)
            place.put(bytes: values.bytes)
            place.put(bytes: foot)
        }
    }

    /// What something takes with a tag of one byte and its length before it.
    private static func delimitedLength(_ length: Int) -> Int {
        1 + ProtobufBytes.varintLength(UInt64(length)) + length
    }

    private func lengths(ofFeature index: Int) -> (tags: Int, feature: Int) {
        let tagLength = tags[Self.range(index, tagEnds)].reduce(0) { $0 + ProtobufBytes.varintLength(UInt64($1)) }
        var length = Self.range(index, ends).count
        if tagLength > 0 { length += Self.delimitedLength(tagLength) }
        if let id = ids[index] { length += 1 + ProtobufBytes.varintLength(UInt64(id)) }
        return (tagLength, length)
    }

    private func write(_ index: Int, _ lengths: (tags: Int, feature: Int), to place: inout BytePlace) {
        place.put(0x12)
        place.put(varint: UInt64(lengths.feature))
        if let id = ids[index] {
            place.put(0x08)
            place.put(varint: UInt64(id))
        }
        if lengths.tags > 0 {
            place.put(0x12)
            place.put(varint: UInt64(lengths.tags))
            for number in tags[Self.range(index, tagEnds)] { place.put(varint: UInt64(number)) }
        }
        shapes.withUnsafeBytes { place.put(bytes: UnsafeRawBufferPointer(rebasing: $0[Self.range(index, ends)])) }
    }
}
