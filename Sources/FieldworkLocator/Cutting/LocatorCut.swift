import FieldworkStore
package import Foundation

/// Cuts the part of a locator that lies in an area, with a margin around it, into a locator of its own: for the work offline.
package struct LocatorCut {
    private let data: LocatorData
    private let box: LocatorOptions.Extent

    /// Makes a locator of what another has in an area.
    /// - Parameters:
    ///   - source: the locator's file.
    ///   - area: degrees of WGS 84.
    ///   - target: the file that is made; one that is there is replaced.
    ///   - most: how many addresses the part may have; nil for any number.
    /// - Returns: the number of its addresses.
    @discardableResult
    package static func make(
        of source: URL, area: LocatorOptions.Extent, at target: URL, most: Int? = nil,
        report: @escaping (LocatorBuilder.Progress) -> Void = { _ in }
    ) throws -> Int {
        guard area.xMin < area.xMax, area.yMin < area.yMax else {
            throw LocatorError(
                .invalidRequest, "The area encloses nothing: west is less than east, south less than north.")
        }
        let data = try LocatorData(path: source.path, words: SharedVocabulary())
        let builder = try LocatorBuilder(name: data.name, at: target, report: report)
        try LocatorCut(data: data, box: area.grown(by: Limits.cutMarginMetres)).fill(builder, most: most)
        guard builder.addressCount + builder.streetCount + builder.placeCount > 0 else {
            throw LocatorError(.notFound, "The locator \(data.name) has nothing in this area.")
        }
        try builder.finish()
        return builder.addressCount
    }

    private func fill(_ builder: LocatorBuilder, most: Int?) throws {
        try addPlaces(to: builder)
        try addStreets(to: builder)
        try addHouses(to: builder, most: most)
    }

    private func addHouses(to builder: LocatorBuilder, most: Int?) throws {
        for range in PlaceCell.ranges(xMin: box.xMin, yMin: box.yMin, xMax: box.xMax, yMax: box.yMax) {
            try data.connection.run(
                """
                SELECT a.number, a.suffix, a.unit, a.zone_id, r.name_id, a.geom FROM gc_address AS a
                JOIN gc_road AS r ON r.id = a.road_id WHERE a.id BETWEEN ? AND ?
                """
            ) {
                try $0.bind(range.lowerBound, at: 1)
                try $0.bind(range.upperBound, at: 2)
            } row: { row in
                guard let place = GeometryBytes.readPoint(row.blob(5)), box.contains(place.x, place.y) else { return }
                if let most, builder.addressCount >= most {
                    throw LocatorError(
                        .invalidRequest, "The area has more than \(most) addresses. Choose a smaller one.")
                }
                let name = try data.name(row.integer(4))
                try builder.add(
                    LocatorBuilder.House(
                        number: row.integer(0), suffix: row.optionalText(1), unit: row.optionalText(2),
                        street: name.full, otherNames: name.others, zone: try data.zone(row.integer(3)).zone,
                        x: place.x, y: place.y))
            }
        }
    }

    private func addStreets(to builder: LocatorBuilder) throws {
        try data.connection.run(
            """
            SELECT r.name_id, r.zone_id, s.left_from, s.left_to, s.left_parity, s.right_from, s.right_to, s.right_parity, s.geom
            FROM rtree_gc_street AS t JOIN gc_street AS s ON s.id = t.id JOIN gc_road AS r ON r.id = s.road_id
            WHERE t.max_x >= ? AND t.min_x <= ? AND t.max_y >= ? AND t.min_y <= ?
            """
        ) {
            try bindBox(to: $0)
        } row: { row in
            let name = try data.name(row.integer(0))
            try builder.add(
                StreetRecord(
                    name: name.full, otherNames: name.others, zone: try data.zone(row.integer(1)).zone,
                    left: StreetPiece.range(row, 2), right: StreetPiece.range(row, 5),
                    line: GeometryBytes.readLine(row.blob(8))))
        }
    }

    private func addPlaces(to builder: LocatorBuilder) throws {
        try data.connection.run(
            """
            SELECT p.kind, p.type, p.name, p.others, p.zone_id, p.weight, p.reach, p.geom, p.area
            FROM rtree_gc_place AS t JOIN gc_place AS p ON p.id = t.id
            WHERE t.max_x >= ? AND t.min_x <= ? AND t.max_y >= ? AND t.min_y <= ?
            """
        ) {
            try bindBox(to: $0)
        } row: { row in
            guard let point = GeometryBytes.readPoint(row.blob(7)), let kind = PlaceRecord.Kind(rawValue: row.text(0))
            else { return }
            try builder.add(
                PlaceRecord(
                    kind: kind, type: row.text(1), name: row.text(2),
                    otherNames: (row.optionalText(3) ?? "").split(separator: "\n").map(String.init),
                    zone: try data.zone(row.integer(4)).zone, weight: row.double(5), x: point.x, y: point.y,
                    reach: row.double(6), rings: GeometryBytes.readRings(row.blob(8))))
        }
    }

    private func bindBox(to statement: StoreStatement) throws {
        for (index, value) in [box.xMin, box.xMax, box.yMin, box.yMax].enumerated() {
            try statement.bind(value, at: index + 1)
        }
    }
}

extension LocatorOptions.Extent {
    /// The box with a margin around it.
    func grown(by metres: Double) -> LocatorOptions.Extent {
        let plane = PlaneMetres(latitude: (yMin + yMax) / 2)
        let (dx, dy) = (metres / plane.perDegreeX, metres / plane.perDegreeY)
        return LocatorOptions.Extent(xMin: xMin - dx, yMin: yMin - dy, xMax: xMax + dx, yMax: yMax + dy)
    }
}
