import FieldworkGeometry
public import Foundation
import Synchronization

/// An organisation's portal: its people, groups, maps and other items. A server of this house has one beside its services.
///
/// ```swift
/// let portal = Portal(url: address, connection: .authenticated)
/// try await portal.load()
/// let found = try await portal.findItems(queryParameters: .items(ofKinds: [.webMap]))
/// let map = Map(item: found.results[0])
/// ```
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class Portal: Loadable, @unchecked Sendable {
    /// Whether a portal is told who asks.
    public enum Connection: Sendable, Hashable {
        /// The portal is loaded and searched without signing in. Items of it that are not everybody's still ask for it.
        case anonymous
        /// Loading the portal signs in, by a credential that is known or by asking the app's challenge handler.
        case authenticated
    }

    private struct State: Sendable {
        var user: PortalUser?
        var info: PortalInfo?
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The address of the portal, as it was given.
    public let url: URL
    /// Whether loading signs in.
    public let connection: Connection
    /// nil for what holds in the process when something is read.
    let ownEnvironment: ServiceEnvironment?
    private let loading: LoadOnce
    private let state = Mutex(State())

    /// A portal by its address, or any address under it.
    public convenience init(url: URL, connection: Connection = .anonymous) {
        self.init(url: url, connection: connection, environment: nil)
    }

    init(url: URL, connection: Connection, environment: ServiceEnvironment?) {
        self.url = url
        self.connection = connection
        ownEnvironment = environment
        loading = LoadOnce(status: _loadStatus)
    }

    /// The vendor's portal on the web.
    public static func arcGISOnline(connection: Connection) -> Portal {
        Portal(url: URL(string: "https://www.arcgis.com") ?? URL(filePath: "/"), connection: connection)
    }

    var environment: ServiceEnvironment { ownEnvironment ?? .standard }

    var client: PortalClient { PortalClient(portalURL: url, client: environment.client) }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads what the portal is, and who is signed in. Throws `ArcGISChallengeCancellationError` when the sign-in was
    /// cancelled, `ArcGISAuthenticationError`, `ServiceError`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let isAnonymous = connection == .anonymous
            if !isAnonymous { try await environment.authentication?.requireCredential(for: client.root) }
            let json = try await client.read(["portals", "self"], isAnonymous: isAnonymous)
            guard json["id"] != nil || json["portalName"] != nil || json["name"] != nil else {
                throw ServiceError.unknown(details: "\(Redaction.address(url)) is no portal.")
            }
            let user = isAnonymous ? nil : json["user"]?.objectValue.flatMap { PortalUser($0, portal: self) }
            state.withLock { $0 = State(user: user, info: PortalInfo(json)) }
        }
    }

    /// Who is signed in; nil before it is loaded, and for an anonymous connection.
    public var user: PortalUser? { state.withLock { $0.user } }

    /// What the portal says of its organisation; nil before it is loaded.
    public var info: PortalInfo? { state.withLock { $0.info } }

    // MARK: Finding

    /// A page of the items that parameters choose, and the way to the next page. Throws `ServiceError`.
    public func findItems(
        queryParameters: PortalQueryParameters
    ) async throws -> PortalQueryResultSet<PortalItem> {
        try await find(["search"], queryParameters) { PortalItem($0, portal: self) }
    }

    /// A page of the groups that parameters choose, and the way to the next page. Throws `ServiceError`.
    public func findGroups(
        queryParameters: PortalQueryParameters
    ) async throws -> PortalQueryResultSet<PortalGroup> {
        try await find(["community", "groups"], queryParameters) { PortalGroup($0, portal: self) }
    }

    /// A page of the people that parameters choose, and the way to the next page. Throws `ServiceError`.
    public func findUsers(
        queryParameters: PortalQueryParameters
    ) async throws -> PortalQueryResultSet<PortalUser> {
        try await find(["community", "users"], queryParameters) { PortalUser($0, portal: self) }
    }

    private func find<Found: Sendable>(
        _ steps: [String], _ parameters: PortalQueryParameters, _ make: (JSONObject) -> Found?
    ) async throws -> PortalQueryResultSet<Found> {
        let json = try await client.read(steps, parameters.form, isAnonymous: connection == .anonymous)
        let results = (json["results"]?.arrayValue ?? []).compactMap(\.objectValue).compactMap(make)
        return PortalQueryResultSet(
            results: results, totalResultsCount: json.int("total") ?? results.count, queryParameters: parameters,
            nextStart: json.int("nextStart") ?? -1)
    }
}
