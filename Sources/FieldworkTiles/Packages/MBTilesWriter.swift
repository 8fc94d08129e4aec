import FieldworkGeometry

/// Writes MBTiles 1.3. The tiles come in any order; the file is whole once `finish` has returned.
package final class MBTilesWriter: TilePackageWriter {
    /// The name of the mark of our own layers.
    static let schemaName = "fieldwork_schema"

    private let database: TileDatabase
    private let format: TileSetDescription.Format
    private var levels: ClosedRange<Int>?

    /// - Parameters:
    ///   - path: is made anew.
    ///   - format: of the tiles; vector tiles that come without compression are compressed.
    package init(path: String, format: TileSetDescription.Format) throws(TileError) {
        let database = try TileDatabase(path: path, creates: true)
        try database.run("PRAGMA application_id = 1297105496")
        try database.run("PRAGMA journal_mode = OFF")
        try database.run("CREATE TABLE metadata (name TEXT, value TEXT)")
        try database.run(
            "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
        try database.run("BEGIN")
        self.database = database
        self.format = format
    }

    package func add(_ bytes: [UInt8], at address: TileAddress) throws(TileError) {
        let row = (1 << address.level) - 1 - address.row
        try database.run(
            "INSERT INTO tiles VALUES (?, ?, ?, ?)",
            [.integer(address.level), .integer(address.column), .integer(row), .blob(try Self.packed(bytes, format))])
        let known = levels ?? address.level...address.level
        levels = min(known.lowerBound, address.level)...max(known.upperBound, address.level)
    }

    package func finish(_ description: TileSetDescription) throws(TileError) {
        var metadata = [
            ("name", description.name), ("format", description.format == .jpeg ? "jpg" : description.format.rawValue),
            ("type", "baselayer"), ("minzoom", String(levels?.lowerBound ?? 0)),
            ("maxzoom", String(levels?.upperBound ?? 0)),
        ]
        if !description.attribution.isEmpty { metadata.append(("attribution", description.attribution)) }
        if let box = description.box {
            let degrees = [
                WebMercator.longitude(x: box.xMin), WebMercator.latitude(y: box.yMin),
                WebMercator.longitude(x: box.xMax), WebMercator.latitude(y: box.yMax),
            ]
            metadata.append(("bounds", degrees.map { "\($0)" }.joined(separator: ",")))
        }
        if description.format == .vector {
            metadata.append(("json", (["vector_layers": .array(description.vectorLayers)] as JSONValue).text))
        }
        if let schema = description.schema { metadata.append((Self.schemaName, schema)) }
        for (name, value) in metadata {
            try database.run("INSERT INTO metadata VALUES (?, ?)", [.text(name), .text(value)])
        }
        try database.run("CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)")
        try database.run("COMMIT")
    }
}
