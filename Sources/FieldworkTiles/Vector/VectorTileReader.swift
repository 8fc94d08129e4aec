package import FieldworkREST

/// A vector tile as values: for those who look into few of them. What a tile says of itself is checked against its bytes.
package struct VectorTileReader: Sendable {
    package struct Layer: Sendable {
        package var name = ""
        package var extent = 4_096
        package var features: [Feature] = []
    }

    package struct Feature: Sendable {
        package var id: UInt64?
        package var kind: UInt64 = 0
        package var attributes: [String: AttributeValue] = [:]
        /// In units of the tile, y downwards; rings without their last vertex, which is the first.
        package var parts: [[SIMD2<Int32>]] = []
    }

    package let layers: [Layer]

    /// Reads a tile that is not compressed.
    package init(_ bytes: [UInt8]) throws(TileError) {
        do {
            layers = try bytes.withUnsafeBytes { bytes in
                var layers: [Layer] = []
                var reader = ProtocolBufferReader(bytes)
                while let (field, value) = try reader.next() {
                    if field == 3, case .bytes(let layer) = value { layers.append(try Self.layer(layer)) }
                }
                return layers
            }
        } catch let error as ProtocolBufferError {
            throw TileError(.broken, "The tile is no vector tile: \(error.message)")
        } catch let error as TileError {
            throw error
        } catch {
            throw TileError(.broken, "The tile is no vector tile.")
        }
    }

    private static func layer(_ bytes: UnsafeRawBufferPointer) throws -> Layer {
        var layer = Layer()
        var keys: [String] = []
        var values: [AttributeValue] = []
        var features: [UnsafeRawBufferPointer] = []
        var reader = ProtocolBufferReader(bytes)
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .bytes(let text)): layer.name = String(decoding: text, as: UTF8.self)
            case (2, .bytes(let feature)): features.append(feature)
            case (3, .bytes(let text)): keys.append(String(decoding: text, as: UTF8.self))
            case (4, .bytes(let message)): values.append(try self.value(message))
            case (5, .varint(let extent)) where extent > 0 && extent < 1 << 24: layer.extent = Int(extent)
            default: break
            }
        }
        layer.features = try features.map { try feature($0, keys, values) }
        return layer
    }

    private static func value(_ bytes: UnsafeRawBufferPointer) throws -> AttributeValue {
        var reader = ProtocolBufferReader(bytes)
        guard let (field, value) = try reader.next() else { return .null }
        switch (field, value) {
        case (1, .bytes(let text)): return .text(String(decoding: text, as: UTF8.self))
        case (2, .fixed32(let bits)): return .real(Double(Float(bitPattern: bits)))
        case (3, .fixed64(let bits)): return .real(Double(bitPattern: bits))
        case (6, .varint(let zigzag)): return .integer(Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1))
        case (_, .varint(let number)): return .integer(Int64(truncatingIfNeeded: number))
        default: return .null
        }
    }

    private static func feature(
        _ bytes: UnsafeRawBufferPointer, _ keys: [String], _ values: [AttributeValue]
    ) throws -> Feature {
        var feature = Feature()
        var reader = ProtocolBufferReader(bytes)
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .varint(let id)): feature.id = id
            case (2, .bytes(let packed)):
                var tags = ProtocolBufferReader(packed)
                while !tags.isAtEnd {
                    let (key, value) = (try tags.varint(), try tags.varint())
                    guard key < UInt64(keys.count), value < UInt64(values.count) else {
                        throw TileError(.broken, "A feature of the tile names an attribute that is not there.")
                    }
                    feature.attributes[keys[Int(key)]] = values[Int(value)]
                }
            case (3, .varint(let kind)): feature.kind = kind
            case (4, .bytes(let packed)): feature.parts = try parts(packed)
            default: break
            }
        }
        return feature
    }

    private static func parts(_ packed: UnsafeRawBufferPointer) throws -> [[SIMD2<Int32>]] {
        var reader = ProtocolBufferReader(packed)
        var parts: [[SIMD2<Int32>]] = []
        var place = SIMD2<Int32>(0, 0)
        while !reader.isAtEnd {
            let command = try reader.varint()
            let (kind, count) = (command & 7, command >> 3)
            guard kind != 7 else { continue }
            // Each step takes two bytes at least: a count that is larger than what is there is a lie.
            guard kind == 1 || kind == 2, count <= UInt64(packed.count) else {
                throw TileError(.broken, "A geometry of the tile has a command that there is not.")
            }
            for _ in 0..<count {
                let (x, y) = (try reader.zigzag(), try reader.zigzag())
                place &+= SIMD2(Int32(truncatingIfNeeded: x), Int32(truncatingIfNeeded: y))
                if kind == 1 {
                    parts.append([place])
                } else if parts.isEmpty {
                    throw TileError(.broken, "A line of the tile goes on without having begun.")
                } else {
                    parts[parts.count - 1].append(place)
                }
            }
        }
        return parts
    }
}
