import FieldworkStore

/// Writes the places of a locator, and the rows by which they are found near a point.
struct PlaceWriter {
    private struct Kind: Hashable {
        var kind: String
        var type: String
    }

    private let builder: LocatorBuilder
    private let order: DocumentOrder
    private var connection: StoreConnection { builder.connection }

    init(_ builder: LocatorBuilder, _ order: DocumentOrder) {
        self.builder = builder
        self.order = order
    }

    func write() throws {
        var kinds: [Kind: Int64] = [:]
        var points: [(cell: Int64, entry: PlaceBlock.Entry)] = []
        let insert = try connection.cached("INSERT INTO gc_place VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        defer { insert.finish() }
        try connection.run("SELECT id, kind, type, name, others, zone, weight, reach, x, y, area FROM stage_place") {
            _ in
        } row: { row in
            let number = Int(row.integer(0)) - 1
            try builder.step("places", number)
            let (id, x, y, reach) = (order.places[number], row.double(8), row.double(9), row.double(7))
            let kind = Kind(kind: row.text(1), type: row.text(2))
            let kindID = kinds[kind] ?? Int64(kinds.count + 1)
            kinds[kind] = kindID
            try insert.bind(id, at: 1)
            try insert.bind(kindID, at: 2)
            try insert.bind(row.text(3), at: 3)
            try insert.bind(row.optionalText(4), at: 4)
            try insert.bind(Int64(builder.zones.id(of: zone(row, x, y))), at: 5)
            try insert.bind(row.double(6), at: 6)
            try insert.bind(reach.rounded(), at: 7)
            try insert.bind(PackedDegrees.units(x), at: 8)
            try insert.bind(PackedDegrees.units(y), at: 9)
            if row.isNull(10) { try insert.bindNull(at: 10) } else { try insert.bind(blob: row.blob(10), at: 10) }
            _ = try insert.step()
            insert.reset()
            let entry = PlaceBlock.Entry(id: id, x: x, y: y)
            if row.isNull(10), reach == 0 {
                points.append((PlaceCell.number(x: x, y: y), entry))
            } else {
                let box = Self.box(x, y, reach: reach, rings: PackedPath.rings(row.blob(10)))
                try writeBlock([entry], isArea: true, box)
            }
        }
        try writePoints(&points)
        for (kind, id) in kinds {
            try connection.run("INSERT INTO gc_kind VALUES (?, ?, ?)") {
                try $0.bind(id, at: 1)
                try $0.bind(kind.kind, at: 2)
                try $0.bind(kind.type, at: 3)
            }
        }
    }

    private func zone(_ row: StoreStatement, _ x: Double, _ y: Double) -> AddressZone {
        var zone = builder.zones.all[Int(row.integer(5))]
        let isTown = row.text(1) == PlaceRecord.Kind.locality.rawValue && row.double(6) >= ZoneFiller.townWeight
        if !isTown { return builder.filler.filled(zone, x: x, y: y) }
        guard zone.city.isEmpty else { return zone }
        // A town learns its state and country from its addresses; it is in no other town.
        zone.city = row.text(3)
        zone = builder.filler.filled(zone, x: x, y: y)
        zone.city = ""
        return zone
    }

    // MARK: Places near a point

    private func writePoints(_ points: inout [(cell: Int64, entry: PlaceBlock.Entry)]) throws {
        points.sort { ($0.cell, $0.entry.id) < ($1.cell, $1.entry.id) }
        for start in stride(from: 0, to: points.count, by: PlaceBlock.most) {
            let entries = points[start..<min(start + PlaceBlock.most, points.count)].map(\.entry)
            var box = PlaceExtent()
            for entry in entries { box.take(entry.x, entry.y) }
            try writeBlock(entries, isArea: false, box)
        }
    }

    private func writeBlock(_ entries: [PlaceBlock.Entry], isArea: Bool, _ box: PlaceExtent) throws {
        // The first place's id is in no other row.
        let id = entries[0].id
        try connection.run("INSERT INTO gc_near VALUES (?, ?)") { statement in
            try statement.bind(id, at: 1)
            let bytes = PlaceBlock.bytes(of: entries, isArea: isArea)
            try bytes.withUnsafeBytes { try statement.bind(blob: $0, at: 2) }
        }
        try builder.writeBox(box, of: "gc_near", id: id)
    }

    private static func box(_ x: Double, _ y: Double, reach: Double, rings: [[Double]]) -> PlaceExtent {
        var box = PlaceExtent()
        let plane = PlaneMetres(latitude: y)
        box.take(x - reach / plane.perDegreeX, y - reach / plane.perDegreeY)
        box.take(x + reach / plane.perDegreeX, y + reach / plane.perDegreeY)
        for ring in rings {
            for index in stride(from: 0, to: ring.count - 1, by: 2) { box.take(ring[index], ring[index + 1]) }
        }
        return box
    }
}

extension LocatorBuilder {
    /// Writes the box of a row, a little larger than what is in it: coordinates are rounded there.
    func writeBox(_ box: PlaceExtent, of table: String, id: Int64) throws {
        let margin = 1 / PackedDegrees.unitsPerDegree
        try connection.run("INSERT INTO rtree_\(table) VALUES (?, ?, ?, ?, ?)") {
            try $0.bind(id, at: 1)
            for (index, value) in [
                box.xMin - margin, box.xMax + margin, box.yMin - margin, box.yMax + margin,
            ].enumerated() {
                try $0.bind(value, at: index + 2)
            }
        }
    }
}
