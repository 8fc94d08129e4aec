/// Writes an address as its country does: the number before the street or behind it, the postal code before the town or behind
/// the state.
package enum AddressLabel {
    /// Countries that write the number behind the street.
    private static let numberLast: Set<String> = [
        "AT", "BE", "BG", "BR", "CH", "CZ", "DE", "DK", "EE", "ES", "FI", "GR", "HR", "HU", "IS", "IT", "LT", "LV",
        "MX",
        "NL", "NO", "PL", "PT", "RO", "RS", "SE", "SI", "SK", "TR", "UA", "AR", "CL", "CO", "PE",
    ]

    package static func isNumberLast(_ country: String) -> Bool { numberLast.contains(RegionNames.code(of: country)) }

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
        if isNumberLast(zone.country) {
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
