import FieldworkREST
package import Foundation

/// A file of tiles that several areas of a device use together: each tile is in it once, however many areas hold it, and equal tiles
/// have one content. It is MBTiles 1.3 to whoever reads it, with the style beside the tiles in a table of its own.
///
/// All tiles in it are of one version of one service. An area is noted before its tiles come, and from then on nothing in its box is
/// deleted: what another area had already need not come again. What one call changes is one transaction.
package final class SharedTileFile: Sendable {
    /// An area that uses tiles of the file.
    package struct Holder: Sendable, Hashable {
        package var id: UUID
        /// In metres of the plane.
        package var box: PlaneBox
        /// Whether all tiles of the box are here that the service has.
        package var isWhole: Bool
        /// Bytes of the tiles in the box when they came, also of those that others use as well.
        package var bytes: Int
    }

    private let database: TileDatabase

    /// Opens the file, or makes it.
    package init(_ url: URL) throws(TileError) {
        database = try TileDatabase(path: url.path, creates: true)
        // Has to stand before the first table: what is deleted gives its room back to the device.
        try database.run("PRAGMA auto_vacuum = INCREMENTAL")
        // Maps are drawn from the file while tiles come.
        try database.run("PRAGMA journal_mode = WAL")
        try transaction { () throws(TileError) in
            for statement in Self.schema { try database.run(statement) }
        }
    }

    private static let schema = [
        "CREATE TABLE IF NOT EXISTS metadata (name TEXT PRIMARY KEY, value TEXT)",
        "CREATE TABLE IF NOT EXISTS tile_contents (id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT NULL)",
        "CREATE INDEX IF NOT EXISTS tile_contents_checksum ON tile_contents (checksum)",
        """
        CREATE TABLE IF NOT EXISTS tile_places (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER,
        content INTEGER NOT NULL, PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID
        """,
        "CREATE INDEX IF NOT EXISTS tile_places_content ON tile_places (content)",
        """
        CREATE VIEW IF NOT EXISTS tiles AS SELECT zoom_level, tile_column, tile_row, bytes AS tile_data
        FROM tile_places JOIN tile_contents ON tile_contents.id = tile_places.content
        """,
        "CREATE TABLE IF NOT EXISTS \(SQLitePackage.resourceTable) (path TEXT PRIMARY KEY, bytes BLOB NOT NULL)",
        """
        CREATE TABLE IF NOT EXISTS fieldwork_areas (id TEXT PRIMARY KEY, x_min REAL, y_min REAL, x_max REAL, y_max REAL,
        is_whole INTEGER NOT NULL, bytes INTEGER NOT NULL)
        """,
    ]

    private func transaction<Result>(_ body: () throws(TileError) -> Result) throws(TileError) -> Result {
        try database.run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try database.run("COMMIT")
            return result
        } catch {
            _ = try? database.run("ROLLBACK")
            throw error
        }
    }

    // MARK: Areas

    /// The areas that use the file, and those whose tiles are still to come.
    package func holders() throws(TileError) -> [Holder] {
        try database.run("SELECT id, x_min, y_min, x_max, y_max, is_whole, bytes FROM fieldwork_areas ORDER BY id")
            .compactMap { row in
                let edges = row[1...4].compactMap(\.real)
                guard let id = row[0].text.flatMap(UUID.init), edges.count == 4 else { return nil }
                return Holder(
                    id: id, box: PlaneBox(xMin: edges[0], yMin: edges[1], xMax: edges[2], yMax: edges[3]),
                    isWhole: row[5].integer == 1, bytes: row[6].integer ?? 0)
            }
    }

    package func holder(_ id: UUID) throws(TileError) -> Holder? { try holders().first { $0.id == id } }

    /// Notes that an area is going to use the tiles of a box. What is in the box stays from now on. An area that is noted already stays
    /// as it is.
    package func reserve(_ id: UUID, box: PlaneBox) throws(TileError) {
        try transaction { () throws(TileError) in
            guard try holder(id) == nil else { return }
            try note(Holder(id: id, box: box, isWhole: false, bytes: 0))
        }
    }

    private func note(_ holder: Holder) throws(TileError) {
        let box = holder.box
        try database.run(
            "INSERT OR REPLACE INTO fieldwork_areas VALUES (?, ?, ?, ?, ?, ?, ?)",
            [.text(holder.id.uuidString)] + [box.xMin, box.yMin, box.xMax, box.yMax].map { .real($0) }
                + [.integer(holder.isWhole ? 1 : 0), .integer(holder.bytes)])
    }

    // MARK: Tiles come

    /// Takes over the tiles of a package that lie in an area's box, and notes that the area has all of its tiles.
    /// - Parameters:
    ///   - package: what was missing of the area; nil where nothing was.
    ///   - id: an area that was noted before.
    /// - Throws: `TileError` with the code `otherVersion` for a package that has another tile where the file has one already: the
    ///   service's tiles are others now. Nothing has changed then.
    package func complete(_ id: UUID, with package: (any TilePackage)?) throws(TileError) {
        try transaction { () throws(TileError) in
            guard var holder = try holder(id) else {
                throw TileError(.unreadable, "The area is not noted in the file of its tiles.")
            }
            if let package {
                try addTiles(of: package, in: holder.box)
                try addStyle(of: package)
                try describe(package.description)
            }
            holder.isWhole = true
            holder.bytes = try bytes(in: holder.box)
            try note(holder)
            try tellExtent()
        }
    }

    private func addTiles(of package: any TilePackage, in box: PlaneBox) throws(TileError) {
        let format = package.description.format
        let coverage = TileCoverage(box: box)
        for level in package.description.levels {
            try coverage.forEach(level: level) { (tile: TileAddress) throws(TileError) in
                guard let bytes = try package.tile(tile), !bytes.isEmpty else { return true }
                try add(try MBTilesWriter.packed(bytes, format), at: tile)
                return true
            }
        }
    }

    private func add(_ bytes: [UInt8], at tile: TileAddress) throws(TileError) {
        let place: [TileDatabase.Value] = [
            .integer(tile.level), .integer(tile.column), .integer(SQLitePackage.upward(tile.row, level: tile.level)),
        ]
        let there = try database.run(
            """
            SELECT bytes = ? FROM tile_places JOIN tile_contents ON tile_contents.id = tile_places.content
            WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?
            """, [.blob(bytes)] + place)
        if let isSame = there.first?.first?.integer {
            guard isSame == 1 else {
                throw TileError(.otherVersion, "The service's tiles are others than those that are on this device.")
            }
            return
        }
        var checksum = Checksum32()
        checksum.add(bytes)
        let mark = TileDatabase.Value.integer(Int(checksum.value))
        let known = try database.run(
            "SELECT id FROM tile_contents WHERE checksum = ? AND bytes = ?", [mark, .blob(bytes)])
        let content: TileDatabase.Value
        if let id = known.first?.first {
            content = id
        } else {
            let added = try database.run(
                "INSERT INTO tile_contents (checksum, bytes) VALUES (?, ?) RETURNING id", [mark, .blob(bytes)])
            content = added.first?.first ?? .null
        }
        try database.run("INSERT INTO tile_places VALUES (?, ?, ?, ?)", place + [content])
    }

    private func addStyle(of package: any TilePackage) throws(TileError) {
        for path in try package.resourcePaths() where !path.hasPrefix("info/") {
            guard let bytes = try package.resource(path) else { continue }
            try database.run(
                "INSERT OR IGNORE INTO \(SQLitePackage.resourceTable) VALUES (?, ?)", [.text(path), .blob(bytes)])
        }
    }

    private func describe(_ description: TileSetDescription) throws(TileError) {
        for (name, value) in MBTilesWriter.metadata(description) where !["minzoom", "maxzoom", "bounds"].contains(name)
        {
            try database.run("INSERT OR IGNORE INTO metadata VALUES (?, ?)", [.text(name), .text(value)])
        }
    }

    /// Where there are tiles: the box around the areas that are whole, and the levels.
    private func tellExtent() throws(TileError) {
        var values: [(String, String)] = []
        for (name, word) in [("minzoom", "min"), ("maxzoom", "max")] {
            let level = try database.run("SELECT \(word)(zoom_level) FROM tile_places").first?.first?.integer
            if let level { values.append((name, String(level))) }
        }
        let boxes = try holders().filter(\.isWhole).map(\.box)
        if let first = boxes.first {
            let around = boxes.dropFirst().reduce(first) { $0.joined(with: $1) }
            values.append(("bounds", MBTilesWriter.bounds(around)))
        }
        for (name, value) in values {
            try database.run("INSERT OR REPLACE INTO metadata VALUES (?, ?)", [.text(name), .text(value)])
        }
    }

    private func levels() throws(TileError) -> [Int] {
        try database.run("SELECT DISTINCT zoom_level FROM tile_places").compactMap { $0.first?.integer }
    }

    /// The tiles of a box, as a condition on `tile_places`.
    private static func condition(_ box: PlaneBox, _ levels: [Int]) -> String {
        let terms = levels.map { level in
            let (columns, rows) = box.tiles(level: level)
            let (first, last) = (
                SQLitePackage.upward(rows.upperBound, level: level), SQLitePackage.upward(rows.lowerBound, level: level)
            )
            // Numbers of ours alone.
            return "(zoom_level = \(level) AND tile_column BETWEEN \(columns.lowerBound) AND \(columns.upperBound)"
                + " AND tile_row BETWEEN \(first) AND \(last))"
        }
        return terms.isEmpty ? "0" : "(\(terms.joined(separator: " OR ")))"
    }

    private func bytes(in box: PlaneBox) throws(TileError) -> Int {
        let condition = Self.condition(box, try levels())
        let sum = try database.run(
            """
            SELECT ifnull(sum(length(bytes)), 0) FROM tile_contents
            WHERE id IN (SELECT content FROM tile_places WHERE \(condition))
            """)
        return sum.first?.first?.integer ?? 0
    }

    // MARK: Tiles go

    /// Forgets an area, and deletes the tiles that no other area uses. Their room is given back to the device.
    package func release(_ id: UUID) throws(TileError) {
        try transaction { () throws(TileError) in
            guard let gone = try holder(id) else { return }
            try database.run("DELETE FROM fieldwork_areas WHERE id = ?", [.text(id.uuidString)])
            let levels = try levels()
            var condition = Self.condition(gone.box, levels)
            // Areas that lie far apart have the tiles of the first levels in common.
            for other in try holders() { condition += " AND NOT \(Self.condition(other.box, levels))" }
            try database.run("DELETE FROM tile_places WHERE \(condition)")
            try database.run("DELETE FROM tile_contents WHERE id NOT IN (SELECT content FROM tile_places)")
            try tellExtent()
        }
        try database.run("PRAGMA incremental_vacuum")
        try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

extension PlaneBox {
    /// The box around both.
    fileprivate func joined(with other: PlaneBox) -> PlaneBox {
        PlaneBox(
            xMin: min(xMin, other.xMin), yMin: min(yMin, other.yMin), xMax: max(xMax, other.xMax),
            yMax: max(yMax, other.yMax))
    }
}
