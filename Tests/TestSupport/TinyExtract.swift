/// An OpenStreetMap extract that a test writes by hand: one block each for nodes, ways and relations, not packed.
package struct TinyExtract: Sendable {
    package typealias Tags = [String: String]

    package struct Member: Sendable {
        package var way: Int64
        package var role: String

        package init(_ way: Int64, _ role: String) { (self.way, self.role) = (way, role) }
    }

    private var nodes: [(id: Int64, longitude: Double, latitude: Double, tags: Tags)] = []
    private var ways: [(id: Int64, nodes: [Int64], tags: Tags)] = []
    private var relations: [(id: Int64, members: [Member], tags: Tags)] = []
    /// West, south, east, north.
    package var bounds: [Double]?

    package init() {}

    package mutating func node(_ id: Int64, _ longitude: Double, _ latitude: Double, _ tags: Tags = [:]) {
        nodes.append((id, longitude, latitude, tags))
    }

    package mutating func way(_ id: Int64, _ nodes: [Int64], _ tags: Tags = [:]) { ways.append((id, nodes, tags)) }

    package mutating func relation(_ id: Int64, _ members: [Member], _ tags: Tags) {
        relations.append((id, members, tags))
    }

    // MARK: Bytes

    package var bytes: [UInt8] {
        var header: [UInt8] = []
        if let bounds, bounds.count == 4 {
            var box: [UInt8] = []
            for (field, side) in [(1, bounds[0]), (2, bounds[2]), (3, bounds[3]), (4, bounds[1])] {
                Self.number(field, Self.zigZag(Int64((side * 1e9).rounded())), &box)
            }
            Self.block(1, box, &header)
        }
        for feature in ["OsmSchema-V0.6", "DenseNodes"] { Self.block(4, Array(feature.utf8), &header) }
        var file = Self.blob("OSMHeader", header)
        var writer = Strings()
        var group: [UInt8] = []
        for node in nodes {
            var bytes: [UInt8] = []
            Self.number(1, Self.zigZag(node.id), &bytes)
            writer.tags(node.tags, &bytes)
            Self.number(8, Self.zigZag(Int64((node.latitude * 1e7).rounded())), &bytes)
            Self.number(9, Self.zigZag(Int64((node.longitude * 1e7).rounded())), &bytes)
            Self.block(1, bytes, &group)
        }
        file += Self.blob("OSMData", writer.block(group))
        (writer, group) = (Strings(), [])
        for way in ways {
            var bytes: [UInt8] = []
            Self.number(1, UInt64(bitPattern: way.id), &bytes)
            writer.tags(way.tags, &bytes)
            Self.block(8, Self.differences(way.nodes), &bytes)
            Self.block(3, bytes, &group)
        }
        file += Self.blob("OSMData", writer.block(group))
        (writer, group) = (Strings(), [])
        for relation in relations {
            var bytes: [UInt8] = []
            Self.number(1, UInt64(bitPattern: relation.id), &bytes)
            writer.tags(relation.tags, &bytes)
            Self.block(8, relation.members.flatMap { Self.varint(UInt64(writer.number($0.role))) }, &bytes)
            Self.block(9, Self.differences(relation.members.map(\.way)), &bytes)
            Self.block(10, relation.members.flatMap { _ in Self.varint(1) }, &bytes)
            Self.block(4, bytes, &group)
        }
        return file + Self.blob("OSMData", writer.block(group))
    }

    private struct Strings {
        private var texts = [""]

        mutating func number(_ text: String) -> Int {
            if let known = texts.firstIndex(of: text) { return known }
            texts.append(text)
            return texts.count - 1
        }

        mutating func tags(_ tags: Tags, _ bytes: inout [UInt8]) {
            var (keys, values): ([UInt8], [UInt8]) = ([], [])
            for (key, value) in tags.sorted(by: { $0.key < $1.key }) {
                keys += TinyExtract.varint(UInt64(number(key)))
                values += TinyExtract.varint(UInt64(number(value)))
            }
            TinyExtract.block(2, keys, &bytes)
            TinyExtract.block(3, values, &bytes)
        }

        func block(_ group: [UInt8]) -> [UInt8] {
            var (table, bytes): ([UInt8], [UInt8]) = ([], [])
            for text in texts { TinyExtract.block(1, Array(text.utf8), &table) }
            TinyExtract.block(1, table, &bytes)
            TinyExtract.block(2, group, &bytes)
            return bytes
        }
    }

    private static func blob(_ type: String, _ content: [UInt8]) -> [UInt8] {
        var (blob, header): ([UInt8], [UInt8]) = ([], [])
        block(1, content, &blob)
        block(1, Array(type.utf8), &header)
        number(3, UInt64(blob.count), &header)
        let length = UInt32(header.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + header + blob
    }

    private static func differences(_ numbers: [Int64]) -> [UInt8] {
        var last: Int64 = 0
        return numbers.flatMap { number in
            defer { last = number }
            return varint(zigZag(number - last))
        }
    }

    private static func zigZag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var (rest, bytes) = (value, [UInt8]())
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func number(_ field: Int, _ value: UInt64, _ bytes: inout [UInt8]) {
        bytes += varint(UInt64(field << 3)) + varint(value)
    }

    private static func block(_ field: Int, _ content: [UInt8], _ bytes: inout [UInt8]) {
        bytes += varint(UInt64(field << 3 | 2)) + varint(UInt64(content.count)) + content
    }
}

extension TinyExtract {
    /// A village by the sea: a coast, a park with a pond whose ring is two ways, a house with a number, a street that goes on
    /// outside, a river.
    package static var village: TinyExtract {
        var extract = TinyExtract()
        extract.bounds = [10, 50, 10.02, 50.02]
        extract.node(1, 10.010, 50.010, ["place": "village", "name": "Haven", "name:de": "Hafen", "name:xx": "Other"])
        // The park's shell: two ways, the second the other way round; its hole is a way of its own.
        for (id, x, y) in [(11, 10.004, 50.004), (12, 10.008, 50.004), (13, 10.008, 50.008), (14, 10.004, 50.008)] {
            extract.node(Int64(id), x, y)
        }
        for (id, x, y) in [(21, 10.005, 50.005), (22, 10.006, 50.005), (23, 10.006, 50.006), (24, 10.005, 50.006)] {
            extract.node(Int64(id), x, y)
        }
        extract.node(31, 10.001, 50.012)
        extract.node(32, 10.009, 50.012)
        for (id, x, y) in [(41, 10.012, 50.010), (42, 10.0122, 50.010), (43, 10.0122, 50.0102), (44, 10.012, 50.0102)] {
            extract.node(Int64(id), x, y)
        }
        // The coast runs from south to north; the sea lies to its right, in the east.
        extract.node(51, 10.015, 49.99)
        extract.node(52, 10.015, 50.03)
        extract.way(101, [11, 12, 13])
        extract.way(102, [11, 14, 13])
        extract.way(103, [21, 22, 23, 24, 21])
        extract.way(104, [31, 32, 999], ["highway": "primary", "name": "Long Street", "ref": "B 1"])
        extract.way(105, [41, 42, 43, 44, 41], ["building": "yes", "addr:housenumber": "7"])
        extract.way(106, [51, 52], ["natural": "coastline"])
        extract.way(107, [13, 998, 999], ["waterway": "river", "name": "Gone"])
        extract.relation(
            201, [Member(101, "outer"), Member(102, "outer"), Member(103, "inner")],
            ["type": "multipolygon", "leisure": "park", "name": "Green"])
        extract.relation(
            202, [Member(101, "outer"), Member(888, "outer")], ["type": "multipolygon", "natural": "wood"])
        return extract
    }
}
