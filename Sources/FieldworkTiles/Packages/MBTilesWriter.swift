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
        let row = SQLitePackage.upward(address.row, level: address.level)
        try database.run(
            "INSERT INTO tiles VALUES (?, ?, ?, ?)",
            [.integer(address.level), .integer(address.column), .integer(row), .blob(try Self.packed(bytes, format))])
        let known = levels ?? address.level...address.level
        levels = min(known.lowerBound, address.level)...max(known.upperBound, address.level)
    }

    package func finish(_ description: TileSetDescription) throws(TileError) {
        var description = description
        description.levels = levels ?? 0...0
        for (name, value) in Self.metadata(description) {
            try database.run("INSERT INTO metadata VALUES (?, ?)", [.text(name), .text(value)])
        }
        try database.run("CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)")
        try database.run("COMMIT")
    }

    /// What the file says of itself.
    static func metadata(_ description: TileSetDescription) -> [(name: String, value: String)] {
        var metadata = [
            (name: "name", value: description.name),
            (name: "format", value: description.format == .jpeg ? "jpg" : description.format.rawValue),
            (name: "type", value: "baselayer"), (name: "minzoom", value: String(description.levels.lowerBound)),
            (name: "maxzoom", value: String(description.levels.upperBound)),
        ]
        if !description.attribution.isEmpty { metadata.append((name: "attribution", value: description.attribution)) }
        if let box = description.box { metadata.append((name: "bounds", value: bounds(box))) }
        if description.format == .vector {
            let json: JSONValue = ["vector_layers": .array(description.vectorLayers)]
            metadata.append((name: "json", value: json.text))
        }
        if let schema = description.schema { metadata.append((name: schemaName, value: schema)) }
        return metadata
    }

    /// A box in degrees.
    static func bounds(_ box: PlaneBox) -> String {
        let degrees = [
            WebMercator.longitude(x: box.xMin), WebMercator.latitude(y: box.yMin),
            WebMercator.longitude(x: box.xMax), WebMercator.latitude(y: box.yMax),
        ]
        return degrees.map { "\($0)" }.joined(separator: ",")
    }
}
