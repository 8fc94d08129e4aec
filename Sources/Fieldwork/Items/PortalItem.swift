import FieldworkGeometry
import FieldworkREST
public import Foundation
import Synchronization

/// An item by the address of its page or of its description. It is read without signing in.
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

    private struct State: Sendable {
        var title = ""
        var description = ""
        var snippet = ""
        var tags: [String] = []
        var typeName = ""
        var url: URL?
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The id; never nil.
    public let id: ID?
    /// The address of the item's description, `…/sharing/rest/content/items/ID`.
    public let itemURL: URL
    let environment: ServiceEnvironment
    private let loading: LoadOnce
    private let state = Mutex(State())

    /// An item by the address of its page (`…/home/item.html?id=ID`), of a viewer that shows it (`…?webmap=ID`), or of its
    /// description (`…/sharing/rest/content/items/ID`). nil for an address that names no item.
    public convenience init?(url: URL) { self.init(url: url, environment: .standard) }

    init?(url: URL, environment: ServiceEnvironment) {
        guard let place = ItemAddress(url) else { return nil }
        id = place.id
        itemURL = place.item
        self.environment = environment
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads the item's description. Throws `ServiceError`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let json = try await document(itemURL)
            guard json["type"]?.stringValue != nil else {
                throw ServiceError.unknown(details: "The address does not describe an item.")
            }
            state.withLock { state in
                state.title = json["title"]?.stringValue ?? ""
                state.description = json["description"]?.stringValue ?? ""
                state.snippet = json["snippet"]?.stringValue ?? ""
                state.tags = (json["tags"]?.arrayValue ?? []).compactMap(\.stringValue)
                state.typeName = json["type"]?.stringValue ?? ""
                state.url = json["url"]?.stringValue.flatMap(URL.init(string:))
            }
        }
    }

    /// The item's content. Throws `ServiceError`.
    func data() async throws -> JSONObject { try await document(itemURL.appending(path: "data")) }

    private func document(_ url: URL) async throws -> JSONObject {
        let answer = try await environment.client.answer(to: ServiceRequest(url, [("f", "json")]))
        guard let json = try? JSONParser.parse(answer.bytes), let object = json.objectValue else {
            throw ServiceError.unknown(details: "The item's server gave no JSON.")
        }
        if object["error"]?.objectValue != nil, let error = FieldworkREST.ServiceError(answer: json) {
            throw ServiceError(error)
        }
        return object
    }

    // MARK: What it is

    /// The title; empty before it is loaded.
    public var title: String {
        get { state.withLock { $0.title } }
        set { state.withLock { $0.title = newValue } }
    }

    /// What it is, at length; may be HTML.
    public var description: String {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    /// What it is, in a line or two.
    public var snippet: String {
        get { state.withLock { $0.snippet } }
        set { state.withLock { $0.snippet = newValue } }
    }

    /// Words by which it is found.
    public var tags: [String] { state.withLock { $0.tags } }

    /// What kind of item it is, as servers call it: `Web Map`, `Feature Service`. Empty before it is loaded.
    public var typeName: String { state.withLock { $0.typeName } }

    /// The address of the service that the item stands for; nil for others, and before it is loaded.
    public var url: URL? { state.withLock { $0.url } }
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
