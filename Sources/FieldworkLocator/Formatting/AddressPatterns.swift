import Foundation

/// How each country writes an address. `AddressPattern` says how the lines are read.
struct AddressPatterns: Sendable {
    /// Number behind the street, postal code before the town: most of Europe, and countries that stand nowhere below.
    let usual: AddressPattern
    private let byCountry: [String: AddressPattern]
    private let usualShort: AddressPattern
    private let shortByCountry: [String: AddressPattern]

    static let shared = AddressPatterns()

    private init() {
        usual = AddressPattern(Self.usualText, lists: Self.lists)
        usualShort = AddressPattern(Self.usualShortText, lists: Self.lists)
        byCountry = Self.read(Self.countries)
        shortByCountry = Self.read(Self.shortOnes)
    }

    private static func read(_ text: String) -> [String: AddressPattern] {
        var result: [String: AddressPattern] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.components(separatedBy: ": ")
            guard parts.count == 2 else { continue }
            let pattern = AddressPattern(parts[1], lists: lists)
            for code in parts[0].split(separator: " ") { result[String(code)] = pattern }
        }
        return result
    }

    /// - Parameter country: its code of two letters.
    func pattern(of country: String) -> AddressPattern { byCountry[country] ?? usual }

    /// The pattern of addresses that have neither a street nor a postal code: these say more of the areas around.
    func short(of country: String) -> AddressPattern { shortByCountry[country] ?? usualShort }

    static let lists = [
        "NAME": "attention / house",
        "PLACE": "postalCity|village|town|city|municipality|hamlet|county|stateDistrict|state",
        "TOWN": "postalCity|village|town|city|municipality|hamlet",
        "PART": "suburb|district|neighbourhood",
        "STATE": "stateCode|state",
    ]

    private static let usualText = name("NAME / road number / postcode PLACE / archipelago / country")
    private static let usualShortText = name(
        "NAME / road number / PART|village|hamlet|island / town|city|municipality / county|stateDistrict|state|region / "
            + "archipelago / country")

    /// The name of a house stands in two lines.
    private static func name(_ text: String) -> String {
        text.replacingOccurrences(of: "NAME", with: "attention / house")
    }

    private static let countries = name(
        """
        AO AW BI BO CF CM CW EH ER GD GQ LY ML QA SB SS ST SX TL VC VU WS: NAME / road number / PLACE / country
        AG BB BZ CI CK DJ DM FJ GH GI GM GY MS MW NR NU RW SL TO UG ZW: NAME / number road / PLACE / country
        AD AZ DZ FR LA LU MA MC SN TN ZM: NAME / number road / postcode PLACE / country
        AF BW KP NI SO SR TD: NAME / road number / PART / PLACE / country
        BH BM KY LB LS MV NA: NAME / number road / PLACE postcode / country
        BJ CD CG MR TG YE: NAME / number, road / city|town|village|PART|state / country
        JM KH LK NZ: NAME / number road / PART / PLACE postcode / country
        BY KG KZ: country / state / postcode PLACE / suburb / road, number / NAME
        ES MD MZ: NAME / road, number / postcode PLACE / country
        AL EC MN: NAME / road number / postcode / PLACE / country
        BG PE: NAME / road number / PART / PLACE postcode / country
        BS XC: NAME / road number / PLACE / county / country
        CO MX: NAME / road number / PART / postcode city|town|stateDistrict|village, STATE / country
        CV GT: NAME / road number / postcode- PLACE / country
        GN TZ: NAME / number road / postcode PLACE / state / country
        GB IM: NAME / number road / quarter / PLACE / postcode / country
        AE: NAME / number road / PART / PLACE / stateDistrict|state / country
        AI: NAME / road number / PLACE / postcode country
        AM: NAME / number road / postcode / TOWN / stateDistrict|state / country
        AQ: NAME / PLACE / country|continent
        AR: NAME / road number / PART / postcode PLACE / country
        AU: NAME / number road / suburb|city|town|district|stateDistrict|village|municipality|county|region STATE postcode / country
        BD: NAME / number road / PART / PLACE - postcode / country
        BF: NAME / road number / PLACE / county / state / country
        BN: NAME / number, road / TOWN / county|stateDistrict|state postcode / country
        BR: NAME / road, number, quarter / suburb|district|village / city|town|stateDistrict|village - STATE / postcode / country
        BT: NAME / road number / PART / city|town|village|state postcode / country
        CA: NAME / number road || suburb / city|town|village|municipality|hamlet|county|stateDistrict|region, STATE postcode / country
        CL: NAME / road number / postcode PLACE / region|state / country
        CN: postcode country / STATE / city|county / suburb|neighbourhood / road number / house / attention
        CR: NAME / road number / state, city|town|stateDistrict|village, PART / postcode country
        CU: NAME / road number / city|town|village|state, postcode / country
        DO: NAME / road number / PART / PLACE, state / postcode / country
        EG: NAME / number road / PART / PLACE / postcode / country
        GA: NAME / number road / PART|village / city|town|municipality|county|stateDistrict|state / country
        HK: NAME / number road / stateDistrict|region / state / country
        HU: NAME / postcode PLACE / road number. / country
        ID: NAME / road number / PART / PLACE postcode / state / country
        IE: NAME / number road / PART / PLACE / county / postcode / country
        IN: NAME / number, road / suburb|district|stateDistrict / TOWN - postcode / state / country
        IQ: NAME / number district|neighbourhood|suburb / road / city|town|state|village / postcode / country
        IR: NAME / TOWN / PART / road / number / state / postcode / country
        IT: NAME / road number / postcode TOWN countyCode|county / country
        JP: NAME / number road / suburb / PLACE, state postcode / country
        KE: NAME / number road / PLACE / postcode / country
        KN: NAME / number road / PLACE, state / country
        KR: country / state city district|suburb|neighbourhood road number / house / attention / postcode
        KW: NAME / block suburb|neighbourhood / road / number / postcode city|town|village / country
        LV: NAME / road number / PLACE, postcode / country
        MG: NAME / number road / PART / postcode PLACE / country
        MM: NAME / number road / PLACE, postcode / country
        MO: NAME / road number / suburb|village / country
        MT: NAME / number road / PART / city|town|suburb|village / postcode / country
        MU: NAME / number, road / PART / PLACE postcode / country
        MY: NAME / number road / PART / postcode PLACE / state / country
        NE: NAME / number / road / city|town|village / country
        NG: NAME / number road / TOWN postcode / state / country
        NP: NAME / road number / suburb|neighbourhood|city / municipality|county|stateDistrict|state postcode / country
        OM: NAME / number road / postcode / city|town|stateDistrict|village / state / country
        PA: NAME / road number / PART / postcode / city|town|stateDistrict|village|hamlet / state / country
        PG: NAME / number road / TOWN postcode state / country
        PH: NAME / number road, suburb|district|village, city / postcode municipality|state / country
        PK: NAME / number road / PART / city|town|village|state postcode / country
        PN: NAME / city|town|island / country
        RU: NAME / road, number / suburb|district / TOWN / state / country / postcode
        SA: NAME / number road, village|district|suburb|neighbourhood / city|town|stateDistrict postcode / country
        SC: NAME / number road / TOWN|island / island / country
        SG: NAME / number road, neighbourhood / country postcode
        SV: NAME / road number / postcode - TOWN / state / country
        SY: NAME / road, number / village|district|neighbourhood|suburb / postcode city|town|stateDistrict|state / country
        SZ: NAME / road number / TOWN|state / postcode / country
        TH: NAME / number village / road / neighbourhood|city|town, suburb|district|stateDistrict / state postcode / country
        TM: NAME / number, road / postcode PLACE / country
        TT: NAME / number road / suburb|district|stateDistrict / city|town|stateDistrict|village, postcode / country
        TV: NAME / number road / TOWN / county|stateDistrict|state|island / country
        TW: country / postcode / city suburb road number / house / attention
        UA: NAME / road, number / suburb|district|stateDistrict / TOWN|state / postcode / country
        US: NAME / number road / village|hamlet / city|town|stateDistrict|suburb|municipality|county, STATE postcode / country
        UZ: NAME / road number / TOWN / state|stateDistrict / country / postcode
        VE: NAME / road number / city|town|stateDistrict|village postcode, STATE / country
        VG: NAME / number road / TOWN, island / country, postcode
        VN: NAME / number, road / PART / city|town|stateDistrict|village / state postcode / country
        XK: NAME / number, road / TOWN postcode / country
        ZA: NAME / number road / suburb|district|stateDistrict / city|town|village|state / postcode / country
        """)

    private static let shortOnes = name(
        """
        US CA: NAME / road number / suburb|village / city|town|municipality|county|island|stateDistrict|region, state|stateCode! / country
        GB IM: NAME / road number / suburb|village|hamlet / island / town|city|municipality / county / state / country
        DE: NAME / road number / PART / village|town|city|municipality|hamlet|county / state|stateDistrict / country
        NZ: NAME / road number / PART / TOWN / country
        ES MZ: NAME / road number / suburb / city|town|village|municipality|county / state / country
        TZ: NAME / road number / PART / PLACE / state / country
        CN: postcode country / STATE|region / city|county / suburb|neighbourhood / road number / house / attention
        KR: country / state city district|suburb|neighbourhood road number / house / attention / postcode
        TW: country / postcode / city suburb road number / house / attention
        IR: NAME / TOWN / PART / road / number / state / postcode / country
        """)
}
