import Fieldwork
import Foundation
import Synchronization

/// A conflict of one of the map's services, with the layer that it is about.
struct FoundConflict: Sendable {
    let conflict: EditConflict
    let layer: MapLayer
    let source: EditConflicts

    var address: String { "/conflicts/\(layer.id)/\(conflict.id)" }
    var reference: FeatureReference { FeatureReference(layer: layer.id, key: .global(conflict.globalID)) }

    /// What can be chosen one by one: the fields in question, then the place.
    var parts: [String] {
        guard !conflict.lost.isDeleted, !conflict.won.isDeleted else { return [] }
        let fields = Set(conflict.lost.fieldNames).union(conflict.won.fieldNames)
        let known = layer.fields.map(\.name).filter(fields.contains)
        return known + (conflict.lost.hasGeometry ? [FoundConflict.place] : [])
    }

    static let place = "geometry"
}

/// The conflicts of the map's services, each service asked by one object that knows its layers. What a service told last and
/// what was decided without it is in a file, which the service's map and its offline areas share.
final class ConflictSources: Sendable {
    private let known = Mutex<[URL: EditConflicts]>([:])
    private let folder: URL
    private let waiting = Mutex(0)

    init(folder: URL) { self.folder = folder }

    /// How many conflicts of the map waited for a decision when the services were asked last.
    var openCount: Int {
        get { waiting.withLock { $0 } }
        set { waiting.withLock { $0 = newValue } }
    }

    func source(of url: URL) -> EditConflicts {
        known.withLock { known in
            if let source = known[url] { return source }
            let name = StableHash.hex(url.absoluteString)
            let source = EditConflicts(serviceURL: url, keptIn: folder.appending(path: "\(name).json"))
            known[url] = source
            return source
        }
    }
}

extension OpenMap {
    /// The services that the map's layers come from, with the map's layers by the number that the service has for them.
    private var services: [(url: URL, layers: [Int: MapLayer])] {
        var services: [(url: URL, layers: [Int: MapLayer])] = []
        for layer in layers + tables {
            guard let (url, number) = service(of: layer) else { continue }
            if let index = services.firstIndex(where: { $0.url == url }) {
                // A layer that is in the map twice is the same features; the upper one stands for both.
                services[index].layers[number] = layer
            } else {
                services.append((url, [number: layer]))
            }
        }
        return services
    }

    private func service(of layer: MapLayer) -> (url: URL, number: Int)? {
        if let table = layer.table as? GeodatabaseFeatureTable, let url = table.geodatabase?.serviceURL {
            return (url, Int(table.serviceLayerID))
        }
        guard let table = layer.table as? ServiceFeatureTable,
            let geodatabase = table.serviceGeodatabase, let url = geodatabase.serviceInfo?.url ?? geodatabase.url
        else { return nil }
        return (url, table.layerID)
    }

    /// The conflicts of the map's layers, the newest first. Throws when a service can't be asked.
    func conflicts(in state: EditConflict.State? = nil) async throws -> [FoundConflict] {
        var found: [FoundConflict] = []
        for (url, layers) in services {
            let source = conflictSources.source(of: url)
            found += try await source.conflicts(in: state).compactMap { conflict in
                layers[conflict.layerID].map { FoundConflict(conflict: conflict, layer: $0, source: source) }
            }
        }
        if state != .decided { conflictSources.openCount = found.count { $0.conflict.state == .open } }
        return found.sorted { $0.conflict.date > $1.conflict.date }
    }

    /// Notes what rules have settled since the last look. The first look at a service is no news: what was settled before this
    /// device worked there is in the list of conflicts.
    func noteSettledConflicts(in settings: DeviceSettings) async throws {
        let found = Dictionary(grouping: try await conflicts(), by: \.source.serviceURL)
        for (url, _) in services {
            let source = conflictSources.source(of: url)
            let conflicts = found[source.serviceURL]?.map(\.conflict) ?? []
            let own = settings.replicas
            if let known = settings.conflictNotice(of: source.serviceURL),
                conflicts.allSatisfy({ $0.id <= known.newest })
            {
                continue
            }
            settings.changeConflictNotice(of: source.serviceURL) { known in
                var notice = known ?? ConflictNotice()
                notice.take(conflicts, own: known == nil ? [] : own)
                known = notice
            }
        }
    }

    /// What the user wasn't told yet of conflicts that a rule settled.
    func conflictNotice(in settings: DeviceSettings) -> ConflictNotice {
        services.compactMap { settings.conflictNotice(of: conflictSources.source(of: $0.url).serviceURL) }
            .reduce(ConflictNotice(), +)
    }

    /// The user has looked: nothing is news any more.
    func forgetConflictNotice(in settings: DeviceSettings) {
        for (url, _) in services {
            let service = conflictSources.source(of: url).serviceURL
            guard settings.conflictNotice(of: service)?.text != nil else { continue }
            settings.changeConflictNotice(of: service) { $0 = ConflictNotice(newest: $0?.newest ?? 0) }
        }
    }

    /// Those that wait to be decided; nil without an answer.
    func openConflicts() async throws -> [FoundConflict]? {
        do {
            return try await conflicts(in: .open)
        } catch let error as CancellationError {
            throw error
        } catch {
            return nil
        }
    }

    func conflict(_ id: Int64, in layer: MapLayer) async throws -> FoundConflict {
        guard let (url, _) = service(of: layer) else {
            throw CollectError(.notFound, "\(layer.name) has no conflicts.")
        }
        let source = conflictSources.source(of: url)
        let conflict = try await source.conflict(withID: id)
        guard let own = services.first(where: { $0.url == url })?.layers[conflict.layerID] else {
            throw CollectError(.notFound, "This conflict is about a layer that the map doesn't have.")
        }
        return FoundConflict(conflict: conflict, layer: own, source: source)
    }

    /// What became of a settling.
    enum Settlement: Sendable {
        /// The service did it, or does it when it is reached.
        case kept
        /// The chosen values are an edit of this device, which goes the way of any other.
        case edited(EditEntry)
    }

    /// Settles a conflict: as it stands, as it lost, or with some values of each. Without a connection the decision is kept
    /// on this device and sent later.
    /// - Parameter chosen: the parts whose lost value is to stand; all of them for a conflict about a delete.
    func settle(_ found: FoundConflict, lost chosen: Set<String>, session: String?) async throws -> Settlement {
        let parts = Set(found.parts)
        if parts.isEmpty ? chosen.isEmpty : chosen.isDisjoint(with: parts) {
            try await close(found)
            return .kept
        }
        if chosen.isSuperset(of: parts) {
            do {
                try await found.source.restore(found.conflict)
                forget(found.reference)
                return .kept
            } catch ServiceError.connectionFailed where parts.isEmpty {
                try found.source.decideLater(found.conflict, restoring: true)
                return .kept
            } catch ServiceError.connectionFailed {
                // The values are an edit of this device then: they are seen here at once.
            }
        }
        let entry = try await edit(found, lost: chosen, session: session)
        // The values are safe before the conflict is no longer open.
        try await close(found)
        return .edited(entry)
    }

    private func close(_ found: FoundConflict) async throws {
        do {
            try await found.source.close(found.conflict)
        } catch ServiceError.connectionFailed {
            try found.source.decideLater(found.conflict, restoring: false)
        }
    }

    /// Gives the feature the values that had lost.
    private func edit(_ found: FoundConflict, lost chosen: Set<String>, session: String?) async throws -> EditEntry {
        let feature = try await find(found.reference)
        let before = FeatureSnapshot(feature.feature)
        var words: [String] = []
        for name in found.parts where chosen.contains(name) {
            if name == FoundConflict.place {
                feature.feature.geometry = found.conflict.lost.geometry
                words.append("Place")
            } else {
                feature.feature.setAttributeValue(found.conflict.lost.attributes[name], forKey: name)
                words.append(found.layer.field(named: name).map(AttributeForm.label) ?? name)
            }
        }
        return try await update(
            feature, kind: .update, before: before, session: session,
            detail: "Conflict settled: \(words.joined(separator: ", "))")
    }
}
