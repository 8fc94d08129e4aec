package import FieldworkREST
package import Foundation
import Synchronization

/// Tells which views there are.
package protocol ViewSource: Sendable {
    /// By the lower-case paths of the views. Asked with every request: it is to answer from memory.
    func views() async throws -> [String: ServiceView]
}

/// A store that has views beside its services, each a service of its own. Whatever is asked of a view is asked of its source with
/// less: this is the one place where what a view hides is taken away, for queries, edits, replicas, tiles and attachments alike.
package final class ViewStore<Base: ServiceStore & ReplicaStore & AttachmentStore>: ServiceStore {
    package let base: Base
    private let views: any ViewSource
    private let known = Mutex<[String: Known]>([:])

    /// What was made of a view, as long as neither it nor its source has changed.
    private struct Known {
        var view: ServiceView
        var source: String
        var base: Base.Service
        var data: ViewData
    }

    package init(_ base: Base, views: any ViewSource) {
        self.base = base
        self.views = views
    }

    private func view(_ name: ServiceName) async throws -> ServiceView? {
        try await views.views()[name.path.lowercased()]
    }

    // MARK: Catalogue

    package func serviceNames() async throws -> [ServiceName] {
        let views = try await views.views()
        let names = try await base.serviceNames()
        let paths = Set(names.map { $0.path.lowercased() })
        // A view without its source is not there.
        let shown = views.values.map { view in (view.name, view.source) }.filter { name, source in
            !paths.contains(name.path.lowercased()) && source.map { paths.contains($0.path.lowercased()) } != false
        }
        return names + shown.map(\.0)
    }

    package func service(_ name: ServiceName) async throws -> ServiceDefinition {
        guard let view = try await view(name) else { return try await base.service(name) }
        guard let source = view.source else { return view.emptyDefinition }
        return view.definition(of: try await base.service(source))
    }

    package func createService(_ definition: ServiceDefinition) async throws {
        guard try await view(definition.name) == nil else {
            throw StoreError(.serviceExists, "There is a view of the name \(definition.name.path).")
        }
        try await base.createService(definition)
    }

    package func updateService(
        _ definition: ServiceDefinition, allowing changes: DefinitionChanges, replacing old: ServiceDefinition?
    ) async throws {
        try await requireService(definition.name)
        try await base.updateService(definition, allowing: changes, replacing: old)
    }

    package func deleteService(_ name: ServiceName) async throws {
        try await requireService(name)
        try await base.deleteService(name)
    }

    private func requireService(_ name: ServiceName) async throws {
        guard try await view(name) == nil else {
            throw StoreError(.invalidDefinition, "\(name.path) is a view: its source has the data.")
        }
    }

    package func close() async throws { try await base.close() }

    // MARK: Data

    package func data(of service: ServiceName) async throws -> ViewData {
        guard let view = try await view(service) else { return ViewData(try await base.data(of: service)) }
        guard let source = view.source else {
            throw StoreError(.layerNotFound, "\(service.path) has no layers yet.")
        }
        let data = try await base.data(of: source)
        let text = data.catalogueSnapshot.source
        let key = service.path.lowercased()
        let known = known.withLock { $0[key] }
        if let known, known.view == view, known.source == text, known.base === data { return known.data }
        let made = try ViewData(data, as: view, floor: try await floor(view, data))
        if Self.isSettled(view) {
            self.known.withLock { all in
                if all.count >= Limits.knownViews { all.removeAll() }
                all[key] = Known(view: view, source: text, base: data, data: made)
            }
        }
        return made
    }

    /// The generation up to which a device may have what the view showed before it was changed. Other processes learn of a change
    /// a moment later.
    private func floor(_ view: ServiceView, _ data: Base.Service) async throws -> Int64 {
        guard view.changed > 0 else { return 0 }
        let settled = Self.settled(view)
        let last = try await data.generation(before: settled)
        if settled < Date.now, try await data.generation() == last {
            // A generation without edits, so that what devices get from now on is told from what they had. Where it can't be written,
            // they get everything again until somebody edits.
            _ = try? await data.writer.edit { try $0.openGeneration(editor: nil, moment: Date.now) }
        }
        return last + 1
    }

    private static func settled(_ view: ServiceView) -> Date {
        Date(timeIntervalSince1970: Double(view.changed) / 1_000 + Double(Limits.viewSettlingSeconds))
    }

    private static func isSettled(_ view: ServiceView) -> Bool { view.changed == 0 || settled(view) < Date.now }

    package func takeOver(
        _ original: ConnectionSource, as name: ServiceName, verifies: Bool,
        progress: @escaping @Sendable (CopyProgress) -> Void
    ) async throws -> [String: TableChecksum] {
        try await base.takeOver(original, as: name, verifies: verifies, progress: progress)
    }
}

extension ViewStore: ReplicaStore {
    package var workFolder: URL { base.workFolder }

    package func write(
        _ request: ChangeRequest, of service: ServiceName, as definition: ServiceDefinition, into file: URL,
        notes: @escaping @Sendable (Int64) -> [(name: String, value: String)]
    ) async throws -> Int64 {
        let data = try await data(of: service)
        return try await data.write(request, of: data.catalogueSnapshot, as: definition, into: file, notes: notes)
    }
}

extension ViewStore: AttachmentStore {}

extension ViewStore: WorkSharingStore where Base: WorkSharingStore {
    package var sharedWork: SharedWork { base.sharedWork }
}

extension FeatureStore where Self: ServiceStore & ReplicaStore & AttachmentStore {
    fileprivate func showing(_ views: any ViewSource) -> any FeatureStore { ViewStore(self, views: views) }
}

extension ViewSource {
    /// A store with these views beside its services.
    package func over(_ store: any FeatureStore) -> any FeatureStore {
        (store as? any ServiceStore & ReplicaStore & AttachmentStore)?.showing(self) ?? store
    }
}
