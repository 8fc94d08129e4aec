import Fieldwork
import Foundation

/// The behaviours that a map's author switches on by name, as the member `fieldworkRules` of the web map. They are the
/// seed's custom behaviours without its code for one map.
struct MapRules: Sendable {
    /// A new feature takes values of the feature that its place lies in: a tree its neighbourhood's name.
    struct Fill: Sendable, Hashable {
        let layer: Int
        let source: Int
        /// Fields of the new feature, each with the field that its value comes from.
        let fields: [String: String]
    }

    /// A feature takes values of the newest record that refers to it: a tree the condition of its last inspection. Without a
    /// record they are empty.
    struct Follow: Sendable, Hashable {
        let layer: Int
        let relationship: Int
        let newestBy: String
        /// Fields of the feature, each with the record's field that its value comes from.
        let fields: [String: String]
    }

    private(set) var fills: [Fill] = []
    private(set) var follows: [Follow] = []

    init() {}

    private struct Document: Decodable {
        struct Rule: Decodable {
            let type: String
            let layerId: String?
            let sourceLayerId: String?
            let relationshipId: Int?
            let newestBy: String?
            let fields: [String: String]?
        }

        let fieldworkRules: [Rule]?
    }

    /// Reads the rules of a web map whose layers are loaded. A rule of a kind or a layer that isn't known does nothing: the
    /// map may have been made for a later version.
    init(document: Data, layers: [MapLayer]) {
        guard let rules = try? JSONDecoder().decode(Document.self, from: document).fieldworkRules else { return }
        func known(_ id: String?) -> MapLayer? { layers.first { $0.featureLayer?.id == id && id != nil } }
        for rule in rules {
            guard let layer = known(rule.layerId), let fields = rule.fields, !fields.isEmpty else { continue }
            switch rule.type {
            case "fillFromContainingFeature":
                guard let source = known(rule.sourceLayerId) else { continue }
                fills.append(Fill(layer: layer.id, source: source.id, fields: fields))
            case "followNewestRecord":
                guard let relationship = rule.relationshipId, let newestBy = rule.newestBy else { continue }
                follows.append(
                    Follow(layer: layer.id, relationship: relationship, newestBy: newestBy, fields: fields))
            default: continue
            }
        }
    }
}

extension OpenMap {
    /// Fills a new feature from the features that its place lies in, where it has no value yet.
    /// - Returns: the fields that were filled, with where their values come from. A source that doesn't answer fills nothing:
    ///   the field is left for typing.
    func fill(_ feature: Feature, in layer: MapLayer) async throws -> [String: String] {
        var filled: [String: String] = [:]
        for rule in rules.fills where rule.layer == layer.id {
            guard let source = self.layer(rule.source), let place = feature.geometry else { continue }
            let parameters = QueryParameters()
            parameters.geometry = place
            parameters.spatialRelationship = .intersects
            parameters.maxFeatures = 1
            let container: Feature?
            do {
                container = try await source.table.queryFeatures(using: parameters).features().first { _ in true }
            } catch let error as CancellationError {
                throw error
            } catch {
                continue
            }
            for (target, origin) in rule.fields {
                guard let container, let field = layer.field(named: target), field.isEditable,
                    feature.attributeValue(forKey: field.name) == nil,
                    let from = source.field(named: origin),
                    let value = container.attributeValue(forKey: from.name)
                else { continue }
                feature.setAttributeValue(StoredValue(value).value(for: field.type), forKey: field.name)
                filled[field.name] = "from \(source.name)"
            }
        }
        return filled
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
                try await bring(owner, after: rule, following: entry)
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

    private func bring(_ owner: FoundFeature, after rule: MapRules.Follow, following entry: EditEntry) async throws {
        guard owner.layer.table.canUpdate(owner.feature),
            let children = try await related(to: owner).children(rule.relationship),
            let order = children.layer.field(named: rule.newestBy)
        else { return }
        func moment(_ record: FoundFeature) -> Date {
            record.feature.attributeValue(forKey: order.name) as? Date ?? .distantPast
        }
        let newest = children.records.max { moment($0) < moment($1) }
        let before = FeatureSnapshot(owner.feature)
        let text = FieldText(layer: owner.layer)
        var changes: [String] = []
        for (target, origin) in rule.fields.sorted(by: { $0.key < $1.key }) {
            guard let field = owner.layer.field(named: target), field.isEditable else { continue }
            let source = children.layer.field(named: origin)
            let value = source.flatMap { newest?.feature.attributeValue(forKey: $0.name) }
            let old = owner.feature.attributeValue(forKey: field.name)
            let stored = StoredValue(value)
            guard StoredValue(old) != stored else { continue }
            owner.feature.setAttributeValue(stored.value(for: field.type), forKey: field.name)
            changes.append(
                "\(AttributeForm.label(field)) from \(text.text(old, field: field)) to \(text.text(value, field: field))"
            )
        }
        guard !changes.isEmpty else { return }
        _ = try await update(
            owner, kind: .update, before: before, session: nil, detail: changes.joined(separator: ", "),
            follows: entry.id)
    }
}
