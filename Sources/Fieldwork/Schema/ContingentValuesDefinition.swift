import FieldworkREST

/// The field groups of a table. Load it before contingent values are asked for.
public final class ContingentValuesDefinition: Loadable, @unchecked Sendable {
    // What changes is behind a lock or in `Streamed`, which locks for itself.
    struct Content: Sendable {
        var groups: [FieldGroupDefinition]
        var layer: LayerDefinition
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    private let loading: LoadOnce
    private let read: @Sendable () async throws -> Content
    @Streamed private(set) var content: Content?

    init(_ read: @escaping @Sendable () async throws -> Content) {
        self.read = read
        loading = LoadOnce(status: _loadStatus)
    }

    /// The groups; empty before they are loaded.
    public var fieldGroups: [FieldGroup] {
        guard let content else { return [] }
        return content.groups.map { FieldGroup($0, layer: content.layer) }
    }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }
    /// Reads the groups.
    public func load() async throws { try await load(retries: false) }
    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }
    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in content = try await read() }
    }
}
