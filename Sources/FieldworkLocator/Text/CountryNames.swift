import Foundation

/// The names of countries in the languages that addresses are written in, and in the countries' own.
enum CountryNames {
    /// The code of two letters of a country by its code or by any of its names; empty where it is not known.
    static func code(of country: String) -> String {
        let key = country.uppercased()
        if key.utf8.count == 2 { return key }
        guard !key.isEmpty else { return "" }
        return codes[key] ?? names[TokenizedText.key(country)] ?? ""
    }

    /// The codes of two letters of all countries; Kosovo has none but this one.
    static let allCodes = Locale.Region.isoRegions.map(\.identifier).filter { $0.utf8.count == 2 } + ["XK"]

    /// Every other name of a country: its code, its names.
    static func aliases(of country: String) -> [String] {
        let code = code(of: country)
        guard !code.isEmpty else { return [] }
        let key = country.uppercased()
        return Array(Set([code] + all(code))).filter { $0.uppercased() != key }.sorted()
    }

    private static func all(_ code: String) -> [String] {
        let own = Locale.Language(identifier: "und-\(code)").maximalIdentifier
        let languages = Self.languages + [Locale(identifier: own)]
        return languages.compactMap { $0.localizedString(forRegionCode: code) } + (more[code] ?? [])
    }

    private static let languages = ["en", "de", "fr", "es", "it", "pl", "nl", "fi", "sv", "pt"].map {
        Locale(identifier: $0)
    }

    /// What people write as well.
    private static let more = [
        "US": ["USA", "United States of America", "America"], "GB": ["UK", "Great Britain"], "NL": ["Holland"],
        "CZ": ["Czech Republic"], "TR": ["Turkey"],
    ]

    /// By the keys of the names.
    private static let names: [String: String] = {
        var result: [String: String] = [:]
        for region in Locale.Region.isoRegions where region.identifier.utf8.count == 2 {
            for name in all(region.identifier) { result[TokenizedText.key(name)] = region.identifier }
        }
        return result
    }()

    /// Codes of three letters that are common in data.
    private static let codes = [
        "USA": "US", "CAN": "CA", "MEX": "MX", "GBR": "GB", "IRL": "IE", "DEU": "DE", "AUT": "AT", "CHE": "CH",
        "FRA": "FR", "BEL": "BE", "NLD": "NL", "LUX": "LU", "ITA": "IT", "ESP": "ES", "PRT": "PT", "FIN": "FI",
        "SWE": "SE", "NOR": "NO", "DNK": "DK", "POL": "PL", "CZE": "CZ", "AUS": "AU", "NZL": "NZ", "BRA": "BR",
        "ARG": "AR",
    ]
}
