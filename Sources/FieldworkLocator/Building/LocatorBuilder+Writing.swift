import FieldworkStore
import Foundation

/// From the working tables to those of the locator.
extension LocatorBuilder {
    func writeLocator() throws {
        try writeAddresses()
        try removeDoubles()
        try writeStreets()
        try connection.execute(LocatorSchema.indexes[0])
        try connection.execute(LocatorSchema.indexes[1])
        try StreetRanges(connection).fill { try self.step("ranges", $0) }
        try writeCrossings()
        try writePlaces()
        try writeNames()
        try DocumentWriter(self).write()
        try connection.execute(LocatorSchema.indexes[2])
        for table in ["stage_address", "stage_street", "stage_place", "stage_end"] {
            try connection.execute("DROP TABLE IF EXISTS \(table)")
        }
        try writeMeta()
    }

    // MARK: Addresses

    private func writeAddresses() throws {
        var last: Int64 = -1
        var inCell: Int64 = 0
        var count = 0
        let insert = try connection.cached("INSERT INTO gc_address VALUES (?, ?, ?, ?, ?, ?, ?)")
        defer { insert.finish() }
        try connection.run(
            "SELECT cell, number, suffix, unit, name, zone, x, y FROM stage_address ORDER BY cell, rowid"
        ) { _ in
        } row: { row in
            try step("sorting addresses", count)
            count += 1
            let cell = row.integer(0)
            inCell = cell == last ? inCell + 1 : 0
            last = cell
            // A tower with more flats than a cell has rows: the rest stays out of reach of the map, which no reader notices.
            guard inCell < 1 << PlaceCell.rowBits else { return }
            let (x, y) = (row.double(6), row.double(7))
            let zone = filler.filled(zones.all[Int(row.integer(5))], x: x, y: y)
            let road = try roads.id(name: Int(row.integer(4)), zone: zones.id(of: zone.ofStreet))
            note(zone, unit: row.optionalText(3), x, y, of: road)
            try insert.bind(cell + inCell, at: 1)
            try insert.bind(Int64(road), at: 2)
            try insert.bind(row.integer(1), at: 3)
            try insert.bind(row.optionalText(2), at: 4)
            try insert.bind(row.optionalText(3), at: 5)
            try insert.bind(Int64(zones.id(of: zone)), at: 6)
            try GeometryBytes.point(x: x, y: y).withUnsafeBytes { try insert.bind(blob: $0, at: 7) }
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
            "SELECT id, road_id, number, suffix, unit, geom FROM gc_address ORDER BY road_id, number, suffix, unit, id"
        ) { _ in
        } row: { row in
            let name = "\(row.integer(1)) \(row.integer(2)) \(row.optionalText(3) ?? "") \(row.optionalText(4) ?? "")"
            guard let place = GeometryBytes.readPoint(row.blob(5)) else { return }
            if name != group { (group, kept) = (name, []) }
            let plane = PlaneMetres(latitude: place.y)
            if kept.contains(where: { plane.distance($0.x, $0.y, place.x, place.y) < 150 }) {
                doubles.append(row.integer(0))
            } else {
                kept.append(place)
            }
        }
        for id in doubles { try connection.run("DELETE FROM gc_address WHERE id = ?") { try $0.bind(id, at: 1) } }
    }

    // MARK: Streets

    private func writeStreets() throws {
        try connection.execute("CREATE TABLE stage_end (cell TEXT, name INTEGER, zone INTEGER, x REAL, y REAL)")
        let insert = try connection.cached("INSERT INTO gc_street VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
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
            try writeBox(of: line, id: id)
            try noteEnds(of: line, name: name, zone: zones.id(of: zone))
        }
    }

    private func writeBox(of line: [Double], id: Int64) throws {
        var box = PlaceExtent()
        for index in stride(from: 0, to: line.count, by: 2) { box.take(line[index], line[index + 1]) }
        try connection.run("INSERT INTO rtree_gc_street VALUES (?, ?, ?, ?, ?)") {
            try $0.bind(id, at: 1)
            for (index, value) in [box.xMin, box.xMax, box.yMin, box.yMax].enumerated() {
                try $0.bind(value, at: index + 2)
            }
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
        var used: [Int64: Int64] = [:]
        let insert = try connection.cached("INSERT INTO gc_cross VALUES (?, ?, ?, ?, ?)")
        defer { insert.finish() }
        try connection.run(
            """
            SELECT DISTINCT a.name, b.name, a.zone, a.x, a.y FROM stage_end AS a JOIN stage_end AS b ON a.cell = b.cell
            WHERE a.name < b.name GROUP BY a.cell, a.name, b.name
            """
        ) { _ in
        } row: { row in
            let (x, y) = (row.double(3), row.double(4))
            let first = PlaceCell.firstRow(x: x, y: y)
            let next = used[first, default: 0]
            guard next < 1 << PlaceCell.rowBits else { return }
            used[first] = next + 1
            try insert.bind(first + next, at: 1)
            for column in 0...2 { try insert.bind(row.integer(column), at: column + 2) }
            try GeometryBytes.point(x: x, y: y).withUnsafeBytes { try insert.bind(blob: $0, at: 5) }
            _ = try insert.step()
            insert.reset()
        }
    }

    // MARK: Places, names, notes

    private func writePlaces() throws {
        let insert = try connection.cached("INSERT INTO gc_place VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        defer { insert.finish() }
        var id: Int64 = 0
        try connection.run("SELECT kind, type, name, others, zone, weight, reach, x, y, area FROM stage_place") { _ in
        } row: { row in
            try step("places", Int(id))
            id += 1
            let (x, y) = (row.double(7), row.double(8))
            var zone = zones.all[Int(row.integer(4))]
            let isTown = row.text(0) == PlaceRecord.Kind.locality.rawValue && row.double(5) >= ZoneFiller.townWeight
            if !isTown {
                zone = filler.filled(zone, x: x, y: y)
            } else if zone.city.isEmpty {
                // A town learns its state and country from its addresses; it is in no other town.
                zone.city = row.text(2)
                zone = filler.filled(zone, x: x, y: y)
                zone.city = ""
            }
            try insert.bind(id, at: 1)
            for column in 0...2 { try insert.bind(row.text(column), at: column + 2) }
            try insert.bind(TokenizedText.key(row.text(2)), at: 5)
            try insert.bind(row.optionalText(3), at: 6)
            try insert.bind(Int64(zones.id(of: zone)), at: 7)
            try insert.bind(row.double(5), at: 8)
            try insert.bind(row.double(6), at: 9)
            try GeometryBytes.point(x: x, y: y).withUnsafeBytes { try insert.bind(blob: $0, at: 10) }
            if row.isNull(9) { try insert.bindNull(at: 11) } else { try insert.bind(blob: row.blob(9), at: 11) }
            _ = try insert.step()
            insert.reset()
            try writeBox(x, y, reach: row.double(6), rings: GeometryBytes.readRings(row.blob(9)), id: id)
        }
    }

    private func writeBox(_ x: Double, _ y: Double, reach: Double, rings: [[Double]], id: Int64) throws {
        var box = PlaceExtent()
        let plane = PlaneMetres(latitude: y)
        box.take(x - reach / plane.perDegreeX, y - reach / plane.perDegreeY)
        box.take(x + reach / plane.perDegreeX, y + reach / plane.perDegreeY)
        for ring in rings {
            for index in stride(from: 0, to: ring.count - 1, by: 2) { box.take(ring[index], ring[index + 1]) }
        }
        try connection.run("INSERT INTO rtree_gc_place VALUES (?, ?, ?, ?, ?)") {
            try $0.bind(id, at: 1)
            for (index, value) in [box.xMin, box.xMax, box.yMin, box.yMax].enumerated() {
                try $0.bind(value, at: index + 2)
            }
        }
    }

    private func writeNames() throws {
        for (id, full) in names.full.enumerated() {
            let others = names.others[id].map { $0.sorted().joined(separator: "\n") }
            try connection.run("INSERT INTO gc_name VALUES (?, ?, ?, ?)") {
                try $0.bind(Int64(id), at: 1)
                try $0.bind(full, at: 2)
                try $0.bind(names.keys[id], at: 3)
                try $0.bind(others, at: 4)
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
                try $0.bind(Int64(id), at: 1)
                try $0.bind(Int64(road.key.name), at: 2)
                try $0.bind(Int64(road.key.zone), at: 3)
                guard let middle = road.middle else { return }
                let numbers = [
                    middle.x, middle.y, road.extent.xMin, road.extent.yMin, road.extent.xMax, road.extent.yMax,
                ]
                for (index, value) in numbers.enumerated() { try $0.bind(value, at: index + 4) }
            }
        }
    }

    private func writeMeta() throws {
        let count = try connection.integer("SELECT count(*) FROM gc_address") ?? 0
        let countries = Set(zones.all.map(\.country)).subtracting([""]).sorted().joined(separator: ",")
        if extent.isEmpty { extent.take(0, 0) }
        let values = [
            "version": "\(LocatorSchema.version)", "name": name, "addresses": "\(count)", "countries": countries,
            "made": ISO8601DateFormatter().string(from: Date()), "streets": "\(streetCount)", "places": "\(placeCount)",
            "extent": [extent.xMin, extent.yMin, extent.xMax, extent.yMax].map { "\($0)" }.joined(separator: ","),
            // Suggestions carry it: those of another build mean nothing here.
            "build": UUID().uuidString, "origin": origin,
        ]
        for (key, value) in values {
            try connection.run("INSERT INTO gc_meta VALUES (?, ?)") {
                try $0.bind(key, at: 1)
                try $0.bind(value, at: 2)
            }
        }
        try LocatorSchema.register((extent.xMin, extent.yMin, extent.xMax, extent.yMax), on: connection)
    }
}
