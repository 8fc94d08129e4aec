/// Writes Mapbox vector tiles (2.1): one layer named `f`, each feature with its object id and the index `s` of its symbol.
struct VectorTile {
    static let extent = 4_096

    enum Kind: UInt64 {
        case point = 1
        case line = 2
        case polygon = 3
    }

    private var features: [UInt8] = []
    private var symbols: [Int] = []
    private var symbolTags: [Int: Int] = [:]
    private(set) var count = 0

    /// Adds a feature; `parts` are in tile units. Lines and rings that collapse are left out.
    mutating func add(id: Int64, symbol: Int, kind: Kind, parts: [[(x: Int, y: Int)]]) {
        let geometry = Self.commands(kind: kind, parts: parts)
        guard !geometry.isEmpty else { return }
        let tag =
            symbolTags[symbol]
            ?? {
                symbols.append(symbol)
                symbolTags[symbol] = symbols.count - 1
                return symbols.count - 1
            }()
        var feature: [UInt8] = []
        if id >= 0 {
            Self.append(key: 1, varint: UInt64(id), to: &feature)
        }
        Self.append(key: 2, packed: [0, UInt64(tag)], to: &feature)
        Self.append(key: 3, varint: kind.rawValue, to: &feature)
        Self.append(key: 4, packed: geometry, to: &feature)
        Self.append(key: 2, bytes: feature, to: &features)
        count += 1
    }

    /// The tile's bytes; empty when it holds nothing.
    func encoded() -> [UInt8] {
        guard count > 0 else { return [] }
        var layer: [UInt8] = []
        Self.append(key: 15, varint: 2, to: &layer)
        Self.append(key: 1, bytes: Array("f".utf8), to: &layer)
        layer += features
        Self.append(key: 3, bytes: Array("s".utf8), to: &layer)
        for symbol in symbols {
            var value: [UInt8] = []
            Self.append(key: 5, varint: UInt64(symbol), to: &value)
            Self.append(key: 4, bytes: value, to: &layer)
        }
        Self.append(key: 5, varint: UInt64(Self.extent), to: &layer)
        var tile: [UInt8] = []
        Self.append(key: 3, bytes: layer, to: &tile)
        return tile
    }

    /// The command integers of the format, with steps relative to the point before.
    static func commands(kind: Kind, parts: [[(x: Int, y: Int)]]) -> [UInt64] {
        var result: [UInt64] = []
        var cursor = (x: 0, y: 0)
        func step(to point: (x: Int, y: Int), _ result: inout [UInt64]) {
            result.append(zigzag(point.x - cursor.x))
            result.append(zigzag(point.y - cursor.y))
            cursor = point
        }
        if kind == .point {
            let points = parts.joined()
            guard !points.isEmpty else { return [] }
            result.append(command(1, count: points.count))
            for point in points { step(to: point, &result) }
            return result
        }
        for part in parts {
            var points = withoutRepeats(part)
            if kind == .polygon, let first = points.first, let last = points.last, points.count > 1,
                first == last
            {
                points.removeLast()
            }
            guard points.count >= (kind == .polygon ? 3 : 2) else { continue }
            result.append(command(1, count: 1))
            step(to: points[0], &result)
            result.append(command(2, count: points.count - 1))
            for point in points.dropFirst() { step(to: point, &result) }
            if kind == .polygon { result.append(command(7, count: 1)) }
        }
        return result
    }

    private static func withoutRepeats(_ points: [(x: Int, y: Int)]) -> [(x: Int, y: Int)] {
        var result: [(x: Int, y: Int)] = []
        result.reserveCapacity(points.count)
        for point in points {
            if let last = result.last, last == point { continue }
            result.append(point)
        }
        return result
    }

    private static func command(_ id: UInt64, count: Int) -> UInt64 { id | UInt64(count) << 3 }

    private static func zigzag(_ value: Int) -> UInt64 { UInt64(bitPattern: Int64(value << 1 ^ value >> 63)) }

    private static func append(key: UInt64, varint: UInt64, to bytes: inout [UInt8]) {
        append(varint: key << 3, to: &bytes)
        append(varint: varint, to: &bytes)
    }

    private static func append(key: UInt64, bytes added: [UInt8], to bytes: inout [UInt8]) {
        append(varint: key << 3 | 2, to: &bytes)
        append(varint: UInt64(added.count), to: &bytes)
        bytes += added
    }

    private static func append(key: UInt64, packed: [UInt64], to bytes: inout [UInt8]) {
        var body: [UInt8] = []
        for value in packed { append(varint: value, to: &body) }
        append(key: key, bytes: body, to: &bytes)
    }

    private static func append(varint: UInt64, to bytes: inout [UInt8]) {
        var rest = varint
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
