/// Writes an address in the lines that its country has.
package enum AddressFormat {
    /// The lines of an address, from the first to the country.
    /// - Parameter country: the country's code of two letters, or its name.
    package static func lines(of members: AddressMembers, country: String) -> [String] {
        var members = members
        var code = CountryNames.code(of: country)
        var countryLines: [String] = []
        if let part = AddressTerritories.code(ofState: members[.state], in: code) {
            code = part
            members[.country] = members[.state]
        }
        if let territory = AddressTerritories.territory(code, state: members[.state]) {
            code = territory.pattern
            countryLines = territory.country
            if !territory.state.isEmpty { members[.state] = territory.state }
            if !territory.stateCode.isEmpty { members[.stateCode] = territory.stateCode }
        }
        clean(&members, code)
        // A house of a place without streets has the number behind the place's name.
        if members.has(.number), !members.has(.road), members.has(.hamlet) {
            members[.road] = members[.hamlet]
            members[.hamlet] = ""
        }
        let isShort = !members.has(.road) && !members.has(.postcode)
        let patterns = AddressPatterns.shared
        let pattern = isShort ? patterns.short(of: code) : patterns.pattern(of: code)
        guard let first = countryLines.first else { return pattern.lines(of: members) }
        members[.country] = first
        return pattern.lines(of: members) + countryLines.dropFirst()
    }

    private static let untouched: Set<AddressPart> = [.attention, .house, .number, .road, .postcode, .country]

    private static func clean(_ members: inout AddressMembers, _ code: String) {
        for part in members.parts where !untouched.contains(part) {
            // Of the two that may be called so only the town has another name.
            if code == "DJ" || code == "PA", part != .city { continue }
            members[part] = AddressNames.plain(members[part], country: code)
        }
        members[.country] = AddressNames.country(members[.country], code: code)
        members[.postcode] = PostalGroups.written(members[.postcode], country: code)
        if !members.has(.stateCode) {
            members[.stateCode] = AddressRegionCodes.state(members[.state], country: code)
        }
        let town = members.has(.city) ? members[.city] : members[.town]
        switch code {
        case "IT":
            let known = AddressRegionCodes.county(members[.county], country: code)
            if !known.isEmpty { members[.countyCode] = known }
        case "IE" where members[.county] == "County \(town)":
            members[.county] = ""
        case "GB" where [members[.city], members[.county]].contains("London"):
            // London is a region of its own: nobody writes England behind it.
            members[.state] = ""
        case "US" where members[.stateCode] == "DC" && town.isEmpty:
            members[.city] = "Washington"
        default: break
        }
    }
}
