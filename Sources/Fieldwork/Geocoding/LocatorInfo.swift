public import FieldworkGeometry

/// What a locator says of itself.
public final class LocatorInfo: Sendable {
    /// The name of the locator.
    public let name: String
    /// What it has addresses of.
    public let description: String
    /// The reference of its places.
    public let spatialReference: SpatialReference?
    /// The attributes that results may have.
    public let resultAttributes: [LocatorAttribute]
    /// The parts of an address that can be searched for.
    public let searchAttributes: [LocatorAttribute]
    /// Whether it says what a text that is being typed may become.
    public let supportsSuggestions: Bool
    /// Whether places can be searched for by their names.
    public let supportsPOI: Bool
    /// Whether addresses can be searched for.
    public let supportsAddresses: Bool
    /// Whether crossings of streets can be searched for.
    public let supportsIntersections: Bool
    /// Where its addresses lie; nil where it does not say.
    public let fullExtent: Envelope?

    init(
        name: String, description: String, spatialReference: SpatialReference?, resultAttributes: [LocatorAttribute],
        searchAttributes: [LocatorAttribute], supportsSuggestions: Bool, supportsPOI: Bool, supportsAddresses: Bool,
        supportsIntersections: Bool, fullExtent: Envelope?
    ) {
        self.name = name
        self.description = description
        self.spatialReference = spatialReference
        self.resultAttributes = resultAttributes
        self.searchAttributes = searchAttributes
        self.supportsSuggestions = supportsSuggestions
        self.supportsPOI = supportsPOI
        self.supportsAddresses = supportsAddresses
        self.supportsIntersections = supportsIntersections
        self.fullExtent = fullExtent
    }
}

/// A part of an address, or a member of a result.
public final class LocatorAttribute: Sendable {
    /// The kinds of values.
    public enum Kind: Sendable {
        /// A text.
        case text
        /// A number.
        case double
        /// A place.
        case geometry
        /// Anything else.
        case unknown
    }

    /// The name, as results have it.
    public let name: String
    /// The name for people.
    public let displayName: String
    /// The kind of its values.
    public let type: Kind
    /// Whether a search needs it.
    public let isRequired: Bool

    init(name: String, displayName: String, type: Kind, isRequired: Bool = false) {
        self.name = name
        self.displayName = displayName
        self.type = type
        self.isRequired = isRequired
    }
}
