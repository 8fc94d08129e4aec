/// Writes the nodes of a new R-tree from the rows of its table, in SQLite's own form: row by row each would be looked for its place.
/// Neighbours along a Hilbert curve share a node, so that a box of the map meets few nodes.
struct SpatialIndexPacking {
    private let index: SpatialIndex
    private let connection: StoreConnection
    /// Entries that a node can have.
    private let capacity: Int
    private let nodeBytes: Int
    private var entries: [Entry] = []
    private var bounds = GeometryBlob.Box.nothing
    /// The nodes of the lowest level so far.
    private var nodes: [Entry] = []
    /// The number of the last node; the root is the first.
    private var lastNode: Int64 = 1

    /// Entries that are sorted at a time: memory does not grow with the table.
    private static let entriesAtOnce = 2_000_000
    /// Entries that stay free in a node, for features that come later.
    private static let spare = 5

    /// A feature or a node with its box, rounded away from its middle as SQLite rounds it.
    private struct Entry {
        var id: Int64
        var xMin: Float
        var xMax: Float
        var yMin: Float
        var yMax: Float

        mutating func include(_ other: Entry) {
            xMin = min(xMin, other.xMin)
            xMax = max(xMax, other.xMax)
            yMin = min(yMin, other.yMin)
            yMax = max(yMax, other.yMax)
        }
    }

    /// - Parameter index: empty.
    init(_ index: SpatialIndex, on connection: StoreConnection) throws {
        self.index = index
        self.connection = connection
        nodeBytes = Int(
            try connection.integer("SELECT length(data) FROM \(Self.table(index, "node")) WHERE nodeno = 1") ?? 0)
        capacity = (nodeBytes - SpatialIndex.Node.head) / SpatialIndex.Node.cell
        guard capacity > 2 * Self.spare else { throw StoreError(.corrupt, "The index \(index.name) has no root.") }
    }

    private static func table(_ index: SpatialIndex, _ suffix: String) -> String { quoted("\(index.name)_\(suffix)") }

    /// Adds all rows of the table.
    mutating func run() throws {
        let (key, column) = (quoted(index.key), quoted(index.column))
        let rows = try connection.cached(
            "SELECT \(key), \(column) FROM \(quoted(index.table)) WHERE typeof(\(column)) = 'blob' ORDER BY \(key)")
        defer { rows.finish() }
        while try rows.step() {
            guard let box = GeometryBlob(rows.blob(1))?.box else { continue }
            if entries.count == Self.entriesAtOnce { try writeLeaves() }
            bounds.include(x: (box.xMin + box.xMax) / 2, y: (box.yMin + box.yMax) / 2)
            entries.append(
                Entry(
                    id: rows.integer(0), xMin: Self.roundedDown(box.xMin), xMax: Self.roundedUp(box.xMax),
                    yMin: Self.roundedDown(box.yMin), yMax: Self.roundedUp(box.yMax)))
        }
        if nodes.isEmpty, entries.count <= capacity {
            return try writeRoot(entries, height: 0)
        }
        try writeLeaves()
        try writeUpperLevels()
    }

    /// As SQLite's `rtreeValueDown` and `rtreeValueUp` do.
    private static func roundedDown(_ value: Double) -> Float {
        let rounded = Float(value)
        return Double(rounded) > value ? Float(value * (value < 0 ? 1 + 0x1p-23 : 1 - 0x1p-23)) : rounded
    }

    private static func roundedUp(_ value: Double) -> Float {
        let rounded = Float(value)
        return Double(rounded) < value ? Float(value * (value < 0 ? 1 - 0x1p-23 : 1 + 0x1p-23)) : rounded
    }

    // MARK: Levels

    /// Writes the nodes of the entries so far, and which feature is in which of them.
    private mutating func writeLeaves() throws {
        let order = entries.indices.map { number -> UInt64 in
            let entry = entries[number]
            let position = HilbertOrder.position(
                x: (Double(entry.xMin) + Double(entry.xMax)) / 2, y: (Double(entry.yMin) + Double(entry.yMax)) / 2,
                xMin: bounds.xMin, yMin: bounds.yMin, xMax: bounds.xMax, yMax: bounds.yMax)
            return UInt64(position) << 32 | UInt64(number)
        }.sorted()
        var homes = [Int64](repeating: 0, count: entries.count)
        for range in groups(order.count) {
            let members = order[range].map { Int($0 & 0xFFFF_FFFF) }
            let node = try writeNode(members.map { entries[$0] })
            for member in members { homes[member] = node.id }
            nodes.append(node)
        }
        let insert = try connection.cached("INSERT INTO \(Self.table(index, "rowid")) (rowid, nodeno) VALUES (?, ?)")
        defer { insert.finish() }
        for (entry, home) in zip(entries, homes) {
            try insert.bind(entry.id, at: 1)
            try insert.bind(home, at: 2)
            _ = try insert.step()
            insert.reset()
        }
        entries.removeAll(keepingCapacity: true)
        bounds = .nothing
    }

    private mutating func writeUpperLevels() throws {
        var height = 1
        while nodes.count > capacity {
            let lower = nodes
            nodes = []
            for range in groups(lower.count) {
                let node = try writeNode(Array(lower[range]))
                for child in lower[range] { try note(node.id, isParentOf: child.id) }
                nodes.append(node)
            }
            height += 1
        }
        for node in nodes { try note(1, isParentOf: node.id) }
        try writeRoot(nodes, height: height)
    }

    /// Groups of nearly one size: a node with a few entries would be taken apart at the first delete.
    private func groups(_ count: Int) -> [Range<Int>] {
        let size = capacity - Self.spare
        let groups = (count + size - 1) / size
        return (0..<groups).map { count * $0 / groups..<count * ($0 + 1) / groups }
    }

    private func note(_ parent: Int64, isParentOf node: Int64) throws {
        try connection.run("INSERT INTO \(Self.table(index, "parent")) (nodeno, parentnode) VALUES (?, ?)") {
            try $0.bind(node, at: 1)
            try $0.bind(parent, at: 2)
        }
    }

    // MARK: Nodes

    /// Writes a node that is not the root. There is an entry at least.
    /// - Returns: the node with its box.
    private mutating func writeNode(_ entries: [Entry]) throws -> Entry {
        var node = entries[0]
        for entry in entries { node.include(entry) }
        lastNode += 1
        node.id = lastNode
        try connection.run("INSERT INTO \(Self.table(index, "node")) (nodeno, data) VALUES (?, ?)") { statement in
            try statement.bind(node.id, at: 1)
            try bytes(of: entries, height: 0).withUnsafeBytes { try statement.bind(blob: $0, at: 2) }
        }
        return node
    }

    private func writeRoot(_ entries: [Entry], height: Int) throws {
        try connection.run("UPDATE \(Self.table(index, "node")) SET data = ? WHERE nodeno = 1") { statement in
            try bytes(of: entries, height: height).withUnsafeBytes { try statement.bind(blob: $0, at: 1) }
        }
        guard height == 0 else { return }
        for entry in entries {
            try connection.run("INSERT INTO \(Self.table(index, "rowid")) (rowid, nodeno) VALUES (?, 1)") {
                try $0.bind(entry.id, at: 1)
            }
        }
    }

    /// A node as `SpatialIndex.Node` reads it.
    private func bytes(of entries: [Entry], height: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: nodeBytes)
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt16(clamping: height).bigEndian, as: UInt16.self)
            bytes.storeBytes(of: UInt16(clamping: entries.count).bigEndian, toByteOffset: 2, as: UInt16.self)
            var place = SpatialIndex.Node.head
            for entry in entries {
                bytes.storeBytes(of: entry.id.bigEndian, toByteOffset: place, as: Int64.self)
                for (number, side) in [entry.xMin, entry.xMax, entry.yMin, entry.yMax].enumerated() {
                    bytes.storeBytes(
                        of: side.bitPattern.bigEndian, toByteOffset: place + 8 + number * 4, as: UInt32.self)
                }
                place += SpatialIndex.Node.cell
            }
        }
        return bytes
    }
}
