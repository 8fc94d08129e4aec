import FieldworkStore

/// Writes houses and pieces of streets, those of a street together.
struct BlockWriter {
    private let builder: LocatorBuilder
    private let order: DocumentOrder
    private var connection: StoreConnection { builder.connection }

    init(_ builder: LocatorBuilder, _ order: DocumentOrder) {
        self.builder = builder
        self.order = order
    }

    // MARK: Houses

    /// - Returns: how many there are.
    func writeHouses() throws -> Int {
        var (count, lastRow): (Int, Int64?) = (0, nil)
        var block: [KnownHouse] = []
        func finish() throws {
            defer { block = [] }
            guard let first = block.first else { return }
            if let last = lastRow, HouseBlock.road(ofRow: last) != first.road { lastRow = nil }
            guard let row = HouseBlock.row(of: first.road, first: first.number, after: lastRow) else { return }
            try write(block, row)
            lastRow = row
            count += block.count
        }
        try connection.run(
            "SELECT road_id, number, suffix, unit, zone_id, x, y FROM stage_house ORDER BY road_id, number, suffix, unit, id"
        ) { _ in
        } row: { row in
            let house = KnownHouse(
                road: order.roads[Int(row.integer(0))], number: row.integer(1), suffix: row.optionalText(2) ?? "",
                unit: row.optionalText(3) ?? "", zoneID: row.integer(4), x: row.double(5), y: row.double(6))
            if block.count >= HouseBlock.most || (block.last.map { $0.road != house.road } ?? false) { try finish() }
            try builder.step("houses", count)
            block.append(house)
        }
        try finish()
        return count
    }

    private func write(_ houses: [KnownHouse], _ row: Int64) throws {
        try connection.run("INSERT INTO gc_house VALUES (?, ?)") { statement in
            try statement.bind(row, at: 1)
            try HouseBlock.bytes(of: houses).withUnsafeBytes { try statement.bind(blob: $0, at: 2) }
        }
        var box = PlaceExtent()
        for house in houses { box.take(house.x, house.y) }
        try builder.writeBox(box, of: "gc_house", id: row)
    }

    // MARK: Streets

    func writeStreets() throws {
        var (road, pieces): (Int64, [StreetPiece]) = (-1, [])
        func finish() throws {
            // Pieces that lie near each other share a row.
            let sorted = pieces.map { (cell: PlaceCell.number(x: $0.line[0], y: $0.line[1]), piece: $0) }
                .sorted { $0.cell < $1.cell }.map(\.piece)
            pieces = []
            for (block, start) in stride(from: 0, to: sorted.count, by: StreetBlock.most).enumerated() {
                guard let row = StreetBlock.row(of: road, block: block) else { return }
                try write(Array(sorted[start..<min(start + StreetBlock.most, sorted.count)]), row)
            }
        }
        try connection.run(
            """
            SELECT road_id, left_from, left_to, left_parity, right_from, right_to, right_parity, geom FROM stage_piece
            ORDER BY road_id, id
            """
        ) { _ in
        } row: { row in
            let id = order.roads[Int(row.integer(0))]
            if id != road { try finish() }
            road = id
            pieces.append(
                StreetPiece(
                    road: id, left: Self.range(row, 1), right: Self.range(row, 4),
                    line: GeometryBytes.readLine(row.blob(7))))
        }
        try finish()
    }

    private static func range(_ row: StoreStatement, _ column: Int) -> NumberRange? {
        guard !row.isNull(column), !row.isNull(column + 1) else { return nil }
        return NumberRange(
            from: Int(row.integer(column)), to: Int(row.integer(column + 1)),
            parity: NumberRange.Parity(rawValue: row.optionalText(column + 2) ?? ""))
    }

    private func write(_ pieces: [StreetPiece], _ row: Int64) throws {
        try connection.run("INSERT INTO gc_street VALUES (?, ?)") { statement in
            try statement.bind(row, at: 1)
            try StreetBlock.bytes(of: pieces).withUnsafeBytes { try statement.bind(blob: $0, at: 2) }
        }
        var box = PlaceExtent()
        for piece in pieces {
            for index in stride(from: 0, to: piece.line.count - 1, by: 2) {
                box.take(piece.line[index], piece.line[index + 1])
            }
        }
        try builder.writeBox(box, of: "gc_street", id: row)
    }
}
