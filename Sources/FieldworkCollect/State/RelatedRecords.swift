import Fieldwork
import Foundation

/// The records that a feature refers to and those that refer to it, as far as the map shows their tables.
struct RelatedRecords: Sendable {
    /// A record that the feature refers to.
    struct Parent: Sendable {
        let info: RelationshipInfo
        /// The table's name: that of a relationship is often for machines.
        let name: String
        let layer: MapLayer
        /// nil where none is chosen.
        let record: FoundFeature?
    }

    /// The records that refer to the feature.
    struct Children: Sendable {
        let info: RelationshipInfo
        let name: String
        let layer: MapLayer
        let records: [FoundFeature]

        var canAdd: Bool { layer.isAddable }
    }

    var parents: [Parent] = []
    var children: [Children] = []

    func children(_ id: Int) -> Children? { children.first { $0.info.id == id } }
    func parent(_ id: Int) -> Parent? { parents.first { $0.info.id == id } }

    /// The whole that the feature is a part of, or the only one that it refers to.
    var owner: Parent? { parents.first { $0.info.isComposite && $0.record != nil } }
}

extension OpenMap {
    func layer(of table: FeatureTable) -> MapLayer? { (layers + tables).first { $0.table === table } }

    /// Fetches the related records of a feature. Throws when their service doesn't answer.
    func related(to found: FoundFeature) async throws -> RelatedRecords {
        let popup = Popup(geoElement: found.feature, definition: found.layer.popup)
        guard let relationships = PopupManager(popup: popup).relationships else { return RelatedRecords() }
        try await relationships.load()
        var related = RelatedRecords()
        for relationship in relationships.manyToOne {
            guard let layer = layer(of: relationship.table), layer.hasPopups else { continue }
            let record = relationship.relatedPopup.flatMap { self.row($0, in: layer) }
            related.parents.append(
                .init(
                    info: relationship.relationshipInfo, name: layer.name, layer: layer, record: record))
        }
        for relationship in relationships.oneToMany {
            guard let layer = layer(of: relationship.table), layer.hasPopups else { continue }
            related.children.append(
                .init(
                    info: relationship.relationshipInfo, name: layer.name, layer: layer,
                    records: newestFirst(relationship.relatedPopups.compactMap { row($0, in: layer) }, of: found)))
        }
        return related
    }

    private func row(_ popup: Popup, in layer: MapLayer) -> FoundFeature? {
        guard let feature = popup.geoElement as? Feature, let reference = layer.reference(of: feature) else {
            return nil
        }
        remember(feature, as: reference)
        return found(feature, layer: layer, reference: reference, from: nil)
    }

    /// The author's order where there is one; else the newest first by the first field that holds a moment.
    private func newestFirst(_ records: [FoundFeature], of found: FoundFeature) -> [FoundFeature] {
        guard let layer = records.first?.layer,
            !Self.hasOrder(found.layer.popup, relatedLayer: layer.id, of: found.layer),
            let field = (layer.listedFields + layer.fields).first(where: { $0.type == .date })
        else { return records }
        func moment(_ record: FoundFeature) -> Date {
            record.feature.attributeValue(forKey: field.name) as? Date ?? .distantPast
        }
        return records.sorted { moment($0) > moment($1) }
    }

    private static func hasOrder(_ popup: PopupDefinition?, relatedLayer: Int, of layer: MapLayer) -> Bool {
        let elements = popup?.elements.compactMap { $0 as? RelationshipPopupElement } ?? []
        let infos = layer.table.layerInfo?.relationshipInfos ?? []
        return elements.contains { element in
            !element.orderByFields.isEmpty
                && infos.contains { $0.id == element.relationshipID && $0.relatedTableID == relatedLayer }
        }
    }
}

extension OpenMap {
    /// The related records; nil when their service doesn't answer, so that the feature's own values are shown all the same.
    func relatedIfAnswered(_ found: FoundFeature) async throws -> RelatedRecords? {
        do {
            return try await related(to: found)
        } catch let error as CancellationError {
            throw error
        } catch {
            return nil
        }
    }

    /// The author's pop-up with its values; nil where nobody has made one.
    func evaluatedPopup(of found: FoundFeature) async throws -> Popup? {
        guard let definition = found.layer.popup else { return nil }
        let popup = Popup(geoElement: found.feature, definition: definition)
        do {
            try await popup.evaluateExpressions()
        } catch let error as CancellationError {
            throw error
        } catch {
            // A pop-up whose related values don't load is shown as the values that are here.
            return nil
        }
        return popup
    }
}

extension OpenMap {
    /// What a new feature can refer to. None of it is chosen, unless its template says so.
    func parents(of feature: Feature, in layer: MapLayer) async throws -> [RelatedRecords.Parent] {
        let reference = FeatureReference(layer: layer.id, key: .object(-1))
        let found = FoundFeature(layer: layer, feature: feature, reference: reference, place: nil)
        let infos = layer.table.layerInfo?.relationshipInfos ?? []
        guard infos.contains(where: { $0.role == .destination }) else { return [] }
        return try await relatedIfAnswered(found)?.parents ?? []
    }
}
