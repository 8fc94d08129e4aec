public import FieldworkGeometry
import Synchronization

/// How a search for an address is done. Each property can be changed from any thread.
public final class GeocodeParameters: Sendable {
    struct Values: Sendable {
        var minScore = 0.0
        var maxResults = 0
        var searchArea: Geometry?
        var preferredSearchLocation: Point?
        var countryCode = ""
        var categories: [String] = []
        var isForStorage = false
        var outputSpatialReference: SpatialReference?
        var outputLanguageCode = ""
        var resultAttributeNames: [String] = []
    }

    private let state = Mutex(Values())

    /// Parameters with their defaults.
    public init() {}

    var values: Values { state.withLock { $0 } }

    /// Results with a lower score, of 100, are left out.
    public var minScore: Double {
        get { values.minScore }
        set { state.withLock { $0.minScore = newValue } }
    }
    /// The most results; 0 for as many as the locator gives.
    public var maxResults: Int {
        get { values.maxResults }
        set { state.withLock { $0.maxResults = newValue } }
    }
    /// Where results must lie; nil for anywhere. Its extent counts.
    public var searchArea: Geometry? {
        get { values.searchArea }
        set { state.withLock { $0.searchArea = newValue } }
    }
    /// Of results that fit equally well, those near it come first.
    public var preferredSearchLocation: Point? {
        get { values.preferredSearchLocation }
        set { state.withLock { $0.preferredSearchLocation = newValue } }
    }
    /// A country in which results must lie; empty for any.
    public var countryCode: String {
        get { values.countryCode }
        set { state.withLock { $0.countryCode = newValue } }
    }
    /// The kinds of places that are looked for; empty for all.
    public var categories: [String] { values.categories }
    /// Whether results will be kept. Some services count such requests.
    public var isForStorage: Bool {
        get { values.isForStorage }
        set { state.withLock { $0.isForStorage = newValue } }
    }
    /// The reference of the results' places; nil for the locator's own.
    public var outputSpatialReference: SpatialReference? {
        get { values.outputSpatialReference }
        set { state.withLock { $0.outputSpatialReference = newValue } }
    }
    /// The language of the results, where the locator has several.
    public var outputLanguageCode: String {
        get { values.outputLanguageCode }
        set { state.withLock { $0.outputLanguageCode = newValue } }
    }
    /// The attributes that results have; `*` stands for all.
    public var resultAttributeNames: [String] { values.resultAttributeNames }

    /// Adds a kind of places that is looked for.
    public func addCategory(_ category: String) { state.withLock { $0.categories.append(category) } }
    /// Adds kinds of places that are looked for.
    public func addCategories(_ categories: [String]) { state.withLock { $0.categories += categories } }
    /// Adds an attribute that results are to have.
    public func addResultAttributeName(_ name: String) { state.withLock { $0.resultAttributeNames.append(name) } }
    /// Adds attributes that results are to have.
    public func addResultAttributeNames(_ names: [String]) { state.withLock { $0.resultAttributeNames += names } }
}
