import FieldworkStore
import Foundation

/// From the working tables to those of the locator.
extension LocatorBuilder {
    func writeLocator() throws {
        try fillAddresses()
        try connection.execute("CREATE INDEX stage_house_number ON stage_house (road_id, number, suffix, unit)")
        try removeDoubles()
        try fillStreets()
        try connection.execute("CREATE INDEX stage_piece_road ON stage_piece (road_id)")
        try StreetRanges(connection).fill { try self.step("ranges", $0) }
        try writeCrossings()
        let order = try DocumentOrder(self)
        try PlaceWriter(self, order).write()
        let blocks = BlockWriter(self, order)
        let count = try blocks.writeHouses()
        try blocks.writeStreets()
        try writeNames(order)
        try DocumentWriter(self, order).write()
        for table in LocatorSchema.stageTables { try connection.execute("DROP TABLE IF EXISTS \(table)") }
        try writeMeta(order, addresses: count)
    }

    // MARK: Addresses

    private func fillAddresses() throws {
        var count = 0
        let insert = try connection.cached("INSERT INTO stage_house VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)")
        defer { insert.finish() }
        try connection.run("SELECT number, suffix, unit, name, zone, x, y FROM stage_address ORDER BY rowid") { _ in
        } row: { row in
            try step("sorting addresses", count)
            count += 1
            let (x, y) = (row.double(5), row.double(6))
            let zone = filler.filled(zones.all[Int(row.integer(4))], x: x, y: y)
            let road = try roads.id(name: Int(row.integer(3)), zone: zones.id(of: zone.ofStreet))
            note(zone, unit: row.optionalText(2), x, y, of: road)
            try insert.bind(Int64(road), at: 1)
            try insert.bind(row.integer(0), at: 2)
            try insert.bind(row.optionalText(1), at: 3)
            try insert.bind(row.optionalText(2), at: 4)
            try insert.bind(Int64(zones.id(of: zone)), at: 5)
            try insert.bind(x, at: 6)
            try insert.bind(y, at: 7)
            _ = try insert.step()
            insert.reset()
        }
    }

    private func note(_ zone: AddressZone, unit: String?, _ x: Double, _ y: Double, of road: Int) {
        roads.all[road].addresses += 1
        roads.all[road].extent.take(x, y)
        if roads.all[road].middle == nil { roads.all[road].middle = (x, y) }
        if !zone.postal.isEmpty { roads.all[road].words.formUnion(TokenizedText(zone.postal).tokens.map(\.text)) }
        if !zone.neighborhood.isEmpty {
            roads.all[road].words.formUnion(TokenizedText(zone.neighborhood).tokens.map(\.text))
        }
        guard let unit else { return }
        roads.all[road].words.formUnion(TokenizedText(unit).tokens.filter { !$0.startsWithDigit }.map(\.text))
    }

    /// Sources tell one address several times: of the house, and of each shop in it. One near the first is the same.
    private func removeDoubles() throws {
        var doubles: [Int64] = []
        var group = ""
        var kept: [(x: Double, y: Double)] = []
        try connection.run(
            "SELECT id, road_id, number, suffix, unit, x, y FROM stage_house ORDER BY road_id, number, suffix, unit, id"
        ) { _ in
        } row: { row in
            let name = "\(row.integer(1)) \(row.integer(2)) \(row.optionalText(3) ?? "") \(row.optionalText(4) ?? "")"
            let place = (x: row.double(5), y: row.double(6))
            if name != group { (group, kept) = (name, []) }
            let plane = PlaneMetres(latitude: place.y)
            if kept.contains(where: { plane.distance($0.x, $0.y, place.x, place.y) < 150 }) {
                doubles.append(row.integer(0))
            } else {
                kept.append(place)
            }
        }
        for id in doubles { try connection.run("DELETE FROM stage_house WHERE id = ?") { try $0.bind(id, at: 1) } }
    }

    // MARK: Streets

    private func fillStreets() throws {
        let insert = try connection.cached("INSERT INTO stage_piece VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        defer { insert.finish() }
        var id: Int64 = 0
        try connection.run(
            "SELECT name, zone, left_from, left_to, left_parity, right_from, right_to, right_parity, geom FROM stage_street"
        ) { _ in
        } row: { row in
            try step("streets", Int(id))
            id += 1
            let line = GeometryBytes.readLine(row.blob(8))
            guard line.count >= 4 else { return }
            let half = line.count / 4 * 2
            let zone = filler.filled(zones.all[Int(row.integer(1))], x: line[half], y: line[half + 1]).ofStreet
            let name = Int(row.integer(0))
            let road = try roads.id(name: name, zone: zones.id(of: zone))
            for index in stride(from: 0, to: line.count, by: 2) {
                roads.all[road].extent.take(line[index], line[index + 1])
            }
            // The middle of the longest piece would be better; the first piece's will do.
            if roads.all[road].addresses == 0, roads.all[road].middle == nil {
                roads.all[road].middle = (line[half], line[half + 1])
            }
            try insert.bind(id, at: 1)
            try insert.bind(Int64(road), at: 2)
            for column in 2...7 {
                if row.isNull(column) {
                    try insert.bindNull(at: column + 1)
                } else if column == 4 || column == 7 {
                    try insert.bind(row.text(column), at: column + 1)
                } else {
                    try insert.bind(row.integer(column), at: column + 1)
                }
            }
            try insert.bind(blob: row.blob(8), at: 9)
            _ = try insert.step()
            insert.reset()
            try noteEnds(of: line, name: name, zone: zones.id(of: zone))
        }
    }

    private func noteEnds(of line: [Double], name: Int, zone: Int) throws {
        for (x, y) in [(line[0], line[1]), (line[line.count - 2], line[line.count - 1])] {
            // Ends within a centimetre or so are one.
            let cell = "\(Int((x * 1e7).rounded())) \(Int((y * 1e7).rounded()))"
            try connection.run("INSERT INTO stage_end VALUES (?, ?, ?, ?, ?)") {
                try $0.bind(cell, at: 1)
                try $0.bind(Int64(name), at: 2)
                try $0.bind(Int64(zone), at: 3)
                try $0.bind(x, at: 4)
                try $0.bind(y, at: 5)
            }
        }
    }

    /// Where pieces of streets with different names end together.
    private func writeCrossings() throws {
        try connection.execute("CREATE INDEX stage_end_cell ON stage_end (cell)")
        let insert = try connection.cached("INSERT OR IGNORE INTO gc_cross VALUES (?, ?, ?, ?, ?)")
        defer { insert.finish() }
        try connection.run(
            """
            SELECT DISTINCT a.name, b.name, a.zone, a.x, a.y FROM stage_end AS a JOIN stage_end AS b ON a.cell = b.cell
            WHERE a.name < b.name GROUP BY a.cell, a.name, b.name
            """
        ) { _ in
        } row: { row in
            try insert.bind(row.integer(0), at: 1)
            try insert.bind(row.integer(1), at: 2)
            try insert.bind(PackedDegrees.units(row.double(3)), at: 3)
            try insert.bind(PackedDegrees.units(row.double(4)), at: 4)
            try insert.bind(row.integer(2), at: 5)
            _ = try insert.step()
            insert.reset()
        }
    }

    // MARK: Names, notes

    private func writeNames(_ order: DocumentOrder) throws {
        for (id, full) in names.full.enumerated() {
            let others = names.others[id].map { $0.sorted().joined(separator: "\n") }
            try connection.run("INSERT INTO gc_name VALUES (?, ?, ?)") {
                try $0.bind(Int64(id), at: 1)
                try $0.bind(full, at: 2)
                try $0.bind(others, at: 3)
            }
        }
        for (id, zone) in zones.all.enumerated() {
            try connection.run("INSERT INTO gc_zone VALUES (?, ?, ?, ?, ?, ?, ?, ?)") {
                try $0.bind(Int64(id), at: 1)
                let texts = [zone.neighborhood, zone.city, zone.subregion, zone.region, zone.postal, zone.country]
                for (index, text) in texts.enumerated() { try $0.bind(text, at: index + 2) }
                try $0.bind(RegionNames.aliases(of: zone).joined(separator: "\n"), at: 8)
            }
        }
        for (id, road) in roads.all.enumerated() {
            try connection.run("INSERT INTO gc_road VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)") {
                try $0.bind(order.roads[id], at: 1)
                try $0.bind(Int64(road.key.name), at: 2)
                try $0.bind(Int64(road.key.zone), at: 3)
                guard let middle = road.middle else { return }
                let units = [
                    middle.x, middle.y, middle.x - road.extent.xMin, middle.y - road.extent.yMin,
                    road.extent.xMax - middle.x, road.extent.yMax - middle.y,
                ].map(PackedDegrees.units)
                for (index, value) in units.enumerated() { try $0.bind(value, at: index + 4) }
            }
        }
    }

    private func writeMeta(_ order: DocumentOrder, addresses count: Int) throws {
        let countries = Set(zones.all.map(\.country)).subtracting([""]).sorted().joined(separator: ",")
        if extent.isEmpty { extent.take(0, 0) }
        let values = [
            "version": "\(LocatorSchema.version)", "name": name, "addresses": "\(count)", "countries": countries,
            "made": ISO8601DateFormatter().string(from: Date()), "streets": "\(streetCount)", "places": "\(placeCount)",
            "extent": [extent.xMin, extent.yMin, extent.xMax, extent.yMax].map { "\($0)" }.joined(separator: ","),
            // Suggestions carry it: those of another build mean nothing here.
            "build": UUID().uuidString, "origin": origin,
            "ranks": order.firstIDs.map { "\($0)" }.joined(separator: ","),
        ]
        for (key, value) in values {
            try connection.run("INSERT INTO gc_meta VALUES (?, ?)") {
                try $0.bind(key, at: 1)
                try $0.bind(value, at: 2)
            }
        }
        try LocatorSchema.register(extent, on: connection)
    }
}
