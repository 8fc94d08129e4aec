import FieldworkGeometry
import Synchronization

/// What an offline map says of itself: the description of the item that it was taken from, or another one.
public final class OfflineMapItemInfo: Sendable {
    private struct Values: Sendable {
        var title = ""
        var snippet = ""
        var description = ""
        var tags: [String] = []
        var accessInformation = ""
        var termsOfUse = ""
    }

    private let state = Mutex(Values())

    /// A description without a word.
    public init() {}

    /// The title.
    public var title: String {
        get { state.withLock { $0.title } }
        set { state.withLock { $0.title = newValue } }
    }

    /// What it is, in a line or two.
    public var snippet: String {
        get { state.withLock { $0.snippet } }
        set { state.withLock { $0.snippet = newValue } }
    }

    /// What it is, at length; may be HTML.
    public var description: String {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    /// Words by which it is found.
    public var tags: [String] { state.withLock { $0.tags } }

    /// Adds words.
    public func addTags(_ tags: [String]) { state.withLock { $0.tags += tags } }

    /// Takes all words away.
    public func removeAllTags() { state.withLock { $0.tags = [] } }

    /// Whom to name.
    public var accessInformation: String {
        get { state.withLock { $0.accessInformation } }
        set { state.withLock { $0.accessInformation = newValue } }
    }

    /// What may be done with it.
    public var termsOfUse: String {
        get { state.withLock { $0.termsOfUse } }
        set { state.withLock { $0.termsOfUse = newValue } }
    }

    var json: JSONValue {
        [
            "title": .string(title), "snippet": .string(snippet), "description": .string(description),
            "tags": .array(tags.map(JSONValue.string)), "accessInformation": .string(accessInformation),
            "licenseInfo": .string(termsOfUse),
        ]
    }

    convenience init(json: JSONValue) {
        self.init()
        title = json["title"]?.stringValue ?? ""
        snippet = json["snippet"]?.stringValue ?? ""
        description = json["description"]?.stringValue ?? ""
        addTags((json["tags"]?.arrayValue ?? []).compactMap(\.stringValue))
        accessInformation = json["accessInformation"]?.stringValue ?? ""
        termsOfUse = json["licenseInfo"]?.stringValue ?? ""
    }
}
