/// The members of an answer by the names of the protocol, which are others in a search than for a place.
package enum ResultAttributes {
    package enum Value: Sendable, Hashable {
        case text(String)
        case number(Double)
    }

    /// Of a candidate, in their order.
    package static func ofCandidate(_ result: LocatorResult, locator: String) -> [(name: String, value: Value)] {
        let zone = result.zone
        let extent = result.extent
        let range = result.range
        let street = StreetParts(result.street)
        let texts: [(String, String)] = [
            ("Loc_name", locator), ("Status", "M"),
        ]
        let numbers: [(String, Double)] = [("Score", result.score)]
        let middle: [(String, String)] = [
            ("Match_addr", result.label), ("LongLabel", result.longLabel), ("ShortLabel", result.shortLabel),
            ("Addr_type", result.kind.rawValue), ("Type", result.type), ("PlaceName", result.placeName),
            ("Place_addr", result.placeAddress), ("Phone", ""), ("URL", ""),
        ]
        let address: [(String, String)] = [
            ("AddBldg", ""), ("AddNum", result.number), ("AddNumFrom", range.map { "\($0.from)" } ?? ""),
            ("AddNumTo", range.map { "\($0.to)" } ?? ""), ("AddRange", range.map { "\($0.from)-\($0.to)" } ?? ""),
            ("Side", result.side), ("StPreDir", street.preDirection), ("StPreType", ""), ("StName", street.name),
            ("StType", street.type), ("StDir", street.direction), ("BldgType", ""), ("BldgName", ""), ("LevelType", ""),
            ("LevelName", ""), ("UnitType", ""), ("UnitName", result.unit), ("SubAddr", result.unit),
            ("StAddr", result.addressLine), ("Block", ""), ("Sector", ""), ("Nbrhd", zone.neighborhood),
            ("District", ""),
            ("City", result.city), ("MetroArea", ""), ("Subregion", zone.subregion), ("Region", zone.region),
            ("RegionAbbr", RegionNames.abbreviation(of: zone.region, country: zone.country)), ("Territory", ""),
            ("Zone", ""),
            ("Postal", zone.postal), ("PostalExt", ""), ("Country", zone.country), ("LangCode", ""),
        ]
        let places: [(String, Double)] = [
            ("Distance", result.distance ?? 0), ("X", result.routeX), ("Y", result.routeY), ("DisplayX", result.x),
            ("DisplayY", result.y), ("Xmin", extent.xMin), ("Xmax", extent.xMax), ("Ymin", extent.yMin),
            ("Ymax", extent.yMax),
        ]
        var all = texts.map { ($0.0, Value.text($0.1)) }
        all += numbers.map { ($0.0, Value.number($0.1)) }
        all += middle.map { ($0.0, Value.text($0.1)) }
        all.append(("Rank", .number(20)))
        all += address.map { ($0.0, Value.text($0.1)) }
        all += places.map { ($0.0, Value.number($0.1)) }
        all.append(("ExInfo", .text("")))
        return all.map { (name: $0.0, value: $0.1) }
    }

    /// Of the address of a place, in their order: texts all.
    package static func ofPlace(_ result: LocatorResult) -> [(name: String, value: String)] {
        let zone = result.zone
        var line = result.shortLabel
        if result.kind == .streetAddress, let range = result.range {
            let block = "\(range.from)-\(range.to)"
            line = AddressLabel.street(number: block, street: result.street, unit: "", country: zone.country)
        }
        return [
            ("Match_addr", AddressLabel.whole(line, in: zone)),
            ("LongLabel", AddressLabel.whole(line, in: zone, withCountry: true)), ("ShortLabel", line),
            ("Addr_type", result.kind.rawValue), ("Type", result.type), ("PlaceName", result.placeName),
            ("AddNum", result.number), ("Address", result.addressLine), ("Block", ""), ("Sector", ""),
            ("Neighborhood", zone.neighborhood), ("District", ""), ("City", result.city), ("MetroArea", ""),
            ("Subregion", zone.subregion), ("Region", zone.region),
            ("RegionAbbr", RegionNames.abbreviation(of: zone.region, country: zone.country)), ("Territory", ""),
            ("Postal", zone.postal),
            ("PostalExt", ""), ("CntryName", ""), ("CountryCode", zone.country),
        ].map { (name: $0.0, value: $0.1) }
    }
}

extension LocatorResult {
    /// A town is its own.
    var city: String { kind == .locality && zone.city.isEmpty ? placeName : zone.city }
}

/// The name of a street in its parts, for clients that want them.
struct StreetParts {
    var preDirection = ""
    var name: String
    var type = ""
    var direction = ""

    init(_ street: String) {
        var words = street.split(separator: " ").map(String.init)
        func isDirection(_ word: String) -> Bool { Abbreviations.directions.contains(TokenizedText.key(word)) }
        func isType(_ word: String) -> Bool { Abbreviations.streetTypes.contains(TokenizedText.key(word)) }
        if words.count > 2, let last = words.last, isDirection(last) {
            direction = last
            words.removeLast()
        }
        if words.count > 1, let last = words.last, isType(last) {
            type = last
            words.removeLast()
        }
        if words.count > 1, let first = words.first, isDirection(first) {
            preDirection = first
            words.removeFirst()
        }
        name = words.joined(separator: " ")
    }
}
