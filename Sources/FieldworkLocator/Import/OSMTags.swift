import FieldworkOSM

/// What the tags of an OpenStreetMap object say about addresses and names.
struct OSMTags {
    /// The keys that are of interest.
    enum Key: String, CaseIterable {
        case number = "addr:housenumber"
        case street = "addr:street"
        case addressPlace = "addr:place"
        case city = "addr:city"
        case postal = "addr:postcode"
        case region = "addr:state"
        case country = "addr:country"
        case unit = "addr:unit"
        case suburb = "addr:suburb"
        case interpolation = "addr:interpolation"
        case name
        case highway
        case place
        case population
        case amenity, shop, tourism, leisure, office, railway, historic, craft, healthcare, aeroway, natural, building
        case manMade = "man_made"
        case alternateName = "alt_name"
        case officialName = "official_name"
        case shortName = "short_name"
        case oldName = "old_name"
    }

    private(set) var values: [Key: String] = [:]
    /// Names in other languages and older ones.
    private(set) var otherNames: [String] = []

    subscript(_ key: Key) -> String { values[key] ?? "" }

    /// Which strings of a block are keys of interest: looked up once a block.
    struct Keys {
        fileprivate var keys: [Key?]
        fileprivate var isName: [Bool]
        fileprivate var isTrigger: [Bool]

        init(_ block: OSMBlock) {
            let strings = (0..<block.stringCount).map(block.string)
            keys = strings.map(Key.init(rawValue:))
            isName = strings.map { $0.hasPrefix("name:") }
            isTrigger = keys.map { $0 == .number || $0 == .name || $0 == .interpolation }
        }

        fileprivate func isTrigger(_ index: Int) -> Bool { index >= 0 && index < isTrigger.count && isTrigger[index] }
        fileprivate func key(_ index: Int) -> Key? { index >= 0 && index < keys.count ? keys[index] : nil }
        fileprivate func isName(_ index: Int) -> Bool { index >= 0 && index < isName.count && isName[index] }
    }

    /// nil when the object has neither a number nor a name.
    init?(_ tags: OSMBlock.Tags, _ block: OSMBlock, _ keys: Keys) {
        guard tags.contains(where: { keys.isTrigger($0.key) }) else { return nil }
        for tag in tags {
            if let key = keys.key(tag.key) {
                values[key] = block.string(tag.value)
            } else if keys.isName(tag.key) {
                otherNames.append(block.string(tag.value))
            }
        }
        for key in [Key.alternateName, .officialName, .shortName, .oldName] {
            otherNames += self[key].split(separator: ";").map { $0.trimmingPrefix { $0 == " " }.description }
        }
    }

    var zone: AddressZone {
        AddressZone(
            neighborhood: self[.suburb], city: self[.city], region: self[.region], postal: self[.postal],
            country: self[.country])
    }

    /// The address at a place; nil when it is none.
    func address(x: Double, y: Double) -> AddressRecord? {
        let street = self[.street].isEmpty ? self[.addressPlace] : self[.street]
        guard !self[.number].isEmpty, !street.isEmpty else { return nil }
        return AddressRecord(number: self[.number], street: street, unit: self[.unit], zone: zone, x: x, y: y)
    }

    /// Whether it is a way that people call by its name.
    var isNamedStreet: Bool {
        guard !self[.name].isEmpty, !self[.highway].isEmpty else { return false }
        return !["bus_stop", "platform", "proposed", "construction", "rest_area", "services"].contains(self[.highway])
    }

    // MARK: Places

    private struct PlaceClass {
        var weight: Double
        var reach: Double
    }

    private static let localities: [String: PlaceClass] = [
        "city": PlaceClass(weight: 100_000, reach: 12_000), "town": PlaceClass(weight: 10_000, reach: 4_000),
        "village": PlaceClass(weight: 1_000, reach: 1_500), "hamlet": PlaceClass(weight: 300, reach: 500),
        "borough": PlaceClass(weight: 950, reach: 2_500), "suburb": PlaceClass(weight: 900, reach: 1_500),
        "quarter": PlaceClass(weight: 700, reach: 1_000), "neighbourhood": PlaceClass(weight: 500, reach: 700),
    ]

    private static let kinds: [Key] = [
        .amenity, .shop, .tourism, .leisure, .office, .railway, .historic, .craft, .healthcare, .aeroway, .natural,
        .manMade,
        .place, .building,
    ]

    /// The place with a name that it is; nil when it is none.
    func place(x: Double, y: Double, rings: [[Double]] = []) -> PlaceRecord? {
        guard !self[.name].isEmpty, self[.highway].isEmpty else { return nil }
        if let known = Self.localities[self[.place]] {
            // Suburbs keep below towns, whatever their population.
            let population = known.weight >= 1_000 ? Double(self[.population]) ?? 0 : 0
            return PlaceRecord(
                kind: .locality, type: self[.place], name: self[.name], otherNames: otherNames, zone: zone,
                weight: max(known.weight, min(population, 1e9)), x: x, y: y, reach: known.reach, rings: rings)
        }
        guard let kind = Self.kinds.first(where: { !self[$0].isEmpty }) else { return nil }
        let isLarge = kind == .leisure || kind == .place || kind == .aeroway || kind == .natural
        return PlaceRecord(
            kind: .pointOfInterest, type: self[kind] == "yes" ? kind.rawValue : self[kind], name: self[.name],
            otherNames: otherNames, zone: zone, weight: isLarge ? 3 : 1, x: x, y: y, rings: isLarge ? rings : [])
    }
}
