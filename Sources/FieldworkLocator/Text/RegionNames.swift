/// Other names of states and countries, which people write in addresses.
enum RegionNames {
    /// Every other name of the region and the country of a zone.
    static func aliases(of zone: AddressZone) -> [String] {
        regionAliases(zone.region, country: CountryNames.code(of: zone.country))
            + CountryNames.aliases(of: zone.country)
    }

    /// The short form of a state: `CA` of California; empty when there is none.
    static func abbreviation(of region: String, country: String) -> String {
        if let known = RegionTable.shared.region(region, country: CountryNames.code(of: country)) { return known.code }
        return region.count <= 3 ? region : ""
    }

    /// A state by the name that addresses of its country have: a short one in some, the whole one in others.
    static func written(_ region: String, country: String) -> String {
        guard !region.isEmpty,
            let known = RegionTable.shared.region(region, country: CountryNames.code(of: country))
        else { return region }
        return RegionTable.writesCodes.contains(known.country) ? known.code : region
    }

    /// The name of the state of a code in GeoNames' files. Codes that are not known here say nothing to people: they are left out.
    static func ofGeoNames(_ code: String, country: String) -> String {
        guard let known = RegionTable.shared.region(geoNames: code, country: CountryNames.code(of: country)) else {
            return ""
        }
        return RegionTable.writesCodes.contains(known.country) ? known.code : known.names[0]
    }

    private static func regionAliases(_ region: String, country: String) -> [String] {
        guard !region.isEmpty, let known = RegionTable.shared.region(region, country: country) else { return [] }
        let key = region.lowercased()
        return ([known.code] + known.names).filter { $0.lowercased() != key }
    }
}
