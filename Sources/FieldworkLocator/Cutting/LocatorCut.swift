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

    private var extent: PlaceExtent { PlaceExtent(xMin: box.xMin, yMin: box.yMin, xMax: box.xMax, yMax: box.yMax) }

    private func addHouses(to builder: LocatorBuilder, most: Int?) throws {
        let index = DocumentIndex(data: data)
        try data.houses(near: extent) { house in
            guard box.contains(house.x, house.y), let road = try index.road(house.road) else { return }
            if let most, builder.addressCount >= most {
                throw LocatorError(.invalidRequest, "The area has more than \(most) addresses. Choose a smaller one.")
            }
            let name = try data.name(road.nameID)
            try builder.add(
                LocatorBuilder.House(
                    number: house.number, suffix: house.suffix.isEmpty ? nil : house.suffix,
                    unit: house.unit.isEmpty ? nil : house.unit, street: name.full, otherNames: name.others,
                    zone: try data.zone(house.zoneID).zone, x: house.x, y: house.y))
        }
    }

    private func addStreets(to builder: LocatorBuilder) throws {
        let index = DocumentIndex(data: data)
        try data.pieces(near: extent) { piece in
            guard let road = try index.road(piece.road), touches(piece.line) else { return }
            let name = try data.name(road.nameID)
            try builder.add(
                StreetRecord(
                    name: name.full, otherNames: name.others, zone: try data.zone(road.zoneID).zone, left: piece.left,
                    right: piece.right, line: piece.line))
        }
    }

    /// Whether the box of a line meets the area.
    private func touches(_ line: [Double]) -> Bool {
        var own = PlaceExtent()
        for index in stride(from: 0, to: line.count - 1, by: 2) { own.take(line[index], line[index + 1]) }
        return own.xMax >= box.xMin && own.xMin <= box.xMax && own.yMax >= box.yMin && own.yMin <= box.yMax
    }

    private func addPlaces(to builder: LocatorBuilder) throws {
        try data.places(near: extent) { entry, isArea in
            guard isArea || box.contains(entry.x, entry.y) else { return }
            try data.connection.run(
                "SELECT kind_id, name, others, zone_id, weight, reach, area FROM gc_place WHERE id = ?"
            ) {
                try $0.bind(entry.id, at: 1)
            } row: { row in
                let known = try data.kind(row.integer(0))
                guard let kind = PlaceRecord.Kind(rawValue: known.kind.rawValue) else { return }
                try builder.add(
                    PlaceRecord(
                        kind: kind, type: known.type, name: row.text(1),
                        otherNames: (row.optionalText(2) ?? "").split(separator: "\n").map(String.init),
                        zone: try data.zone(row.integer(3)).zone, weight: row.double(4), x: entry.x, y: entry.y,
                        reach: row.double(5), rings: PackedPath.rings(row.blob(6))))
            }
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
