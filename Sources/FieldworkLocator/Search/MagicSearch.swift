import FieldworkStore

/// Finds the answer that a suggestion named.
struct MagicSearch {
    let data: LocatorData
    let options: LocatorOptions

    /// nil for the key of another build, or of what is not there: the text is searched then.
    func result(for text: SearchText) throws -> LocatorResult? {
        guard !options.magicKey.isEmpty,
            let (document, address) = MagicKey.parts(options.magicKey, build: data.build)
        else { return nil }
        let index = DocumentIndex(data: data)
        guard let found = try index.document(document) else { return nil }
        if let place = found.place { return LocatorResult.of(place, try data.zone(place.zoneID).zone) }
        guard let road = found.road else { return nil }
        // A number between houses has no key of its own: the text tells it.
        guard let address else { return nil }
        var result = LocatorResult(kind: .pointAddress, zone: try data.zone(road.zoneID).zone, x: road.x, y: road.y)
        result.addressID = address
        var isThere = false
        try data.connection.run(
            "SELECT number, suffix, unit, zone_id, geom FROM gc_address WHERE id = ? AND road_id = ?"
        ) {
            try $0.bind(address, at: 1)
            try $0.bind(road.id, at: 2)
        } row: { row in
            guard let place = GeometryBytes.readPoint(row.blob(4)) else { return }
            isThere = true
            let suffix = row.optionalText(1) ?? ""
            result.number = "\(row.integer(0))\(suffix.contains("/") ? " " : "")\(suffix)"
            result.unit = row.optionalText(2) ?? ""
            result.zone = try data.zone(row.integer(3)).zone
            (result.x, result.y, result.routeX, result.routeY) = (place.x, place.y, place.x, place.y)
        }
        guard isThere else { return nil }
        result.street = try data.name(road.nameID).full
        if !result.unit.isEmpty { result.kind = .subaddress }
        return result
    }
}
