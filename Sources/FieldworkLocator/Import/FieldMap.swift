package import FieldworkGeometry

/// Which column of a table says what of an address. Columns are found by the names that they have in many countries' data, and by
/// what the caller says.
package struct FieldMap: Sendable, Hashable {
    package enum Role: String, Sendable, CaseIterable {
        case number, street, unit, address, neighborhood, city, subregion, region, postal, country, name, otherNames,
            type
        case leftFrom, leftTo, rightFrom, rightTo, population, x, y
    }

    private static let names: [Role: [String]] = [
        .number: [
            "number", "housenumber", "house_number", "addr:housenumber", "addr_housenumber", "housenum", "hnr",
            "hausnr", "numero", "add_number", "addnum", "street_number", "house_no",
        ],
        .street: [
            "street", "streetname", "street_name", "addr:street", "addr_street", "strasse", "straße", "fullname",
            "fullstreet", "full_street_name", "st_name", "road", "calle", "rue", "nom_voie", "strname",
        ],
        .unit: ["unit", "addr:unit", "unitnumber", "apt", "suite", "unit_number"],
        .address: ["address", "addr", "fulladdress", "full_address", "address1", "street_address"],
        .neighborhood: ["neighborhood", "neighbourhood", "district", "suburb", "addr:suburb", "nbrhd"],
        .city: [
            "city", "town", "addr:city", "addr_city", "municipality", "ort", "commune", "nom_commune", "ciudad",
            "place_name", "postal_city",
        ],
        .subregion: ["county", "subregion"],
        .region: ["region", "state", "addr:state", "province", "admin1", "bundesland", geoNamesRegion],
        .postal: [
            "postal", "postcode", "zip", "zipcode", "zip_code", "postal_code", "addr:postcode", "plz", "code_postal",
            "postalcode",
        ],
        .country: ["country", "countrycode", "country_code", "addr:country", "cntry"],
        .name: ["name", "placename", "label", "title", "nom", "naam"],
        .otherNames: ["othernames", "other_names", "alternatenames", "alternate_names", "alt_name", "alt_names"],
        .type: ["type", "kind", "category", "fclass", "place"],
        .leftFrom: [
            "left_from", "leftfrom", "l_f_add", "lfromadd", "lfromhn", "fromleft", "from_left", "l_add_from",
            "leftadd1",
        ],
        .leftTo: ["left_to", "leftto", "l_t_add", "ltoadd", "ltohn", "toleft", "to_left", "l_add_to", "leftadd2"],
        .rightFrom: [
            "right_from", "rightfrom", "r_f_add", "rfromadd", "rfromhn", "fromright", "from_right", "r_add_from",
            "rgtadd1",
        ],
        .rightTo: ["right_to", "rightto", "r_t_add", "rtoadd", "rtohn", "toright", "to_right", "r_add_to", "rgtadd2"],
        .population: ["population", "pop", "pop_max"],
        .x: ["x", "lon", "long", "longitude", "lng"],
        .y: ["y", "lat", "latitude"],
    ]

    /// The column of GeoNames' files that has a code in place of the state's name.
    private static let geoNamesRegion = "admin1code"

    private var columns: [Role: String] = [:]

    /// - Parameter chosen: what the caller says, role by role: it goes before what the names say.
    package init(columns all: [String], chosen: [Role: String] = [:]) throws {
        for (role, column) in chosen {
            guard let found = all.first(where: { $0.lowercased() == column.lowercased() }) else {
                throw LocatorError(
                    .badData, "There is no column \(column). The data has: \(all.sorted().joined(separator: ", ")).")
            }
            columns[role] = found
        }
        let byName = Dictionary(all.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        for (role, names) in Self.names where columns[role] == nil {
            if let found = names.lazy.compactMap({ byName[$0] }).first { columns[role] = found }
        }
    }

    package subscript(_ role: Role) -> String? { columns[role] }

    /// What the columns are good for, in words; nil when nothing can be made of them.
    package var isUsable: Bool { columns[.street] != nil || columns[.address] != nil || columns[.name] != nil }

    /// Adds a row to a locator: an address, a piece of a street or a place, as its geometry and columns say.
    /// - Parameters:
    ///   - geometry: in WGS 84; nil where columns have the coordinates.
    ///   - value: the text of a column.
    ///   - fill: says what the row does not say of its town, state and country.
    package func add(
        _ geometry: Geometry?, to builder: LocatorBuilder, _ value: (String) -> String?,
        zone fill: (AddressZone) -> AddressZone = { $0 }
    ) throws {
        func text(_ role: Role) -> String { columns[role].flatMap(value)?.trimmed ?? "" }
        let hasCode = columns[.region]?.lowercased() == Self.geoNamesRegion
        let region = hasCode ? RegionNames.ofGeoNames(text(.region), country: text(.country)) : text(.region)
        let zone = fill(
            AddressZone(
                neighborhood: text(.neighborhood), city: text(.city), subregion: text(.subregion), region: region,
                postal: text(.postal), country: text(.country)))
        if let line = geometry as? Polyline { return try add(line, zone, to: builder, text) }
        var rings: [[Double]] = []
        let place: (x: Double, y: Double)
        if let point = geometry as? Point {
            place = (point.x, point.y)
        } else if let polygon = geometry as? Polygon {
            rings = Self.parts(of: polygon)
            place = (polygon.extent.center.x, polygon.extent.center.y)
        } else {
            place = (Double(text(.x)) ?? .nan, Double(text(.y)) ?? .nan)
        }
        var (number, street) = (text(.number), text(.street))
        if street.isEmpty || number.isEmpty, rings.isEmpty, !text(.address).isEmpty {
            (number, street) = Self.split(text(.address))
        }
        if !number.isEmpty, !street.isEmpty {
            try builder.add(
                AddressRecord(number: number, street: street, unit: text(.unit), zone: zone, x: place.x, y: place.y))
        } else {
            try addPlace(zone, place, rings, to: builder, text)
        }
    }

    private func addPlace(
        _ zone: AddressZone, _ place: (x: Double, y: Double), _ rings: [[Double]], to builder: LocatorBuilder,
        _ text: (Role) -> String
    ) throws {
        let population = Double(text(.population)) ?? 0
        let isLocality =
            !rings.isEmpty || columns[.population] != nil
            || ["city", "town", "village", "locality"].contains(text(.type).lowercased())
        let isPostal = text(.name).isEmpty && !zone.postal.isEmpty
        // A town reaches as far as its people need: 600 to the square kilometre, as towns with their outskirts have.
        let reach = rings.isEmpty && population > 0 ? (min(population, 1e8) / 600 / .pi).squareRoot() * 1_000 : 0
        try builder.add(
            PlaceRecord(
                kind: isPostal ? .postal : isLocality ? .locality : .pointOfInterest, type: text(.type),
                name: isPostal ? zone.postal : text(.name),
                otherNames: text(.otherNames).split { "|;,".contains($0) }.map(String.init), zone: zone,
                weight: population, x: place.x, y: place.y,
                reach: population > 0 ? max(reach, 700) : 0, rings: rings))
    }

    private func add(_ line: Polyline, _ zone: AddressZone, to builder: LocatorBuilder, _ text: (Role) -> String) throws
    {
        func range(_ from: Role, _ to: Role) -> NumberRange? {
            guard let first = HouseNumber(text(from))?.value, let last = HouseNumber(text(to))?.value,
                first > 0 || last > 0
            else { return nil }
            return NumberRange(from: first, to: last)
        }
        let name = text(.street).isEmpty ? text(.name) : text(.street)
        for part in Self.parts(of: line) {
            try builder.add(
                StreetRecord(
                    name: name, zone: zone, left: range(.leftFrom, .leftTo), right: range(.rightFrom, .rightTo),
                    line: part))
        }
    }

    private static func parts(of geometry: Multipart) -> [[Double]] {
        geometry.parts.map { part in
            var line = part.points.flatMap { [$0.x, $0.y] }
            // A ring ends where it began.
            if geometry is Polygon { line += line.prefix(2) }
            return line
        }
    }

    /// `120 NE 5th St` or `Hauptstraße 12`: the number and the rest.
    package static func split(_ address: String) -> (number: String, street: String) {
        let line = address.split(separator: ",").first.map(String.init) ?? address
        let words = line.split(separator: " ").map(String.init)
        if let first = words.first, first.first?.isNumber == true, words.count > 1,
            !TextToken(text: first.lowercased()).isOrdinal
        {
            return (first, words.dropFirst().joined(separator: " "))
        }
        if let last = words.last, last.first?.isNumber == true, words.count > 1 {
            return (last, words.dropLast().joined(separator: " "))
        }
        return ("", line)
    }
}
