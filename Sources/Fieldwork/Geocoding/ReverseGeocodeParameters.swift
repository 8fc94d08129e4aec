public import FieldworkGeometry
import Synchronization

/// How the address of a place is looked for. Each property can be changed from any thread.
public final class ReverseGeocodeParameters: Sendable {
    struct Values: Sendable {
        var maxResults = 1
        var maxDistance = 0.0
        var isForStorage = false
        var outputSpatialReference: SpatialReference?
        var outputLanguageCode = ""
        var featureTypes: [String] = []
        var resultAttributeNames: [String] = []
    }

    private let state = Mutex(Values())

    /// Parameters with their defaults.
    public init() {}

    var values: Values { state.withLock { $0 } }

    /// The most results.
    public var maxResults: Int {
        get { values.maxResults }
        set { state.withLock { $0.maxResults = newValue } }
    }
    /// Metres beyond which nothing is a result; 0 for the distances of the locator.
    public var maxDistance: Double {
        get { values.maxDistance }
        set { state.withLock { $0.maxDistance = newValue } }
    }
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
    /// The kinds that are looked for, such as `PointAddress`; empty for those of the locator. One alone is looked for farther.
    public var featureTypes: [String] { values.featureTypes }
    /// The attributes that results have; `*` stands for all.
    public var resultAttributeNames: [String] { values.resultAttributeNames }

    /// Adds a kind that is looked for.
    public func addFeatureType(_ type: String) { state.withLock { $0.featureTypes.append(type) } }
    /// Adds kinds that are looked for.
    public func addFeatureTypes(_ types: [String]) { state.withLock { $0.featureTypes += types } }
    /// Adds an attribute that results are to have.
    public func addResultAttributeName(_ name: String) { state.withLock { $0.resultAttributeNames.append(name) } }
    /// Adds attributes that results are to have.
    public func addResultAttributeNames(_ names: [String]) { state.withLock { $0.resultAttributeNames += names } }
}
