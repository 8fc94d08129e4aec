/// What a locator knows of an answer.
package struct LocatorResult: Sendable, Hashable {
    /// The kinds of answers, as the protocol names them.
    package enum Kind: String, Sendable, CaseIterable {
        case subaddress = "Subaddress"
        case pointAddress = "PointAddress"
        case streetAddress = "StreetAddress"
        /// A number outside of the numbers that the street has.
        case streetAddressExtended = "StreetAddressExt"
        case intersection = "StreetInt"
        case streetName = "StreetName"
        case pointOfInterest = "POI"
        case locality = "Locality"
        case postal = "Postal"
        case coordinates = "LatLong"

        /// The exacter, the smaller.
        var order: Int {
            switch self {
            case .subaddress, .pointAddress, .coordinates: 0
            case .intersection: 1
            case .streetAddress: 2
            case .pointOfInterest, .locality: 3
            case .postal: 4
            case .streetAddressExtended: 5
            case .streetName: 3
            }
        }
    }

    package var kind: Kind
    package var score: Double = 100
    package var number = ""
    package var unit = ""
    package var street = ""
    /// The name of a place.
    package var placeName = ""
    /// What a place is more exactly.
    package var type = ""
    package var zone: AddressZone
    /// The place itself, in degrees of WGS 84.
    package var x: Double
    package var y: Double
    /// Where it is reached: on the street.
    package var routeX: Double
    package var routeY: Double
    /// `L` or `R` of the direction of the street.
    package var side = ""
    /// The numbers of that side of the block.
    package var range: NumberRange?
    /// Half the width and height of the box that shows it, in degrees; nil for a small one.
    var box: PlaceBox?
    /// Metres from where was asked.
    package var distance: Double?
    /// The order of importance: the index's.
    var importance: Int64 = 0
    /// Names the answer in this build of the locator.
    var key = ""
    /// The house's row; 0 for what is no house.
    var addressID: Int64 = 0

    struct PlaceBox: Sendable, Hashable {
        var xMin: Double
        var yMin: Double
        var xMax: Double
        var yMax: Double
    }

    init(kind: Kind, zone: AddressZone, x: Double, y: Double) {
        self.kind = kind
        self.zone = zone
        self.x = x
        self.y = y
        routeX = x
        routeY = y
    }

    /// Any answer: its members are those of all.
    package static let sample = LocatorResult(kind: .pointAddress, zone: AddressZone(), x: 0, y: 0)

    /// The box that shows it.
    package var extent: (xMin: Double, yMin: Double, xMax: Double, yMax: Double) {
        if let box { return (box.xMin, box.yMin, box.xMax, box.yMax) }
        return (x - 0.001, y - 0.001, x + 0.001, y + 0.001)
    }

    /// The line that names the house or the place.
    package var shortLabel: String {
        switch kind {
        case .pointOfInterest, .locality, .postal, .coordinates: placeName
        default: AddressLabel.street(number: number, street: street, unit: unit, country: zone.country)
        }
    }

    /// The whole address in one line.
    package var label: String { kind == .coordinates ? placeName : AddressLabel.whole(shortLabel, in: zone) }
    package var longLabel: String {
        kind == .coordinates ? placeName : AddressLabel.whole(shortLabel, in: zone, withCountry: true)
    }

    /// The address of a named place: of a shop or a school without its name, of a town with it.
    var placeAddress: String {
        guard kind == .pointOfInterest else { return placeName.isEmpty ? "" : label }
        return AddressFormat.lines(of: AddressMembers(zone), country: zone.country).joined(separator: ", ")
    }

    /// What is stored as the address: the line with the street; empty for a place without one.
    package var addressLine: String {
        switch kind {
        case .pointOfInterest, .locality, .postal, .coordinates: ""
        default: shortLabel
        }
    }
}
