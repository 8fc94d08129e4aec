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
    /// The attributes of the feature that is added next.
    private var noted: [(key: String, value: Value)] = []

    package init(name: String) { self.name = name }

    package var count: Int { ends.count }
    /// About what the layer takes.
    package var byteCount: Int { shapes.count + 2 * tags.count + 6 * ends.count + keys.byteCount + values.byteCount }

    /// Notes an attribute of the feature that is added next.
    package mutating func tag(_ key: String, _ value: Value) { noted.append((key, value)) }

    /// Adds a feature with the attributes that were noted. Without commands it is left out, and they are forgotten.
    package mutating func add(id: Int64?, kind: Kind, commands: [UInt32]) {
        defer { forgetTags() }
        guard !commands.isEmpty else { return }
        for (place, (key, value)) in noted.enumerated() {
            tags.append(number(of: key, at: place))
            tags.append(values.number { Self.append(value, to: &$0) })
        }
        tagEnds.append(tags.count)
        // JavaScript counts no further than 2^53.
        ids.append(id.flatMap { (0..<1 << 53).contains($0) ? $0 : nil })
        ProtobufBytes.integer(kind.rawValue, field: 3, to: &shapes)
        let length = commands.reduce(0) { $0 + ProtobufBytes.varintLength(UInt64($1)) }
        ProtobufBytes.tag(4, .lengthDelimited, to: &shapes)
        ProtobufBytes.varint(UInt64(length), to: &shapes)
        for command in commands { ProtobufBytes.varint(UInt64(command), to: &shapes) }
        ends.append(shapes.count)
    }

    private mutating func number(of key: String, at place: Int) -> UInt32 {
        if place < lastKeys.count, lastKeys[place].key == key {
            keys.use(lastKeys[place].number)
            return lastKeys[place].number
        }
        let number = keys.number { ProtobufBytes.delimited(key, field: 3, to: &$0) }
        if place < lastKeys.count {
            lastKeys[place] = (key, number)
        } else {
            lastKeys.append((key, number))
        }
        return number
    }

    /// A value as a message of its own, whose length stands before it.
    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        func begin(_ length: Int) {
            ProtobufBytes.tag(4, .lengthDelimited, to: &bytes)
            ProtobufBytes.varint(UInt64(length), to: &bytes)
        }
        // Each field inside has a tag of one byte.
        func appendInteger(_ integer: UInt64, field: UInt64) {
            begin(1 + ProtobufBytes.varintLength(integer))
            ProtobufBytes.integer(integer, field: field, to: &bytes)
        }
        switch value {
        case .text(let text):
            let count = text.utf8.count
            begin(1 + ProtobufBytes.varintLength(UInt64(count)) + count)
            ProtobufBytes.delimited(text, field: 1, to: &bytes)
        case .real(let real):
            begin(1 + MemoryLayout<UInt64>.size)
            ProtobufBytes.double(real, field: 3, to: &bytes)
        case .integer(let integer) where integer >= 0: appendInteger(UInt64(integer), field: 5)
        case .integer(let integer): appendInteger(ProtobufBytes.zigZag(integer), field: 6)
        }
    }

    /// Forgets the attributes that were noted for a feature that is not added.
    package mutating func forgetTags() { noted.removeAll(keepingCapacity: true) }

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
        var layer: [UInt8] = []
        layer.reserveCapacity(byteCount + name.utf8.count + 32)
        ProtobufBytes.integer(2, field: 15, to: &layer)
        ProtobufBytes.delimited(name.utf8, field: 1, to: &layer)
        var (packed, scratch): ([UInt8], [UInt8]) = ([], [])
        for index in ends.indices {
            packed.removeAll(keepingCapacity: true)
            for number in tags[Self.range(index, tagEnds)] { ProtobufBytes.varint(UInt64(number), to: &packed) }
            scratch.removeAll(keepingCapacity: true)
            if let id = ids[index] { ProtobufBytes.integer(UInt64(id), field: 1, to: &scratch) }
            if !packed.isEmpty { ProtobufBytes.delimited(packed, field: 2, to: &scratch) }
            scratch += shapes[Self.range(index, ends)]
            ProtobufBytes.delimited(scratch, field: 2, to: &layer)
        }
        layer += keys.bytes
        layer += values.bytes
        ProtobufBytes.integer(UInt64(Self.extent), field: 5, to: &layer)
        ProtobufBytes.delimited(layer, field: 3, to: &tile)
    }
}
