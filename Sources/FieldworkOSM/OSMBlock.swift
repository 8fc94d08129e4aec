/// A block of an OpenStreetMap extract: strings, and groups of nodes, ways and relations.
package struct OSMBlock {
    package typealias Tags = [(key: Int, value: Int)]

    private let bytes: [UInt8]
    /// Where the strings lie: most of them nobody asks for.
    private var stringPlaces: [Range<Int>] = []
    private var groups: [Range<Int>] = []
    private var granularity: Int64 = 100
    private var offsetX: Int64 = 0
    private var offsetY: Int64 = 0

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        var (strings, groups) = ([Range<Int>](), [Range<Int>]())
        var (granularity, offsetX, offsetY): (Int64, Int64, Int64) = (100, 0, 0)
        try bytes.withUnsafeBytes { bytes in
            var reader = ProtobufReader(bytes)
            while let field = try reader.field() {
                switch (field.number, field.type) {
                case (1, 2):
                    let block = try reader.block()
                    let start = reader.position - block.count
                    var table = ProtobufReader(block)
                    while let entry = try table.field() {
                        if entry.number == 1, entry.type == 2 {
                            let length = try table.block().count
                            strings.append((start + table.position - length)..<(start + table.position))
                        } else {
                            try table.skip(entry.type)
                        }
                    }
                case (2, 2):
                    let block = try reader.block()
                    groups.append((reader.position - block.count)..<reader.position)
                case (17, 0): granularity = Int64(truncatingIfNeeded: try reader.varint())
                case (19, 0): offsetY = Int64(bitPattern: try reader.varint())
                case (20, 0): offsetX = Int64(bitPattern: try reader.varint())
                default: try reader.skip(field.type)
                }
            }
        }
        (self.stringPlaces, self.groups) = (strings, groups)
        (self.granularity, self.offsetX, self.offsetY) = (granularity, offsetX, offsetY)
    }

    package var stringCount: Int { stringPlaces.count }

    /// The text of a number; empty for one that the block hasn't.
    package func string(_ index: Int) -> String {
        guard index >= 0, index < stringPlaces.count else { return "" }
        return bytes.withUnsafeBytes { String(decoding: $0[stringPlaces[index]], as: UTF8.self) }
    }

    private func forEachGroup(_ body: (inout ProtobufReader) throws -> Void) throws {
        try bytes.withUnsafeBytes { bytes in
            for group in groups {
                var reader = ProtobufReader(UnsafeRawBufferPointer(rebasing: bytes[group]))
                try body(&reader)
            }
        }
    }

    /// Which kinds of content the block has.
    func contents() throws -> UInt8 {
        var contents: UInt8 = 0
        try forEachGroup { reader in
            while let field = try reader.field() {
                switch field.number {
                case 1, 2: contents |= OSMFile.Content.nodes.rawValue
                case 3: contents |= OSMFile.Content.ways.rawValue
                case 4: contents |= OSMFile.Content.relations.rawValue
                default: break
                }
                try reader.skip(field.type)
            }
        }
        return contents
    }

    private func degrees(_ value: Int64, _ offset: Int64) -> Double {
        1e-9 * Double(offset &+ granularity &* value)
    }

    // MARK: Nodes

    /// Gives each node with its tags. The tags are given as numbers of strings.
    package func forEachNode(_ body: (_ id: Int64, _ x: Double, _ y: Double, _ tags: Tags) throws -> Void) throws {
        try forEachGroup { reader in
            while let field = try reader.field() {
                switch (field.number, field.type) {
                case (1, 2): try node(try reader.block(), body)
                case (2, 2): try denseNodes(try reader.block(), body)
                default: try reader.skip(field.type)
                }
            }
        }
    }

    private func node(_ bytes: UnsafeRawBufferPointer, _ body: (Int64, Double, Double, Tags) throws -> Void) throws {
        var reader = ProtobufReader(bytes)
        var (id, latitude, longitude): (Int64, Int64, Int64) = (0, 0, 0)
        var (keys, values): ([Int], [Int]) = ([], [])
        while let field = try reader.field() {
            switch (field.number, field.type) {
            case (1, 0): id = try reader.signedVarint()
            case (2, 2): keys = try Self.numbers(try reader.block())
            case (3, 2): values = try Self.numbers(try reader.block())
            case (8, 0): latitude = try reader.signedVarint()
            case (9, 0): longitude = try reader.signedVarint()
            default: try reader.skip(field.type)
            }
        }
        try body(id, degrees(longitude, offsetX), degrees(latitude, offsetY), Self.tags(keys, values))
    }

    private func denseNodes(_ bytes: UnsafeRawBufferPointer, _ body: (Int64, Double, Double, Tags) throws -> Void)
        throws
    {
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        var (ids, latitudes, longitudes, tags) = (empty, empty, empty, empty)
        var reader = ProtobufReader(bytes)
        while let field = try reader.field() {
            switch (field.number, field.type) {
            case (1, 2): ids = try reader.block()
            case (8, 2): latitudes = try reader.block()
            case (9, 2): longitudes = try reader.block()
            case (10, 2): tags = try reader.block()
            default: try reader.skip(field.type)
            }
        }
        var (idReader, yReader, xReader) = (ProtobufReader(ids), ProtobufReader(latitudes), ProtobufReader(longitudes))
        var tagReader = ProtobufReader(tags)
        var (id, x, y): (Int64, Int64, Int64) = (0, 0, 0)
        var found: Tags = []
        while !idReader.isAtEnd {
            id &+= try idReader.signedVarint()
            y &+= try yReader.signedVarint()
            x &+= try xReader.signedVarint()
            found.removeAll(keepingCapacity: true)
            while !tagReader.isAtEnd {
                let key = Int(clamping: try tagReader.varint())
                if key == 0 { break }
                found.append((key, Int(clamping: try tagReader.varint())))
            }
            try body(id, degrees(x, offsetX), degrees(y, offsetY), found)
        }
    }

    // MARK: Ways and relations

    package func forEachWay(_ body: (_ id: Int64, _ nodes: [Int64], _ tags: Tags) throws -> Void) throws {
        try forEachGroup { reader in
            while let field = try reader.field() {
                guard field.number == 3, field.type == 2 else {
                    try reader.skip(field.type)
                    continue
                }
                let (id, keys, values, nodes) = try Self.parts(try reader.block(), references: 8)
                try body(id, nodes, Self.tags(keys, values))
            }
        }
    }

    /// A way that belongs to a relation.
    package struct MemberWay {
        package var id: Int64
        /// The number of its role among the strings.
        package var role: Int
    }

    /// Gives each relation with the ways among its members.
    package func forEachRelation(_ body: (_ id: Int64, _ ways: [MemberWay], _ tags: Tags) throws -> Void) throws {
        try forEachGroup { reader in
            while let field = try reader.field() {
                guard field.number == 4, field.type == 2 else {
                    try reader.skip(field.type)
                    continue
                }
                let bytes = try reader.block()
                let (id, keys, values, members) = try Self.parts(bytes, references: 9)
                let (types, roles) = (try Self.list(10, of: bytes), try Self.list(8, of: bytes))
                var ways: [MemberWay] = []
                for (index, type) in types.enumerated() where type == 1 && index < members.count {
                    ways.append(MemberWay(id: members[index], role: index < roles.count ? roles[index] : -1))
                }
                try body(id, ways, Self.tags(keys, values))
            }
        }
    }

    private static func parts(
        _ bytes: UnsafeRawBufferPointer, references: Int
    ) throws -> (id: Int64, keys: [Int], values: [Int], references: [Int64]) {
        var reader = ProtobufReader(bytes)
        var result: (id: Int64, keys: [Int], values: [Int], references: [Int64]) = (0, [], [], [])
        while let field = try reader.field() {
            switch (field.number, field.type) {
            case (1, 0): result.id = Int64(bitPattern: try reader.varint())
            case (2, 2): result.keys = try numbers(try reader.block())
            case (3, 2): result.values = try numbers(try reader.block())
            case (references, 2):
                var list = ProtobufReader(try reader.block())
                var last: Int64 = 0
                while !list.isAtEnd {
                    last &+= try list.signedVarint()
                    result.references.append(last)
                }
            default: try reader.skip(field.type)
            }
        }
        return result
    }

    /// A packed list of numbers of a message; empty where it has none.
    private static func list(_ number: Int, of bytes: UnsafeRawBufferPointer) throws -> [Int] {
        var reader = ProtobufReader(bytes)
        while let field = try reader.field() {
            if field.number == number, field.type == 2 { return try numbers(try reader.block()) }
            try reader.skip(field.type)
        }
        return []
    }

    private static func numbers(_ bytes: UnsafeRawBufferPointer) throws -> [Int] {
        var reader = ProtobufReader(bytes)
        var numbers: [Int] = []
        while !reader.isAtEnd { numbers.append(Int(clamping: try reader.varint())) }
        return numbers
    }

    private static func tags(_ keys: [Int], _ values: [Int]) -> Tags {
        zip(keys, values).map { (key: $0.0, value: $0.1) }
    }
}
