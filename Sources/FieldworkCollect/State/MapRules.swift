import Fieldwork
import Foundation

/// The behaviours that a map's author switches on by name, as the SDK reads them from the web map and keeps them: here
/// stands only which of them concern which layer, so that the journal can tell what followed from an edit.
struct MapRules: Sendable {
    /// A feature has values of the newest record that refers to it: a tree the condition of its last inspection.
    struct Follow: Sendable, Hashable {
        let layer: Int
        let relationship: Int
    }

    /// The names of the layers that a layer's new features take values from.
    private(set) var sources: [Int: [String]] = [:]
    private(set) var follows: [Follow] = []
    /// The fields that take the address of a new feature's place, by layer.
    private(set) var addresses: [Int: (field: String, locator: URL?)] = [:]

    init() {}

    /// - Parameter rules: those of the web map whose layers are loaded.
    init(_ rules: [MapRule], layers: [MapLayer]) {
        func known(_ id: String) -> MapLayer? { layers.first { $0.featureLayer?.id == id } }
        for rule in rules {
            switch rule {
            case .fillFromContainingFeature(let layerID, let sourceLayerID, _):
                guard let layer = known(layerID), let source = known(sourceLayerID) else { continue }
                sources[layer.id, default: []].append(source.name)
            case .followNewestRecord(let layerID, let relationshipID, _, _):
                guard let layer = known(layerID) else { continue }
                follows.append(Follow(layer: layer.id, relationship: relationshipID))
            case .fillAddress(let layerID, let field, let locator):
                guard let layer = known(layerID), let field = layer.field(named: field), field.isEditable else {
                    continue
                }
                addresses[layer.id] = (field.name, locator)
            }
        }
    }
}

extension OpenMap {
    /// Fills a new feature from the features that its place lies in, where it has no value yet.
    /// - Returns: the fields that were filled, with where their values come from. A source that doesn't answer fills nothing:
    ///   the field is left for typing.
    func fill(_ feature: Feature, in layer: MapLayer) async throws -> [String: String] {
        guard let sources = rules.sources[layer.id] else { return [:] }
        let filled: [String]
        do {
            filled = try await feature.applyCreationRules()
        } catch let error as CancellationError {
            throw error
        } catch {
            return [:]
        }
        let origin = "from \(sources.joined(separator: ", "))"
        return Dictionary(
            filled.map { (layer.field(named: $0)?.name ?? $0, origin) }, uniquingKeysWith: { first, _ in first })
    }

    /// Lets the features that an edited record refers to, or referred to before, follow the newest of their records. The
    /// caller lets one edit through at a time.
    func follow(_ entry: EditEntry) async throws {
        guard let layer = layer(entry.feature.layer) else { return }
        for rule in rules.follows {
            guard let owners = self.layer(rule.layer), owners.id != layer.id else { continue }
            var seen: Set<FeatureReference> = []
            for snapshot in [entry.before, entry.after].compactMap({ $0 }) {
                guard let owner = try await owner(of: snapshot, in: layer, rule: rule, owners: owners),
                    seen.insert(owner.reference).inserted
                else { continue }
                try await bring(owner, following: entry)
            }
        }
    }

    private func owner(
        of snapshot: FeatureSnapshot, in layer: MapLayer, rule: MapRules.Follow, owners: MapLayer
    ) async throws -> FoundFeature? {
        var attributes: [String: any Sendable] = [:]
        for (name, value) in snapshot.attributes {
            attributes[name] = value.value(for: layer.field(named: name)?.type)
        }
        // A stand-in for the record as it was then: it may be gone by now.
        let record = layer.table.makeFeature(attributes: attributes)
        let parents = try await parents(of: record, in: layer)
        return parents.first { $0.info.id == rule.relationship && $0.layer.id == owners.id }?.record
    }

    /// The SDK saves what follows; here it goes into the journal, to be taken back with the edit that it follows from.
    private func bring(_ owner: FoundFeature, following entry: EditEntry) async throws {
        guard let feature = owner.feature as? ArcGISFeature else { return }
        let before = FeatureSnapshot(feature)
        guard try await feature.followNewestRecords() else { return }
        let now = FeatureSnapshot(feature)
        let text = FieldText(layer: owner.layer)
        let changes = owner.layer.fields.compactMap { field -> String? in
            let (old, new) = (before.attributes[field.name] ?? .null, now.attributes[field.name] ?? .null)
            guard field.isEditable, old != new else { return nil }
            let from = text.text(old.value(for: field.type), field: field)
            return
                "\(AttributeForm.label(field)) from \(from) to \(text.text(new.value(for: field.type), field: field))"
        }
        remember(feature, as: owner.reference)
        _ = try record(
            .update, feature, layer: owner.layer, reference: owner.reference, session: nil, before: before,
            detail: changes.joined(separator: ", "), follows: entry.id)
    }
}
