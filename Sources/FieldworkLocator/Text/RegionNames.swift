import Foundation

/// Other names of states and countries, which people write in addresses.
enum RegionNames {
    /// Every other name of the region and the country of a zone.
    static func aliases(of zone: AddressZone) -> [String] { regionAliases(zone.region) + countryAliases(zone.country) }

    /// The short form of a state: `CA` of California; empty when there is none.
    static func abbreviation(of region: String) -> String {
        let key = region.lowercased()
        if let state = states.first(where: { $0.code.lowercased() == key || $0.name.lowercased() == key }) {
            return state.code
        }
        return region.count <= 3 ? region : ""
    }

    private static func regionAliases(_ region: String) -> [String] {
        let key = region.lowercased()
        guard let state = states.first(where: { $0.code.lowercased() == key || $0.name.lowercased() == key }) else {
            return []
        }
        return [state.code, state.name].filter { $0.lowercased() != key }
    }

    private static func countryAliases(_ country: String) -> [String] {
        guard !country.isEmpty else { return [] }
        let key = country.uppercased()
        guard let code = key.count == 2 ? key : codes[key] else { return [] }
        let names = languages.compactMap { $0.localizedString(forRegionCode: code) }
        let more = code == "US" ? ["USA", "United States of America"] : code == "GB" ? ["UK", "Great Britain"] : []
        return Array(Set([code] + names + more)).filter { $0.uppercased() != key }.sorted()
    }

    private static let languages = ["en", "de", "fr", "es", "it", "pl", "nl", "fi", "sv", "pt"].map {
        Locale(identifier: $0)
    }

    /// Codes of three letters that are common in data.
    private static let codes = [
        "USA": "US", "CAN": "CA", "MEX": "MX", "GBR": "GB", "IRL": "IE", "DEU": "DE", "AUT": "AT", "CHE": "CH",
        "FRA": "FR",
        "BEL": "BE", "NLD": "NL", "LUX": "LU", "ITA": "IT", "ESP": "ES", "PRT": "PT", "FIN": "FI", "SWE": "SE",
        "NOR": "NO", "DNK": "DK", "POL": "PL", "CZE": "CZ", "AUS": "AU", "NZL": "NZ", "BRA": "BR", "ARG": "AR",
        "UNITED STATES": "US", "UNITED STATES OF AMERICA": "US",
    ]

    /// The code of two letters, where it is known.
    static func code(of country: String) -> String {
        let key = country.uppercased()
        return key.count == 2 ? key : codes[key] ?? ""
    }

    private static let states: [(code: String, name: String)] = [
        ("AL", "Alabama"), ("AK", "Alaska"), ("AZ", "Arizona"), ("AR", "Arkansas"), ("CA", "California"),
        ("CO", "Colorado"),
        ("CT", "Connecticut"), ("DE", "Delaware"), ("DC", "District of Columbia"), ("FL", "Florida"), ("GA", "Georgia"),
        ("HI", "Hawaii"), ("ID", "Idaho"), ("IL", "Illinois"), ("IN", "Indiana"), ("IA", "Iowa"), ("KS", "Kansas"),
        ("KY", "Kentucky"), ("LA", "Louisiana"), ("ME", "Maine"), ("MD", "Maryland"), ("MA", "Massachusetts"),
        ("MI", "Michigan"), ("MN", "Minnesota"), ("MS", "Mississippi"), ("MO", "Missouri"), ("MT", "Montana"),
        ("NE", "Nebraska"), ("NV", "Nevada"), ("NH", "New Hampshire"), ("NJ", "New Jersey"), ("NM", "New Mexico"),
        ("NY", "New York"), ("NC", "North Carolina"), ("ND", "North Dakota"), ("OH", "Ohio"), ("OK", "Oklahoma"),
        ("OR", "Oregon"), ("PA", "Pennsylvania"), ("RI", "Rhode Island"), ("SC", "South Carolina"),
        ("SD", "South Dakota"), ("TN", "Tennessee"), ("TX", "Texas"), ("UT", "Utah"), ("VT", "Vermont"),
        ("VA", "Virginia"), ("WA", "Washington"), ("WV", "West Virginia"), ("WI", "Wisconsin"), ("WY", "Wyoming"),
        ("PR", "Puerto Rico"), ("AB", "Alberta"), ("BC", "British Columbia"), ("MB", "Manitoba"),
        ("NB", "New Brunswick"),
        ("NL", "Newfoundland and Labrador"), ("NS", "Nova Scotia"), ("ON", "Ontario"), ("QC", "Quebec"),
        ("SK", "Saskatchewan"), ("NSW", "New South Wales"), ("QLD", "Queensland"), ("TAS", "Tasmania"),
        ("VIC", "Victoria"),
    ]
}
