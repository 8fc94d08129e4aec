/// Writes an address as its country does: the number before the street or behind it, the postal code before the town or behind
/// the state.
package enum AddressLabel {
    /// Countries that write the number behind the street.
    private static let numberLast = codes(
        """
        AO AR AT AW BA BE BG BI BR CH CL CN CO CU CW CZ DE DK EE ES FI FO GE GL GR GT HR HU IL IS IT KG KR KW KZ LI LT LV MD ME MO MX
        MZ NL NO PE PL PS PT RO RS RU SE SI SK SR SV TJ TR TW UA UZ VE
        """)

    /// Countries that write the postal code before the town, and leave the region out.
    private static let postalFirst = codes(
        """
        AD AL AM AR AT AX AZ BA BE BL CH CL CN CO CV CY CZ DE DK DZ EC EE ES ET FI FO FR GE GF GL GP GR GT HN HR HU IL IS IT JO KG KW
        LA LI LR LT LU MC MD ME MF MG MK MN MQ MX MY MZ NC NL NO OM PE PF PL PM PS PT PY RE RO RS SE SI SK SM SN SV TJ TM TN TR TW TZ
        UY VA YT ZM
        """)

    private static func codes(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    package static func isNumberLast(_ country: String) -> Bool { numberLast.contains(CountryNames.code(of: country)) }

    /// `12 Main St`, `Hauptstraße 12`; with the unit where there is one.
    package static func street(number: String, street: String, unit: String, country: String) -> String {
        let line: String
        if number.isEmpty {
            line = street
        } else {
            line = isNumberLast(country) ? "\(street) \(number)" : "\(number) \(street)"
        }
        return unit.isEmpty ? line : "\(line), \(unit)"
    }

    /// A street line or a name, and what stands behind it.
    package static func whole(_ first: String, in zone: AddressZone, withCountry: Bool = false) -> String {
        var parts = [first]
        let country = withCountry ? zone.country : ""
        if postalFirst.contains(CountryNames.code(of: zone.country)) {
            parts.append([zone.postal, zone.city].filter { !$0.isEmpty }.joined(separator: " "))
            parts += [country]
        } else {
            parts += [zone.city, zone.region, zone.postal, country]
        }
        var result: [String] = []
        for part in parts where !part.isEmpty && part != result.last { result.append(part) }
        return result.joined(separator: ", ")
    }
}
