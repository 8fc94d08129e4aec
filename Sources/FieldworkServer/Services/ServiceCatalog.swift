import FieldworkREST
import FieldworkStore
import Synchronization

/// A service as the server works with it: its definition, and a number that changes whenever the definition does.
struct PublishedService: Sendable {
    var definition: ServiceDefinition
    var version: UInt64
    /// Whether the service allows edits that whoever asks may not make.
    var withholdsEditing = false
    /// The item that stands for it in the portal; nil on a server without people.
    var itemID: String?

    /// The service for who asks: features that are not for him are in none of its answers.
    func seen(by editor: String?) -> PublishedService {
        guard definition.layers.contains(where: { $0.ownershipAccess != nil }) else { return self }
        var seen = self
        for index in seen.definition.layers.indices {
            let layer = seen.definition.layers[index]
            guard let own = layer.visibleFeatures(to: editor) else { continue }
            seen.definition.layers[index].restriction = layer.restriction.map { .binary(.and, $0, own) } ?? own
        }
        return seen
    }

    func layer(id: Int) throws(ServiceError) -> LayerDefinition {
        guard let layer = definition.layer(id: id) else { throw .notFound("Layer or table \(id) not found.") }
        return layer
    }
}

/// The services of the store by the name that clients use, in memory. A definition is used for a while before the store
/// is asked again; the store checks every edit against the definition that holds at that moment, so that an old one
/// here can make an answer old but never an edit wrong.
final class ServiceCatalog: Sendable {
    private struct Entry {
        var service: PublishedService
        var readAt: ContinuousClock.Instant
    }

    private struct State {
        /// By lower-case path.
        var entries: [String: Entry] = [:]
        /// When the store was found to have no service of a path, in lower case.
        var absent: [String: ContinuousClock.Instant] = [:]
        var nextVersion: UInt64
    }

    private let store: any FeatureStore
    private let lifetime: Duration
    private let state: Mutex<State>

    init(store: any FeatureStore, lifetime: Duration) {
        self.store = store
        self.lifetime = lifetime
        // Versions of an earlier run must not come back: they are part of entity tags.
        state = Mutex(State(nextVersion: UInt64.random(in: 0..<(1 << 48)) << 16))
    }

    /// The names of all services, in the order of their paths.
    func names() async throws -> [ServiceName] {
        try await store.serviceNames().sorted { $0.path.lowercased() < $1.path.lowercased() }
    }

    /// The service of a path such as `Folder/Name`, without regard to case; nil when there is none.
    func service(path: String) async throws -> PublishedService? {
        let key = path.lowercased()
        let known = state.withLock { $0.entries[key] }
        if let known, known.readAt.duration(to: .now) < lifetime { return known.service }
        return try await read(key)
    }

    /// Whether the store had no service of a path when it was asked, as long ago as a definition is used without asking. For a path that
    /// means something else then: each tile of a basemap would ask a database whether a service has its name.
    func lacks(_ path: String) -> Bool {
        let found = state.withLock { $0.absent[path.lowercased()] }
        return found.map { $0.duration(to: .now) < lifetime } ?? false
    }

    /// Forgets what was read: the next request asks the store.
    func invalidate() {
        state.withLock { state in
            state.entries.removeAll()
            state.absent.removeAll()
        }
    }

    private func read(_ key: String) async throws -> PublishedService? {
        // The client's text is only compared with names that exist. It never reaches the store.
        guard let name = try await store.serviceNames().first(where: { $0.path.lowercased() == key }) else {
            state.withLock { state in
                state.entries[key] = nil
                // Names that nobody has may be asked for without end.
                if state.absent.count >= Limits.cachedServices { state.absent.removeAll() }
                state.absent[key] = .now
            }
            return nil
        }
        let definition: ServiceDefinition
        do {
            definition = try await store.service(name)
        } catch let error as StoreError where error.code == .serviceNotFound {
            return nil
        }
        let restricted = definition.restricted
        return state.withLock { keep(restricted, for: key, in: &$0) }
    }

    private func keep(_ definition: ServiceDefinition, for key: String, in state: inout State) -> PublishedService {
        var service = PublishedService(definition: definition, version: state.nextVersion)
        if let known = state.entries[key], known.service.definition == definition {
            service.version = known.service.version
        } else {
            state.nextVersion += 1
        }
        if state.entries.count >= Limits.cachedServices { state.entries.removeAll() }
        state.absent[key] = nil
        state.entries[key] = Entry(service: service, readAt: .now)
        return service
    }
}

extension ServiceDefinition {
    /// The layers with the conditions of their definitions, beside those of a view. Administration refuses a condition that can't be
    /// read; where another program wrote one, the layer shows nothing rather than what it should not.
    var restricted: ServiceDefinition {
        var result = self
        for index in result.layers.indices {
            let layer = result.layers[index]
            do {
                guard let own = try layer.definitionCondition() else { continue }
                result.layers[index].restriction = layer.restriction.map { .binary(.and, $0, own) } ?? own
            } catch {
                result.layers[index].restriction = .isNull(.field(layer.objectIDField), negated: false)
            }
        }
        return result
    }
}
