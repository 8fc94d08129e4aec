public import FieldworkGeometry
import Synchronization

/// How suggestions are made. Each property can be changed from any thread.
public final class SuggestParameters: Sendable {
    struct Values: Sendable {
        var maxResults = 5
        var searchArea: Geometry?
        var preferredSearchLocation: Point?
        var countryCode = ""
        var categories: [String] = []
    }

    private let state = Mutex(Values())

    /// Parameters with their defaults.
    public init() {}

    var values: Values { state.withLock { $0 } }

    /// The most suggestions.
    public var maxResults: Int {
        get { values.maxResults }
        set { state.withLock { $0.maxResults = newValue } }
    }
    /// Where what is suggested must lie; nil for anywhere. Its extent counts.
    public var searchArea: Geometry? {
        get { values.searchArea }
        set { state.withLock { $0.searchArea = newValue } }
    }
    /// What lies near it comes first.
    public var preferredSearchLocation: Point? {
        get { values.preferredSearchLocation }
        set { state.withLock { $0.preferredSearchLocation = newValue } }
    }
    /// A country in which what is suggested must lie; empty for any.
    public var countryCode: String {
        get { values.countryCode }
        set { state.withLock { $0.countryCode = newValue } }
    }
    /// The kinds of places that are suggested; empty for all.
    public var categories: [String] { values.categories }

    /// Adds a kind of places that is suggested.
    public func addCategory(_ category: String) { state.withLock { $0.categories.append(category) } }
    /// Adds kinds of places that are suggested.
    public func addCategories(_ categories: [String]) { state.withLock { $0.categories += categories } }
}
