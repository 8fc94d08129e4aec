public import FieldworkGeometry

/// Where a script stands. It decides which globals and which kinds of functions there are.
public struct ArcadeProfile: Sendable, Hashable {
    /// What people call it.
    public let name: String
    /// The globals, in lower case.
    let globals: Set<String>
    /// Kinds of functions beside those of the core.
    let bundles: Set<FunctionBundle>

    private static let data: Set<FunctionBundle> = [.geometry, .dataAccess, .portal]
    private static let popupGlobals: Set<String> = ["$feature", "$layer", "$map", "$datastore"]
    private static let formGlobals = popupGlobals.union(["$originalfeature", "$featureset", "$editcontext"])

    /// Texts and values of pop-ups.
    public static let popup = ArcadeProfile(name: "popup", globals: popupGlobals, bundles: data)
    /// Elements of pop-ups, which an expression makes.
    public static let popupElement = ArcadeProfile(name: "popup-element", globals: popupGlobals, bundles: data)
    /// Values that forms calculate.
    public static let formCalculation = ArcadeProfile(name: "form-calculation", globals: formGlobals, bundles: data)
    /// Conditions of forms.
    public static let formConstraint = ArcadeProfile(name: "form-constraint", globals: formGlobals, bundles: data)
    /// Symbols of layers.
    public static let visualization = ArcadeProfile(
        name: "visualization", globals: ["$feature", "$view"], bundles: [.geometry])
    /// Labels.
    public static let labeling = ArcadeProfile(name: "labeling", globals: ["$feature"], bundles: [.geometry])
    /// Values that are calculated for many features at once.
    public static let fieldCalculation = ArcadeProfile(
        name: "field-calculation", globals: ["$feature", "$datastore"], bundles: data)
    /// Values that an edit sets.
    public static let attributeRuleCalculation = ArcadeProfile(
        name: "attribute-rule-calculation", globals: ruleGlobals, bundles: data.union([.database]))
    /// What an edit must keep to.
    public static let attributeRuleConstraint = ArcadeProfile(
        name: "attribute-rule-constraint", globals: ruleGlobals, bundles: data)
    /// What is checked after edits.
    public static let attributeRuleValidation = ArcadeProfile(
        name: "attribute-rule-validation", globals: ruleGlobals, bundles: data)
    private static let ruleGlobals: Set<String> = [
        "$feature", "$originalfeature", "$featureset", "$datastore", "$editcontext",
    ]
    /// Everything that any place has: for trying things out.
    public static let any = ArcadeProfile(
        name: "any",
        globals: formGlobals.union(["$view", "$aggregatedfeatures"]), bundles: data.union([.database]))

    /// Every profile.
    public static let all: [ArcadeProfile] = [
        popup, popupElement, formCalculation, formConstraint, visualization, labeling, fieldCalculation,
        attributeRuleCalculation, attributeRuleConstraint, attributeRuleValidation, any,
    ]
}

/// Kinds of functions. A profile grants them.
enum FunctionBundle: String, Sendable {
    case core, geometry, dataAccess, portal, database
}

/// Who runs a script.
public struct ArcadeUser: Sendable, Hashable {
    /// The name to sign in with, the full name and the address.
    public var username: String, fullName: String, email: String

    /// By the names.
    public init(username: String, fullName: String = "", email: String = "") {
        self.username = username
        self.fullName = fullName
        self.email = email
    }
}

/// Everything that an evaluation can depend on. Two evaluations of a script with equal contexts give equal results.
public struct ArcadeContext: Sendable {
    /// Where the script stands.
    public var profile: ArcadeProfile
    /// The time, in milliseconds since 1970: one reading for the whole evaluation.
    public var now: Double
    /// The zone in which dates are read and shown.
    public var zone: ArcadeZone
    /// The zone of the device, for `system`.
    public var systemZone: ArcadeZone
    /// The language and the country, such as `en-US`.
    public var locale: String
    /// What random numbers and new GUIDs come from.
    public var seed: UInt64
    /// The reference of geometries that say none.
    public var spatialReference: SpatialReference?
    /// The name of the app.
    public var application: String
    /// `$feature`.
    public var feature: ArcadeFeature?
    /// `$originalFeature`.
    public var originalFeature: ArcadeFeature?
    /// `$editContext.editType`: `INSERT`, `UPDATE`, `DELETE` or `NA`.
    public var editType: String?
    /// `$view.scale`.
    public var viewScale: Double?
    /// Who runs the script.
    public var user: ArcadeUser?
    /// What answers for layers; nil where a script can read none.
    public var data: (any ArcadeDataSource)?
    /// The most steps.
    public var stepsMax = ArcadeLimits.stepsMax
    /// The most bytes of texts, arrays and dictionaries.
    public var memoryMax = ArcadeLimits.memoryMax

    /// For a place, a time and a zone.
    public init(
        profile: ArcadeProfile, now: Double, zone: ArcadeZone = .utc, systemZone: ArcadeZone? = nil,
        locale: String = "en-US", seed: UInt64 = 0, spatialReference: SpatialReference? = nil,
        application: String = "Fieldwork", feature: ArcadeFeature? = nil
    ) {
        self.profile = profile
        self.now = now
        self.zone = zone
        self.systemZone = systemZone ?? zone
        self.locale = locale
        self.seed = seed
        self.spatialReference = spatialReference
        self.application = application
        self.feature = feature
    }
}
