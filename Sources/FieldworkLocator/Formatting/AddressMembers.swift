/// What an address can consist of, from the smallest to the largest.
package enum AddressPart: String, Sendable, CaseIterable {
    case attention, house, number, road, quarter, block, neighbourhood, suburb, district
    case hamlet, village, town, city, postalCity, municipality
    case county, countyCode, stateDistrict, state, stateCode, region, island, archipelago
    case postcode, country, continent
}

/// The parts of one address. A part that is not known is empty.
package struct AddressMembers: Sendable, Hashable {
    private var values: [AddressPart: String] = [:]

    package init() {}

    package subscript(_ part: AddressPart) -> String {
        get { values[part] ?? "" }
        set { values[part] = newValue.isEmpty ? nil : newValue }
    }

    func has(_ part: AddressPart) -> Bool { values[part] != nil }

    /// The parts that are known.
    var parts: [AddressPart] { Array(values.keys) }
}

extension AddressMembers {
    init(_ zone: AddressZone) {
        self[.neighbourhood] = zone.neighborhood
        self[.city] = zone.city
        self[.county] = zone.subregion
        self[.state] = zone.region
        self[.postcode] = zone.postal
        self[.country] = zone.country
    }
}
