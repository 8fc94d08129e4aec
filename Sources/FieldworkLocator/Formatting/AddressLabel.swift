/// Writes an address in one line, in the order of its country: the line with the street first.
package enum AddressLabel {
    package static func isNumberLast(_ country: String) -> Bool { LabelOrder.of(country).isNumberLast }

    /// `12 Main St`, `Hauptstraße 12`, `Calle Mayor, 12`; with the unit where there is one.
    package static func street(number: String, street: String, unit: String, country: String) -> String {
        let line: String
        if number.isEmpty {
            line = street
        } else {
            let order = LabelOrder.of(country)
            line =
                order.isNumberLast
                ? "\(street)\(order.sign)\(number)\(order.numberEnd)" : "\(number)\(order.sign)\(street)"
        }
        return unit.isEmpty ? line : "\(line), \(unit)"
    }

    /// A street line or a name, and what stands behind it.
    package static func whole(_ first: String, in zone: AddressZone, withCountry: Bool = false) -> String {
        var (text, last) = (first, first)
        var wasPostal = false
        for part in LabelOrder.of(zone.country).parts {
            let value =
                switch part.member {
                case .city: zone.city
                case .region: zone.region
                case .postal: zone.postal
                case .country: withCountry ? zone.country : ""
                }
            guard !value.isEmpty, value != last else { continue }
            text += (wasPostal ? part.sign ?? ", " : ", ") + value
            last = value
            wasPostal = part.member == .postal
        }
        return text
    }
}

/// What a country's pattern says of the order of a label.
struct LabelOrder: Sendable {
    enum Member: Sendable {
        case city, region, postal, country
    }

    struct Part: Sendable {
        var member: Member
        /// What stands between it and a postal code before it; nil for a comma.
        var sign: String?
    }

    var isNumberLast = false
    /// Between number and street.
    var sign = " "
    var numberEnd = ""
    var parts: [Part] = [Member.city, .region, .postal, .country].map { Part(member: $0) }

    static func of(_ country: String) -> LabelOrder {
        if country.isEmpty { return unknown }
        return known[country] ?? known[CountryNames.code(of: country)] ?? unknown
    }

    /// Of a country that the data does not name.
    private static let unknown = LabelOrder()

    private static let known: [String: LabelOrder] = {
        var result: [String: LabelOrder] = [:]
        for code in CountryNames.allCodes {
            let host = AddressTerritories.territory(code, state: "")?.pattern ?? code
            result[code] = LabelOrder(AddressPatterns.shared.pattern(of: host))
        }
        return result
    }()
}

extension LabelOrder {
    private init(_ pattern: AddressPattern) {
        let slots = pattern.lines.compactMap(\.first)
        readStreet(slots)
        parts = []
        for line in slots {
            for (index, slot) in line.enumerated() {
                guard let member = Self.member(slot), !parts.contains(where: { $0.member == member }) else { continue }
                let followsPostal = member == .city && index > 0 && line[index - 1].parts == [.postcode]
                // A hyphen between digits and a word would make one word of both for a search.
                let sign = slot.separator == "-" ? " " : slot.separator
                parts.append(Part(member: member, sign: followsPostal ? sign : nil))
            }
        }
        putSmallFirst()
        addMissing()
    }

    private mutating func readStreet(_ lines: [[AddressPattern.Slot]]) {
        for line in lines {
            guard let road = line.firstIndex(where: { $0.parts == [.road] }),
                let number = line.firstIndex(where: { $0.parts == [.number] })
            else { continue }
            isNumberLast = number > road
            sign = line[max(number, road)].separator
            numberEnd = line[number].suffix
        }
    }

    private static func member(_ slot: AddressPattern.Slot) -> Member? {
        if slot.parts.contains(.city) { return .city }
        if slot.parts.contains(.state) { return .region }
        if slot.parts == [.postcode] { return .postal }
        return slot.parts.first == .country ? .country : nil
    }

    /// Patterns that begin with the country are turned round: a label begins with the street.
    private mutating func putSmallFirst() {
        guard let country = parts.firstIndex(where: { $0.member == .country }),
            let city = parts.firstIndex(where: { $0.member == .city }), country < city
        else { return }
        let order: [Member] =
            parts[city].sign == nil
            ? [.city, .region, .postal, .country] : [.postal, .city, .region, .country]
        parts = order.compactMap { member in parts.first { $0.member == member } }
    }

    /// A town belongs to every label; so does its region, except where the postal code tells towns of one name apart.
    private mutating func addMissing() {
        if !parts.contains(where: { $0.member == .city }) { parts.insert(Part(member: .city), at: 0) }
        guard let city = parts.firstIndex(where: { $0.member == .city }),
            !parts.contains(where: { $0.member == .region }),
            !parts[..<city].contains(where: { $0.member == .postal })
        else { return }
        parts.insert(Part(member: .region), at: city + 1)
    }
}
