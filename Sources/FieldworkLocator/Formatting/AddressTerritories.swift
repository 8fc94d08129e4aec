/// Territories whose addresses are written as another country's.
enum AddressTerritories {
    struct Territory: Sendable {
        /// The country whose pattern is theirs.
        var pattern: String
        /// What stands for the country, by its lines; empty where the country's own name stands.
        var country: [String] = []
        /// The state that the territory is in that country.
        var state = ""
        var stateCode = ""
    }

    /// - Parameter state: what the address has as its state: some names of a country are made with it.
    static func territory(_ code: String, state: String) -> Territory? {
        guard var known = known[code] else { return nil }
        known.country = known.country.map { $0 == "STATE" ? state : $0 }.filter { !$0.isEmpty }
        return known
    }

    /// The code of the territory that a country's state is.
    static func code(ofState state: String, in country: String) -> String? {
        states[country]?.first { TokenizedText.key($0.key) == TokenizedText.key(state) }?.value
    }

    private static let states = [
        "FR": [
            "Mayotte": "YT", "Réunion": "RE", "La Réunion": "RE", "New Caledonia": "NC", "Nouvelle-Calédonie": "NC",
            "French Polynesia": "PF", "Polynésie française": "PF", "Guadeloupe": "GP", "Martinique": "MQ",
            "Wallis and Futuna": "WF", "Wallis-et-Futuna": "WF",
        ],
        "NL": ["Curaçao": "CW", "Aruba": "AW", "Sint Maarten": "SX"],
    ]

    private static let unitedStates = ["United States of America"]
    private static let unitedKingdom = ["United Kingdom"]

    private static let known: [String: Territory] = [
        "AS": Territory(pattern: "US", country: unitedStates, state: "American Samoa", stateCode: "AS"),
        "FM": Territory(pattern: "US", stateCode: "FM"),
        "GU": Territory(pattern: "US", country: unitedStates, state: "Guam", stateCode: "GU"),
        "MH": Territory(pattern: "US", stateCode: "MH"),
        "MP": Territory(pattern: "US", country: unitedStates, state: "Northern Mariana Islands", stateCode: "MP"),
        "PR": Territory(pattern: "US", country: unitedStates, state: "Puerto Rico", stateCode: "PR"),
        "UM": Territory(pattern: "US", country: unitedStates, state: "US Minor Outlying Islands", stateCode: "UM"),
        "VI": Territory(pattern: "US", country: unitedStates, state: "US Virgin Islands", stateCode: "VI"),
        "AX": Territory(pattern: "FI", country: ["Åland, Finland"]),
        "BL": Territory(pattern: "FR", country: ["Saint-Barthélemy, France"]),
        "GF": Territory(pattern: "FR", country: ["France"]),
        "GP": Territory(pattern: "FR", country: ["Guadeloupe, France"]),
        "MF": Territory(pattern: "FR", country: ["France"]),
        "MQ": Territory(pattern: "FR", country: ["Martinique, France"]),
        "NC": Territory(pattern: "FR", country: ["Nouvelle-Calédonie, France"]),
        "PF": Territory(pattern: "FR", country: ["Polynésie française, France"]),
        "PM": Territory(pattern: "FR", country: ["Saint-Pierre-et-Miquelon, France"]),
        "RE": Territory(pattern: "FR", country: ["La Réunion, France"]),
        "TF": Territory(pattern: "FR", country: ["Terres australes et antarctiques françaises, France"]),
        "WF": Territory(pattern: "FR", country: ["Wallis-et-Futuna, France"]),
        "YT": Territory(pattern: "FR", country: ["Mayotte, France"]),
        "BQ": Territory(pattern: "NL", country: ["Caribbean Netherlands"]),
        "BV": Territory(pattern: "NO", country: ["Bouvet Island, Norway"]),
        "SJ": Territory(pattern: "NO", country: ["Norway"]),
        "CC": Territory(pattern: "AU", country: ["Australia"], state: "Cocos (Keeling) Islands"),
        "CX": Territory(pattern: "AU", country: ["Australia"], state: "Christmas Island"),
        "HM": Territory(pattern: "AU", country: ["Australia"], state: "Heard Island and McDonald Islands"),
        "NF": Territory(pattern: "AU", country: ["Australia"], state: "Norfolk Island"),
        "FK": Territory(pattern: "GB", country: ["Falkland Islands"] + unitedKingdom),
        "GG": Territory(pattern: "GB", country: ["Guernsey, Channel Islands"]),
        "GS": Territory(pattern: "GB", country: unitedKingdom),
        "IO": Territory(pattern: "GB", country: ["British Indian Ocean Territory"] + unitedKingdom),
        "JE": Territory(pattern: "GB", country: ["Jersey, Channel Islands"]),
        "SH": Territory(pattern: "GB", country: ["STATE"] + unitedKingdom),
        "TC": Territory(pattern: "GB"),
        "TK": Territory(pattern: "NZ", country: ["Tokelau, New Zealand"]),
        "LI": Territory(pattern: "CH"), "PS": Territory(pattern: "IL"), "SM": Territory(pattern: "IT"),
        "VA": Territory(pattern: "IT"),
    ]
}
