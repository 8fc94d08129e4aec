import FieldworkStore

/// Houses, pieces of streets and places, out of the rows that hold several of them.
extension LocatorData {
    // MARK: Houses

    /// The houses of a street that have a number.
    func houses(_ number: Int64, on road: Int64) throws -> [KnownHouse] {
        var found: [KnownHouse] = []
        let statement = try connection.cached(
            "SELECT id, houses FROM gc_house WHERE id BETWEEN ? AND ? ORDER BY id DESC")
        defer { statement.finish() }
        try statement.bind(HouseBlock.rows(of: road).lowerBound, at: 1)
        try statement.bind(HouseBlock.lastRow(of: road, number: number), at: 2)
        while try statement.step() {
            let block = HouseBlock.houses(statement.blob(1), row: statement.integer(0))
            found = block.filter { $0.number == number } + found
            // Blocks that begin with the number may have others of it before them.
            guard let first = block.first, first.number >= number else { break }
        }
        return found
    }

    /// The house of a street with the nearest number below or above a number.
    /// - Parameter sameSide: takes only numbers that are odd or even as it is.
    func neighbour(of number: Int64, on road: Int64, above: Bool, sameSide: Bool) throws -> KnownHouse? {
        func fits(_ house: KnownHouse) -> Bool {
            (above ? house.number > number : house.number < number)
                && (!sameSide || (house.number &- number) % 2 == 0)
        }
        let rows = HouseBlock.rows(of: road)
        let middle = HouseBlock.lastRow(of: road, number: number)
        let statement = try connection.cached(
            above
                ? """
                SELECT id, houses FROM gc_house WHERE id <= ?2 AND id >= coalesce(
                (SELECT max(id) FROM gc_house WHERE id BETWEEN ?1 AND ?3), ?1) ORDER BY id
                """
                : "SELECT id, houses FROM gc_house WHERE id BETWEEN ?1 AND ?3 AND ?2 = ?2 ORDER BY id DESC")
        defer { statement.finish() }
        try statement.bind(rows.lowerBound, at: 1)
        try statement.bind(rows.upperBound, at: 2)
        try statement.bind(middle, at: 3)
        while try statement.step() {
            let block = HouseBlock.houses(statement.blob(1), row: statement.integer(0))
            if let found = above ? block.first(where: fits) : block.last(where: fits) { return found }
        }
        return nil
    }

    func house(_ id: Int64) throws -> KnownHouse? {
        var found: KnownHouse?
        try connection.run("SELECT houses FROM gc_house WHERE id = ?") {
            try $0.bind(HouseBlock.row(ofHouse: id), at: 1)
        } row: { row in
            found = HouseBlock.houses(row.blob(0), row: HouseBlock.row(ofHouse: id)).first { $0.id == id }
        }
        return found
    }

    /// Every house that may lie in a box; those of its rows that lie outside as well.
    func houses(near box: PlaceExtent, _ body: (KnownHouse) throws -> Void) throws {
        try rows("gc_house", "houses", near: box) { id, bytes in
            for house in HouseBlock.houses(bytes, row: id) { try body(house) }
        }
    }

    // MARK: Streets

    func pieces(of road: Int64) throws -> [StreetPiece] {
        var pieces: [StreetPiece] = []
        let rows = StreetBlock.rows(of: road)
        try connection.run("SELECT id, pieces FROM gc_street WHERE id BETWEEN ? AND ?") {
            try $0.bind(rows.lowerBound, at: 1)
            try $0.bind(rows.upperBound, at: 2)
        } row: { row in
            pieces += StreetBlock.pieces(row.blob(1), row: row.integer(0))
        }
        return pieces
    }

    /// Every piece of a street that may lie in a box; others of its rows as well.
    func pieces(near box: PlaceExtent, _ body: (StreetPiece) throws -> Void) throws {
        try rows("gc_street", "pieces", near: box) { id, bytes in
            for piece in StreetBlock.pieces(bytes, row: id) { try body(piece) }
        }
    }

    // MARK: Places

    /// Every place that may lie in a box or reach into it.
    func places(near box: PlaceExtent, _ body: (PlaceBlock.Entry, _ isArea: Bool) throws -> Void) throws {
        try rows("gc_near", "places", near: box) { _, bytes in
            let block = PlaceBlock.entries(bytes)
            for entry in block.entries { try body(entry, block.isArea) }
        }
    }

    private func rows(
        _ table: String, _ column: String, near box: PlaceExtent, _ body: (Int64, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try connection.run(
            """
            SELECT b.id, b.\(column) FROM rtree_\(table) AS t JOIN \(table) AS b ON b.id = t.id
            WHERE t.max_x >= ? AND t.min_x <= ? AND t.max_y >= ? AND t.min_y <= ?
            """
        ) {
            for (index, value) in [box.xMin, box.xMax, box.yMin, box.yMax].enumerated() {
                try $0.bind(value, at: index + 1)
            }
        } row: { row in
            try body(row.integer(0), row.blob(1))
        }
    }
}
