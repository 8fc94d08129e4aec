import FieldworkGeometry
import FieldworkREST
import Foundation

/// A loaded service: the way to it, what it is, and what of it is on this device. Tables and geodatabase share it.
final class ServiceSession: Sendable {
    let service: ServiceDefinition
    let remote: FeatureServiceClient
    let local: LocalStore
    let downloads: any FileDownloading
    let registry = FeatureRegistry()
    /// Sending and undoing exclude each other, also where several sessions share what is on this device.
    private var gate: SerialGate { local.sending }

    init(
        service: ServiceDefinition, remote: FeatureServiceClient, local: LocalStore, downloads: any FileDownloading
    ) {
        self.service = service
        self.remote = remote
        self.local = local
        self.downloads = downloads
    }

    /// Loads a service. When it can't be reached, what was seen of it last stands in, so that unsent edits are at hand.
    static func load(_ root: URL, environment: ServiceEnvironment) async throws -> ServiceSession {
        let remote = FeatureServiceClient(root: root, client: environment.client)
        let folder = environment.folder(for: root)
        let definition: ServiceDefinition
        do {
            definition = try await remote.definition()
        } catch let error as ServiceError {
            guard case .connectionFailed = error, let known = try LocalFile(folder: folder).definition() else {
                throw error
            }
            definition = known
        }
        let local = try await LocalStores.shared.store(in: folder, definition: definition)
        return ServiceSession(
            service: definition, remote: remote, local: local, downloads: environment.downloads)
    }

    /// Whether adds keep the global ids that are made here, so that none can be made twice.
    func keepsGlobalIDs(_ layer: LayerDefinition) -> Bool {
        guard layer.globalIDField != nil else { return false }
        let flag = "supportsApplyEditsWithGlobalIds"
        return (layer.unknownMembers[flag] ?? service.unknownMembers[flag])?.boolValue ?? false
    }

    /// Whether the service refuses requests that a later one of the same device has overtaken.
    var mindsTurns: Bool { service.unknownMembers[EditTurn.ability]?.boolValue ?? false }

    /// Sends edits in their turn. Whether they were done is not known after `ServiceError.unknown`.
    func applyEdits(
        _ edits: JSONValue, usesGlobalIDs: Bool, _ turn: EditTurn, also parameters: [(name: String, value: String)] = []
    ) async throws -> [JSONValue] {
        do {
            return try await remote.applyEdits(
                edits, usesGlobalIDs: usesGlobalIDs, turn: mindsTurns ? turn : nil, also: parameters)
        } catch let passed as PassedTurn {
            throw ServiceError.unknown(details: passed.details)
        }
    }

    func applyEdits(
        in layerIDs: Set<Int>? = nil, watch: SendingWatch? = nil
    ) async throws -> [(layerID: Int, results: [FeatureEditResult])] {
        try await gate.run { [self] in try await EditSender(session: self, watch: watch).send(layerIDs) }
    }

    func undoLocalEdits(of keys: [LocalEdit.Key]) async throws {
        try await gate.run { [self] in
            for key in keys { _ = registry.take(local.resolved(key)) }
            try await local.undo(keys)
        }
    }

    func undoLocalEdits(in layerIDs: Set<Int>? = nil) async throws {
        try await gate.run { [self] in
            try await local.undo(in: layerIDs)
            registry.forget(layerIDs)
        }
    }
}

/// What a service is reached and kept with.
struct ServiceEnvironment: Sendable {
    /// Holds one folder a service.
    var directory: URL
    var client: any ServiceClient
    var downloads: any FileDownloading = HTTPServiceClient()
    /// The folder of the one service that is reached with it; nil for one that the service's address names.
    var folderName: String?
    /// Names the folders of several services; nil for what their addresses name.
    var folderNameOfService: (@Sendable (URL) -> String)?
    /// Names uploads and jobs.
    var makeID: @Sendable () -> UUID = { UUID() }

    /// What lets services know who asks.
    var authentication: AuthenticationManager? {
        (client as? HTTPServiceClient)?.authentication ?? ArcGISEnvironment.authenticationManager
    }

    static var standard: ServiceEnvironment {
        ServiceEnvironment(directory: ArcGISEnvironment.localEditsDirectory, client: HTTPServiceClient())
    }

    /// The folder of a service: its name for people, a hash of its address for uniqueness.
    func folder(for root: URL) -> URL {
        if let folderName = folderName ?? folderNameOfService?(root) {
            return directory.appending(path: folderName, directoryHint: .isDirectory)
        }
        let name = root.deletingLastPathComponent().lastPathComponent.unicodeScalars
            .filter { $0.isASCII && $0.properties.isAlphabetic }.prefix(40)
        var address = root.absoluteString
        while address.hasSuffix("/") { address.removeLast() }
        let hash = address.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let suffix = String(hash, radix: 16)
        return directory.appending(
            path: "\(String(String.UnicodeScalarView(name)))-\(suffix)", directoryHint: .isDirectory)
    }
}

/// One store a folder within the process: two would not know of each other's edits.
actor LocalStores {
    static let shared = LocalStores()

    private struct Entry {
        weak var store: LocalStore?
    }

    private var stores: [URL: Entry] = [:]
    private var opening: [URL: Task<LocalStore, any Error>] = [:]

    func store(in folder: URL, definition: ServiceDefinition) async throws -> LocalStore {
        let key = folder.standardizedFileURL
        if let store = stores[key]?.store {
            guard LocalFile.shape(store.definition) == LocalFile.shape(definition) else {
                throw CommonError.illegalState(
                    details: "The service's tables have changed. Let go of what was loaded of it before.")
            }
            return store
        }
        if let task = opening[key] { return try await task.value }
        let task = Task { try await LocalStore.open(in: folder, definition: definition) }
        opening[key] = task
        defer { opening[key] = nil }
        let store = try await task.value
        stores[key] = Entry(store: store)
        return store
    }
}
