public import FieldworkGeometry

/// An address or a place that a locator found.
public final class GeocodeResult: Sendable {
    /// The members of the address, such as `Address`, `Match_addr` and `City`: texts and numbers.
    public let attributes: [String: any Sendable]
    /// Where it is shown.
    public let displayLocation: Point?
    /// The place that was asked about; nil for a search.
    public let inputLocation: Point?
    /// Where it is reached from the street.
    public let routeLocation: Point?
    /// A box that shows it.
    public let extent: Envelope?
    /// The address in one line.
    public let label: String
    /// How well it fits, of 100.
    public let score: Double

    init(
        attributes: [String: any Sendable], displayLocation: Point?, inputLocation: Point? = nil, routeLocation: Point?,
        extent: Envelope?, label: String, score: Double
    ) {
        self.attributes = attributes
        self.displayLocation = displayLocation
        self.inputLocation = inputLocation
        self.routeLocation = routeLocation
        self.extent = extent
        self.label = label
        self.score = score
    }
}

/// What a text that is being typed may become. A search for it finds exactly that.
public final class SuggestResult: Sendable {
    /// The text.
    public let label: String
    /// Whether it stands for several places.
    public let isCollection: Bool
    let magicKey: String
    /// Names it to its locator, so that an app's page can hold it.
    package var key: String { magicKey }

    init(label: String, isCollection: Bool, magicKey: String) {
        self.label = label
        self.isCollection = isCollection
        self.magicKey = magicKey
    }

    package convenience init(label: String, key: String) {
        self.init(label: label, isCollection: false, magicKey: key)
    }
}
