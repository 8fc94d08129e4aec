import FieldworkGeometry
public import Foundation
import Synchronization

/// Something that a portal keeps: a map, a service, a file. Load it to know what it is.
///
/// ```swift
/// let item = PortalItem(portal: portal, id: .init("0123456789abcdef0123456789abcdef")!)
/// let map = Map(item: item)
/// try await map.load()
/// ```
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class PortalItem: Item, @unchecked Sendable {
    /// What items are told apart by.
    public struct ID: RawRepresentable, Hashable, Sendable, LosslessStringConvertible {
        /// The id as a text.
        public let rawValue: String

        /// nil for a text that can't be an id: ids are letters, digits, hyphens and underscores.
        public init?(rawValue: String) {
            let isPlain = rawValue.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x2D || byte == 0x5F
            }
            guard isPlain, !rawValue.isEmpty, rawValue.utf8.count <= Limits.itemIDLength else { return nil }
            self.rawValue = rawValue
        }

        /// nil for a text that can't be an id.
        public init?(_ description: String) { self.init(rawValue: description) }

        /// The id as a text.
        public var description: String { rawValue }
    }

    struct State: Sendable {
        var id: ID?
        /// As the portal told it last.
        var known = JSONObject()
        /// What was set here and is not in the portal yet.
        var changes = JSONObject()
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The portal that the item is of.
    public let portal: Portal
    private let loading: LoadOnce
    let state: Mutex<State>

    var environment: ServiceEnvironment { portal.environment }

    /// An item of a portal by its id.
    public convenience init(portal: Portal, id: ID) { self.init(portal: portal, state: State(id: id)) }

    /// An item by the address of its page (`…/home/item.html?id=ID`), of a viewer that shows it (`…?webmap=ID`), or of its
    /// description (`…/sharing/rest/content/items/ID`). nil for an address that names no item.
    public convenience init?(url: URL) { self.init(url: url, environment: nil) }

    convenience init?(url: URL, environment: ServiceEnvironment?) {
        guard let place = ItemAddress(url) else { return nil }
        self.init(
            portal: Portal(url: place.item, connection: .anonymous, environment: environment),
            state: State(id: place.id))
    }

    /// A new item, for `PortalUser.add(_:with:)`.
    public convenience init(
        portal: Portal, kind: Kind, title: String, snippet: String = "", description: String = "", tags: [String] = []
    ) {
        var state = State()
        state.changes["type"] = .string(kind.rawValue)
        state.changes["title"] = .string(title)
        state.changes["snippet"] = .string(snippet)
        state.changes["description"] = .string(description)
        state.changes["tags"] = .array(tags.map(JSONValue.string))
        self.init(portal: portal, state: state)
    }

    /// An item as a portal lists it; nil for what is none.
    convenience init?(_ json: JSONObject, portal: Portal) {
        guard let id = ID(json.text("id")) else { return nil }
        self.init(portal: portal, state: State(id: id, known: json))
    }

    private init(portal: Portal, state: State) {
        self.portal = portal
        self.state = Mutex(state)
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads the item's description. Throws `ServiceError`, and what signing in throws.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let json = try await described()
            state.withLock { $0.known = json }
        }
    }

    /// Loads the item, or reads anew what is known of it: what follows belongs to the version that the portal has now.
    func reread() async throws {
        guard case .loaded = loadStatus else { return try await load() }
        let json = try await described()
        state.withLock { $0.known = json }
    }

    /// The item's description as the portal has it now.
    func described() async throws -> JSONObject {
        let json = try await portal.client.read(try steps())
        guard json["type"]?.stringValue != nil else {
            throw ServiceError.unknown(details: "The address does not describe an item.")
        }
        return json
    }

    /// The steps of an address under the item's. Throws `CommonError.illegalState` for an item that is not in a portal yet.
    func steps(_ more: String...) throws -> [String] {
        guard let id else {
            throw CommonError.illegalState(details: "The item \(title) is not in a portal yet. Add it first.")
        }
        return ["content", "items", id.rawValue] + more
    }

    /// The item has got its id.
    func becomeAdded(_ id: ID, owner: String) async throws {
        state.withLock { state in
            state.id = id
            state.known = state.changes
            state.known["owner"] = .string(owner)
            state.changes = JSONObject()
        }
        // It is there, whether it can be read now or not.
        try? await retryLoad()
        try Task.checkCancellation()
    }

    /// The portal has taken over what was set here.
    func becomeUpdated(_ json: JSONObject) {
        state.withLock { state in
            state.known = json
            state.changes = JSONObject()
        }
    }

    // MARK: Content

    /// The item's content, whatever it is; empty for none. Throws `ServiceError`.
    public var data: Data {
        get async throws { try await portal.client.data(try steps("data")) }
    }

    /// The item's content as a document. Throws `ServiceError`.
    func document() async throws -> JSONObject { try await portal.client.read(try steps("data")) }
}

/// Which item an address names.
private struct ItemAddress {
    let id: PortalItem.ID
    let item: URL

    init?(_ url: URL) {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true),
            ["http", "https"].contains(components.scheme?.lowercased() ?? "")
        else { return nil }
        let steps = components.path.split(separator: "/").map(String.init)
        if let items = steps.lastIndex(of: "items"), items > 0, steps[items - 1] == "content", items + 1 < steps.count {
            guard let id = PortalItem.ID(steps[items + 1]), steps.count <= items + 3,
                let item = Self.url(components, Array(steps[...(items + 1)]))
            else { return nil }
            self.id = id
            self.item = item
            return
        }
        let named = components.queryItems?.first { item in
            item.name == "webmap" || (item.name == "id" && steps.last == "item.html")
        }
        guard let id = named?.value.flatMap(PortalItem.ID.init(rawValue:)) else { return nil }
        // What stands before the page is the portal.
        let root = steps.prefix { !["home", "apps", "sharing"].contains($0) }
        guard let item = Self.url(components, root + ["sharing", "rest", "content", "items", id.rawValue]) else {
            return nil
        }
        self.id = id
        self.item = item
    }

    private static func url(_ components: URLComponents, _ steps: [String]) -> URL? {
        var plain = components
        plain.query = nil
        plain.fragment = nil
        plain.path = "/" + steps.joined(separator: "/")
        return plain.url
    }
}
