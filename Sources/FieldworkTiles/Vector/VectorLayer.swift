import FieldworkREST

/// One layer of a Mapbox vector tile (2.1) that is being written. Keys and values stand once each.
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
    private var features: [UInt8] = []
    /// Where each feature ends in `features`.
    private var ends: [Int] = []
    private var keys: [String: UInt64] = [:]
    private var values: [Value: UInt64] = [:]
    private var keyBytes: [UInt8] = []
    private var valueBytes: [UInt8] = []
    private var tags: [UInt8] = []
    private var scratch: [UInt8] = []

    package init(name: String) { self.name = name }

    package var count: Int { ends.count }
    package var byteCount: Int { features.count + keyBytes.count + valueBytes.count }

    /// Notes an attribute of the feature that is added next.
    package mutating func tag(_ key: String, _ value: Value) {
        ProtobufBytes.varint(number(ofKey: key), to: &tags)
        ProtobufBytes.varint(number(of: value), to: &tags)
    }

    private mutating func number(ofKey key: String) -> UInt64 {
        if let known = keys[key] { return known }
        let number = UInt64(keys.count)
        keys[key] = number
        ProtobufBytes.delimited(key.utf8, field: 3, to: &keyBytes)
        return number
    }

    private mutating func number(of value: Value) -> UInt64 {
        if let known = values[value] { return known }
        let number = UInt64(values.count)
        values[value] = number
        scratch.removeAll(keepingCapacity: true)
        switch value {
        case .text(let text): ProtobufBytes.delimited(text.utf8, field: 1, to: &scratch)
        case .real(let real): ProtobufBytes.double(real, field: 3, to: &scratch)
        case .integer(let integer) where integer >= 0:
            ProtobufBytes.integer(UInt64(integer), field: 5, to: &scratch)
        case .integer(let integer): ProtobufBytes.integer(ProtobufBytes.zigZag(integer), field: 6, to: &scratch)
        }
        ProtobufBytes.delimited(scratch, field: 4, to: &valueBytes)
        return number
    }

    /// Adds a feature with the attributes that were noted. Without commands it is left out, and they are forgotten.
    package mutating func add(id: Int64?, kind: Kind, commands: [UInt32]) {
        defer { tags.removeAll(keepingCapacity: true) }
        guard !commands.isEmpty else { return }
        scratch.removeAll(keepingCapacity: true)
        // JavaScript counts no further than 2^53.
        if let id, id >= 0, id < 1 << 53 { ProtobufBytes.integer(UInt64(id), field: 1, to: &scratch) }
        if !tags.isEmpty { ProtobufBytes.delimited(tags, field: 2, to: &scratch) }
        ProtobufBytes.integer(kind.rawValue, field: 3, to: &scratch)
        let length = commands.reduce(0) { $0 + ProtobufBytes.varintLength(UInt64($1)) }
        ProtobufBytes.tag(4, .lengthDelimited, to: &scratch)
        ProtobufBytes.varint(UInt64(length), to: &scratch)
        for command in commands { ProtobufBytes.varint(UInt64(command), to: &scratch) }
        ProtobufBytes.delimited(scratch, field: 2, to: &features)
        ends.append(features.count)
    }

    /// Forgets the attributes that were noted for a feature that is not added.
    package mutating func forgetTags() { tags.removeAll(keepingCapacity: true) }

    /// Keeps only the features at some places of the order in which they were added.
    package mutating func keep(_ isKept: [Bool]) {
        var kept: [UInt8] = []
        var keptEnds: [Int] = []
        var start = 0
        for (end, isKept) in zip(ends, isKept) {
            if isKept {
                kept += features[start..<end]
                keptEnds.append(kept.count)
            }
            start = end
        }
        (features, ends) = (kept, keptEnds)
    }

    /// The bytes of one feature.
    package func size(_ index: Int) -> Int { ends[index] - (index > 0 ? ends[index - 1] : 0) }

    /// Appends the layer to a tile; nothing when it is empty, which the format forbids.
    package func append(to tile: inout [UInt8]) {
        guard !ends.isEmpty else { return }
        var layer: [UInt8] = []
        layer.reserveCapacity(byteCount + name.utf8.count + 32)
        ProtobufBytes.integer(2, field: 15, to: &layer)
        ProtobufBytes.delimited(name.utf8, field: 1, to: &layer)
        layer += features
        layer += keyBytes
        layer += valueBytes
        ProtobufBytes.integer(UInt64(Self.extent), field: 5, to: &layer)
        ProtobufBytes.delimited(layer, field: 3, to: &tile)
    }
}
