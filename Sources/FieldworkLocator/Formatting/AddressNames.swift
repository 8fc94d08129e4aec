import Foundation

/// Names as addresses have them: data often says what kind of area a name is of (`Landkreis Göppingen`, `Provincia di Treviso`).
enum AddressNames {
    private struct Words {
        var before: [String] = []
        var behind: [String] = []
    }

    /// The name of a town or an area without the words that say what it is.
    static func plain(_ name: String, country: String) -> String {
        if let other = others[country]?[name] { return other }
        if country == "GB", name.hasPrefix("London Borough of ") { return "London" }
        var plain = Substring(name)
        for word in kinds[country]?.before ?? [] where plain.hasPrefix(word) { plain = plain.dropFirst(word.count) }
        for word in kinds[country]?.behind ?? [] where plain.hasSuffix(word) { plain = plain.dropLast(word.count) }
        switch country {
        case "DE": plain = withoutNumber(plain, after: "Stadtbezirk ")
        case "FR": plain = withoutDistrict(plain)
        default: break
        }
        let result = plain.trimmingCharacters(in: .whitespaces)
        return result.isEmpty ? name : others[country]?[result] ?? result
    }

    /// `Stadtbezirk 03 Maxvorstadt` is Maxvorstadt.
    private static func withoutNumber(_ name: Substring, after word: String) -> Substring {
        guard name.hasPrefix(word) else { return name }
        return name.dropFirst(word.count).drop { $0.isNumber }
    }

    /// `Paris 7e Arrondissement` is Paris.
    private static func withoutDistrict(_ name: Substring) -> Substring {
        let words = name.split(separator: " ")
        guard words.count > 2, words.last == "Arrondissement", words[words.count - 2].first?.isNumber == true else {
            return name
        }
        return words.dropLast(2).joined(separator: " ")[...]
    }

    private static let kinds: [String: Words] = [
        "AR": Words(before: ["Autonomous City of ", "Ciudad Autónoma de "]),
        "AT": Words(before: ["Politischer Bezirk ", "Bezirk ", "Gemeinde "]),
        "BO": Words(before: ["Municipio Nuestra Senora de "]),
        "CO": Words(before: ["Localidad "], behind: [", Capital District"]),
        "DE": Words(
            before: [
                "Free State of ", "Freistaat ", "Landkreis ", "Kreis ", "Regierungsbezirk ", "Gemeinde ", "Stadtteil ",
            ]),
        "GB": Words(before: ["Royal Borough of ", "County Borough of "], behind: [" CP"]),
        "HT": Words(before: ["Commune de "]),
        "IE": Words(
            before: ["The Metropolitan District of ", "The Municipal District of "],
            behind: [" City", " Electoral Division"]),
        "IT": Words(before: ["Provincia di ", "Province of ", "Città metropolitana di ", "Metropolitan City of "]),
        "SK": Words(before: ["District of "]),
        "SN": Words(before: ["Arrondissement de ", "Commune de "]),
        "US": Words(before: ["Town of ", "City of ", "Village of "]),
    ]

    /// What addresses say instead.
    private static let others: [String: [String: String]] = [
        "DE": ["Alt-Berlin": "Berlin"],
        "DJ": ["Djibouti": "Djibouti-Ville"],
        "DO": ["Distrito Nacional": "DN"],
        "GB": ["Greater London": "London", "City of Westminster": "London", "City of Nottingham": "Nottingham"],
        "PA": ["Panamá": "Ciudad de Panamá", "Panama": "Panama City"],
        "US": ["Washington, D.C.": "District of Columbia", "Washington DC": "District of Columbia"],
    ]

    /// The name of a country as addresses have it.
    static func country(_ name: String, code: String) -> String {
        switch (code, name) {
        case ("US", "US"), ("US", "USA"), ("US", "United States"): "United States of America"
        case ("NL", "Koninkrijk der Nederlanden"): "Nederland"
        case ("FO", "Territorial waters of Faroe Islands"): "Faroe Islands"
        default: name
        }
    }
}

/// Postal codes in the groups that a country writes them in.
enum PostalGroups {
    /// `1017CD` of the Netherlands is `1017 CD`. Of several codes in one text the first stands; a list of codes says none.
    static func written(_ code: String, country: String) -> String {
        guard !code.contains(";"), code.count <= 20 else { return "" }
        let first = code.prefix { $0 != "," }
        guard let groups = groups[country] else { return String(first) }
        let compact = first.filter { $0 != " " && $0 != "-" }
        guard compact.count == groups.first + groups.second else { return String(first) }
        return compact.prefix(groups.first) + groups.sign + compact.dropFirst(groups.first)
    }

    private static let groups: [String: (first: Int, second: Int, sign: String)] = [
        "AR": (5, 3, " "), "BR": (5, 3, "-"), "CA": (3, 3, " "), "CZ": (3, 2, " "), "GR": (3, 2, " "),
        "IE": (3, 4, " "), "JP": (3, 4, "-"), "NL": (4, 2, " "), "PL": (2, 3, "-"), "PT": (4, 3, "-"),
        "SE": (3, 2, " "), "SK": (3, 2, " "),
    ]
}
