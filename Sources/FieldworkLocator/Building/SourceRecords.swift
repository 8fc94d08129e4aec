/// A house with a number, on its way into a locator. Coordinates are degrees of WGS 84.
package struct AddressRecord: Sendable, Hashable {
    package var number: String
    package var street: String
    package var unit: String
    package var zone: AddressZone
    package var x: Double
    package var y: Double

    package init(number: String, street: String, unit: String = "", zone: AddressZone, x: Double, y: Double) {
        self.number = number
        self.street = street
        self.unit = unit
        self.zone = zone
        self.x = x
        self.y = y
    }
}

/// The numbers of one side of a street, in the direction of its line. They may fall.
package struct NumberRange: Sendable, Hashable {
    package enum Parity: String, Sendable {
        case odd = "O"
        case even = "E"
        case both = "B"
    }

    package var from: Int
    package var to: Int
    package var parity: Parity

    package init(from: Int, to: Int, parity: Parity? = nil) {
        self.from = from
        self.to = to
        self.parity = parity ?? (from % 2 != to % 2 ? .both : from % 2 == 0 ? .even : .odd)
    }

    package func contains(_ number: Int) -> Bool {
        guard number >= min(from, to), number <= max(from, to) else { return false }
        switch parity {
        case .both: return true
        case .odd: return number % 2 != 0
        case .even: return number % 2 == 0
        }
    }
}

/// A piece of a street between two crossings.
package struct StreetRecord: Sendable, Hashable {
    package var name: String
    package var otherNames: [String]
    package var zone: AddressZone
    package var left: NumberRange?
    package var right: NumberRange?
    /// Degrees, x and y in turn.
    package var line: [Double]

    package init(
        name: String, otherNames: [String] = [], zone: AddressZone, left: NumberRange? = nil,
        right: NumberRange? = nil, line: [Double]
    ) {
        self.name = name
        self.otherNames = otherNames
        self.zone = zone
        self.left = left
        self.right = right
        self.line = line
    }
}

/// A place with a name: a town, a neighbourhood, a postal area, a point of interest.
package struct PlaceRecord: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case locality = "Locality"
        case postal = "Postal"
        case pointOfInterest = "POI"
    }

    package var kind: Kind
    /// What it is more exactly: city, park, museum.
    package var type: String
    package var name: String
    package var otherNames: [String]
    package var zone: AddressZone
    /// The larger, the earlier among equals: inhabitants.
    package var weight: Double
    package var x: Double
    package var y: Double
    /// How far it reaches, in metres, where it has no area: 0 for not at all.
    package var reach: Double
    /// Rings in degrees, x and y in turn; none for a point.
    package var rings: [[Double]]

    package init(
        kind: Kind, type: String = "", name: String, otherNames: [String] = [], zone: AddressZone,
        weight: Double = 0, x: Double, y: Double, reach: Double = 0, rings: [[Double]] = []
    ) {
        self.kind = kind
        self.type = type
        self.name = name
        self.otherNames = otherNames
        self.zone = zone
        self.weight = weight
        self.x = x
        self.y = y
        self.reach = reach
        self.rings = rings
    }
}
