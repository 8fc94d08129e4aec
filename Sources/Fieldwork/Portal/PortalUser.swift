import FieldworkGeometry
public import Foundation
import Synchronization

/// A person of a portal.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class PortalUser: Loadable, @unchecked Sendable {
    /// What a person may do, in a word.
    public enum Role: Sendable, Hashable {
        /// Manages the organisation.
        case admin
        /// Makes items and services.
        case publisher
        /// Makes items.
        case user
        /// Looks at what is shared.
        case viewer
        /// A set of rights of the organisation's own, by its id.
        case custom(String)
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The name by which the person signs in.
    public let username: String
    /// The portal.
    public let portal: Portal?
    private let loading: LoadOnce
    private let json: Mutex<JSONObject>

    /// A person by name. Load it to know more.
    public convenience init(portal: Portal, username: String) {
        var json = JSONObject()
        json["username"] = .string(username)
        self.init(known: json, portal: portal, username: username)
    }

    convenience init?(_ json: JSONObject, portal: Portal) {
        guard let name = json["username"]?.stringValue, !name.isEmpty else { return nil }
        self.init(known: json, portal: portal, username: name)
    }

    private init(known json: JSONObject, portal: Portal, username: String) {
        self.username = username
        self.portal = portal
        self.json = Mutex(json)
        loading = LoadOnce(status: _loadStatus)
    }

    private var known: JSONObject { json.withLock { $0 } }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads what the portal knows of the person. Throws `ServiceError`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let read = try await home.client.read(["community", "users", username])
            json.withLock { $0 = read }
        }
    }

    // MARK: Who it is

    /// The whole name.
    public var fullName: String { known.text("fullName") }
    /// The address for mail; empty where it is not told.
    public var email: String { known.text("email") }
    /// What the person says of themselves.
    public var description: String { known.text("description") }
    /// Words by which the person is found.
    public var tags: [String] { known.texts("tags") }
    /// When the person joined.
    public var creationDate: Date? { known.date("created") }
    /// When something of this was changed last.
    public var modificationDate: Date? { known.date("modified") }
    /// What the person may do, one by one, in the portal's words: `features:user:edit`, `portal:user:createItem`.
    public var privileges: [String] { known.texts("privileges") }

    /// What the person may do, in a word; nil where it is not told.
    public var role: Role? {
        let known = known
        if let id = known["roleId"]?.stringValue, !id.isEmpty, !id.hasPrefix("org_") {
            return id == "iAAAAAAAAAAAAAAA" ? .viewer : .custom(id)
        }
        return switch known.text("role") {
        case "org_admin": .admin
        case "org_publisher": .publisher
        case "org_user": .user
        case "org_viewer": .viewer
        case "": nil
        case let other: .custom(other)
        }
    }

    /// The groups that the person belongs to, as far as they are told.
    public var groups: [PortalGroup] {
        guard let portal else { return [] }
        return (known["groups"]?.arrayValue ?? []).compactMap(\.objectValue).compactMap {
            PortalGroup($0, portal: portal)
        }
    }

    /// The picture; nil for none.
    public var thumbnail: LoadableImage? {
        guard let portal, let name = known["thumbnail"]?.stringValue, !name.isEmpty else { return nil }
        let place = portal.client.address(["community", "users", username, "info"]).appending(path: name)
        return LoadableImage(url: place, client: portal.environment.client)
    }

    /// The portal. Throws `CommonError.illegalState` for a person without one.
    var home: Portal {
        get throws {
            guard let portal else { throw CommonError.illegalState(details: "The person has no portal.") }
            return portal
        }
    }
}
