/// A field of a feature: its name, its type in the protocol's words, and its domain.
public struct ArcadeField: Sendable, Hashable {
    /// The name.
    public var name: String
    /// What people see.
    public var alias: String
    /// The type, such as `esriFieldTypeDate`.
    public var type: String
    /// The most characters of a text.
    public var length: Int?
    /// Whether it can be without a value.
    public var isNullable: Bool
    /// Whether it can be set.
    public var isEditable: Bool
    /// What values it can have.
    public var domain: ArcadeDomain?

    /// By its name and type.
    public init(
        name: String, alias: String? = nil, type: String, length: Int? = nil, isNullable: Bool = true,
        isEditable: Bool = true, domain: ArcadeDomain? = nil
    ) {
        self.name = name
        self.alias = alias ?? name
        self.type = type
        self.length = length
        self.isNullable = isNullable
        self.isEditable = isEditable
        self.domain = domain
    }
}

/// What values a field can have.
public struct ArcadeDomain: Sendable, Hashable {
    /// A code and what it means.
    public struct Code: Sendable, Hashable {
        /// What the field holds.
        public var code: ArcadeValue
        /// What it means.
        public var name: String

        /// A code and what it means.
        public init(code: ArcadeValue, name: String) {
            self.code = code
            self.name = name
        }
    }

    /// The name.
    public var name: String
    /// The codes; nil for a range.
    public var codes: [Code]?
    /// The lowest and the highest value; nil for codes.
    public var range: ClosedRange<Double>?

    /// By its codes or its range.
    public init(name: String, codes: [Code]? = nil, range: ClosedRange<Double>? = nil) {
        self.name = name
        self.codes = codes
        self.range = range
    }
}

/// A subtype of the features of a layer.
public struct ArcadeSubtype: Sendable, Hashable {
    /// What the subtype field holds.
    public var code: ArcadeValue
    /// What it is called.
    public var name: String
    /// Domains that hold for its features in place of those of the fields, by the name of the field in lower case.
    public var domains: [String: ArcadeDomain]

    /// By its code and name.
    public init(code: ArcadeValue, name: String, domains: [String: ArcadeDomain] = [:]) {
        self.code = code
        self.name = name
        self.domains = domains
    }
}

/// What the features of a layer have in common. One is made for a layer and shared by its features, so that a script
/// which runs over many of them finds a field once.
public final class ArcadeSchema: Sendable {
    /// The fields, in order.
    public let fields: [ArcadeField]
    /// The protocol's name of the kind of geometry; empty for a table.
    public let geometryType: String
    /// The field that numbers the features.
    public let objectIDField: String?
    /// The field with their global ids.
    public let globalIDField: String?
    /// The field that tells the subtype.
    public let subtypeField: String?
    /// The subtypes.
    public let subtypes: [ArcadeSubtype]
    private let places: [String: Int]

    /// By its fields.
    public init(
        fields: [ArcadeField], geometryType: String = "", objectIDField: String? = nil, globalIDField: String? = nil,
        subtypeField: String? = nil, subtypes: [ArcadeSubtype] = []
    ) {
        self.fields = fields
        self.geometryType = geometryType
        self.objectIDField = objectIDField
        self.globalIDField = globalIDField
        self.subtypeField = subtypeField
        self.subtypes = subtypes
        places = Dictionary(
            fields.enumerated().map { ($0.element.name.lowercased(), $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The place of a field, found without regard to case.
    public func place(of name: String) -> Int? { places[name] ?? places[name.lowercased()] }

    /// The field of this name.
    func field(_ name: String) -> ArcadeField? { place(of: name).map { fields[$0] } }
}
