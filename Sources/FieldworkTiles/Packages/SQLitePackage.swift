import FieldworkGeometry
import Foundation

/// Packages that are SQLite files: MBTiles, and GeoPackages with a pyramid of tiles.
package struct SQLitePackage: TilePackage {
    package let description: TileSetDescription
    private let database: TileDatabase
    /// As it stands in statements.
    private let table: String
    /// MBTiles count rows from the bottom.
    private let countsUpwards: Bool
    /// Whether the style stands beside the tiles.
    private let hasResources: Bool

    /// The table of the style's files, where there is one: MBTiles themselves know none.
    static let resourceTable = "fieldwork_resources"

    /// A row as MBTiles count it, and back.
    static func upward(_ row: Int, level: Int) -> Int { (1 << level) - 1 - row }

    package static func open(_ path: String) throws(TileError) -> SQLitePackage {
        let database = try TileDatabase(path: path)
        let names = try Set(
            database.run("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").compactMap { $0.first?.text }
        )
        if names.isSuperset(of: ["metadata", "tiles"]) {
            return try SQLitePackage(mbtiles: database, hasResources: names.contains(resourceTable))
        }
        if names.isSuperset(of: ["gpkg_contents", "gpkg_tile_matrix", "gpkg_tile_matrix_set"]) {
            return try SQLitePackage(geoPackage: database)
        }
        throw TileError(.unknownFormat, "The SQLite file is neither MBTiles nor a GeoPackage with tiles.")
    }

    // MARK: MBTiles

    private init(mbtiles database: TileDatabase, hasResources: Bool) throws(TileError) {
        self.database = database
        self.hasResources = hasResources
        table = "tiles"
        countsUpwards = true
        var metadata: [String: String] = [:]
        for row in try database.run("SELECT name, value FROM metadata") {
            if row.count == 2, let name = row[0].text { metadata[name] = row[1].text }
        }
        let format = metadata["format"].flatMap(TileSetDescription.Format.init(name:))
        guard let format else {
            throw TileError(.unsupported, "The MBTiles hold tiles of the format '\(metadata["format"] ?? "")'.")
        }
        var levels = [metadata["minzoom"], metadata["maxzoom"]].compactMap { $0.flatMap { Int($0) } }
        if levels.count < 2 {
            // Both by the index: one look would go through all rows.
            levels = []
            for word in ["min", "max"] {
                let found = try database.run("SELECT \(word)(zoom_level) FROM tiles").first?.first?.integer
                if let found { levels.append(found) }
            }
        }
        guard levels.count == 2 else { throw TileError(.broken, "The MBTiles have no tiles.") }
        let bounds = (metadata["bounds"] ?? "").split(separator: ",")
            .compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }
        let json = metadata["json"].flatMap { try? JSONParser.parse(Array($0.utf8)) }
        description = TileSetDescription(
            name: metadata["name"] ?? "", attribution: metadata["attribution"] ?? "", format: format,
            levels: try TileSetDescription.levels(levels[0], levels[1]),
            box: bounds.count == 4
                ? TileSetDescription.box(west: bounds[0], south: bounds[1], east: bounds[2], north: bounds[3]) : nil,
            vectorLayers: json?["vector_layers"]?.arrayValue ?? [], schema: metadata[MBTilesWriter.schemaName])
    }

    // MARK: GeoPackage

    private init(geoPackage database: TileDatabase) throws(TileError) {
        self.database = database
        countsUpwards = false
        hasResources = false
        let sets = try database.run(
            """
            SELECT c.table_name, c.identifier, s.min_x, s.min_y, s.max_x, s.max_y, r.organization_coordsys_id
            FROM gpkg_contents c JOIN gpkg_tile_matrix_set s ON s.table_name = c.table_name
            JOIN gpkg_spatial_ref_sys r ON r.srs_id = s.srs_id WHERE c.data_type = 'tiles'
            """)
        let side = WebMercator.halfSide
        guard
            let set = sets.first(where: { set in
                let bounds = set[2...5].compactMap(\.real)
                return bounds.count == 4 && [3857, 900_913].contains(set[6].integer ?? 0)
                    && zip(bounds, [-side, -side, side, side]).allSatisfy { abs($0 - $1) < 1 }
            }), let table = set[0].text
        else {
            throw TileError(.unsupported, "The GeoPackage has no tiles in the Web Mercator grid of web maps.")
        }
        let name = "\"\(table.replacing("\"", with: "\"\""))\""
        self.table = name
        let matrices = try database.run(
            "SELECT zoom_level, matrix_width FROM gpkg_tile_matrix WHERE table_name = ?", [.text(table)])
        var present: [Int] = []
        for matrix in matrices {
            guard let level = matrix[0].integer, (0...Limits.tileLevel).contains(level), matrix[1].integer == 1 << level
            else {
                throw TileError(.unsupported, "The levels of the GeoPackage's tiles aren't those of web maps.")
            }
            if try !database.run("SELECT 1 FROM \(name) WHERE zoom_level = ? LIMIT 1", [.integer(level)]).isEmpty {
                present.append(level)
            }
        }
        guard let least = present.min(), let most = present.max() else {
            throw TileError(.broken, "The GeoPackage has no tiles.")
        }
        let first = try database.run("SELECT tile_data FROM \(name) LIMIT 1").first?.first
        guard case .blob(let bytes)? = first, let format = TileSetDescription.Format(signature: bytes) else {
            throw TileError(.unsupported, "The GeoPackage's tiles are no images of a known kind.")
        }
        let box = try database.run(
            """
            SELECT c.min_x, c.min_y, c.max_x, c.max_y FROM gpkg_contents c
            WHERE c.table_name = ? AND c.srs_id IN (3857, 900913)
            """, [.text(table)]
        ).first?.compactMap(\.real)
        description = TileSetDescription(
            name: set[1].text ?? table, format: format, levels: try TileSetDescription.levels(least, most),
            box: box.flatMap { $0.count == 4 ? PlaneBox(xMin: $0[0], yMin: $0[1], xMax: $0[2], yMax: $0[3]) : nil })
    }

    package func tile(_ address: TileAddress) throws(TileError) -> [UInt8]? {
        guard case .blob(let bytes)? = try first("tile_data", address), !bytes.isEmpty else { return nil }
        return bytes
    }

    package func has(_ address: TileAddress) throws(TileError) -> Bool {
        try first("length(tile_data) > 0", address)?.integer == 1
    }

    package func resource(_ path: String) throws(TileError) -> [UInt8]? {
        guard hasResources else { return nil }
        let rows = try database.run("SELECT bytes FROM \(Self.resourceTable) WHERE path = ?", [.text(path)])
        guard case .blob(let bytes)? = rows.first?.first else { return nil }
        return bytes
    }

    package func resourcePaths() throws(TileError) -> [String] {
        guard hasResources else { return [] }
        return try database.run("SELECT path FROM \(Self.resourceTable) ORDER BY path").compactMap { $0.first?.text }
    }

    private func first(_ result: String, _ address: TileAddress) throws(TileError) -> TileDatabase.Value? {
        let row = countsUpwards ? Self.upward(address.row, level: address.level) : address.row
        let query = "SELECT \(result) FROM \(table) WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?"
        return try database.run(query, [.integer(address.level), .integer(address.column), .integer(row)]).first?.first
    }
}
