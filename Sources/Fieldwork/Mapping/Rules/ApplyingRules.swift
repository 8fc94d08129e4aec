import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// A new feature takes values from the feature of another table in which it lies.
struct ContainingFeatureRule: Sendable {
    /// The table of areas. Areas don't refer back, so nobody holds each other.
    let source: FeatureTable
    let fields: [String: String]
}

/// A feature has the values of the newest of the records that refer to it.
struct NewestRecordRule: Sendable {
    let relationshipID: Int
    let newestBy: String
    let fields: [String: String]
}

extension Feature {
    /// Fills fields of a new feature by its place, as the rules of its map say. Values that it has already stay. The
    /// caller still has to hand the feature to its table. Not part of the vendor's API.
    /// - Returns: the names of the fields that were filled.
    @discardableResult
    public func applyCreationRules() async throws -> [String] {
        guard let table, let geometry else { return [] }
        var filled: [String] = []
        for rule in table.state.withLock({ $0.creationRules }) {
            let wanted = rule.fields.filter { target, _ in
                guard let field = table.field(named: target), field.isEditable else { return false }
                let value = attributeValue(forKey: field.name)
                return value == nil || (value as? String)?.isEmpty == true
            }
            guard !wanted.isEmpty, let area = try await rule.source.firstFeature(at: geometry) else { continue }
            for (target, source) in wanted.sorted(by: { $0.key < $1.key }) {
                guard let value = area.attributeValue(forKey: source) else { continue }
                setAttributeValue(value, forKey: target)
                filled.append(target)
            }
        }
        return filled
    }
}

extension FeatureTable {
    /// The feature of the table that a geometry touches; of several the one that was there first.
    fileprivate func firstFeature(at geometry: Geometry) async throws -> Feature? {
        try await load()
        let parameters = QueryParameters()
        parameters.geometry = geometry
        parameters.spatialRelationship = .intersects
        parameters.maxFeatures = 1
        if let id = definition?.objectIDField {
            parameters.addOrderByField(OrderBy(fieldName: id, sortOrder: .ascending))
        }
        return try await queryFeatures(using: parameters).features().first { _ in true }
    }
}

extension ArcGISFeature {
    /// Takes over the values of the newest of the records that refer to the feature, as the rules of its map say, and
    /// saves them on this device. To be called after such a record was added, changed or deleted; `PopupManager` does it by
    /// itself. Not part of the vendor's API.
    /// - Returns: whether a value changed.
    @discardableResult
    public func followNewestRecords() async throws -> Bool {
        guard let table = table as? ArcGISFeatureTable else { return false }
        let rules = table.state.withLock { $0.recordRules }
        guard !rules.isEmpty, table.canUpdate(self) else { return false }
        var hasChanged = false
        for rule in rules {
            guard let info = table.relationshipInfos.first(where: { $0.id == rule.relationshipID }) else { continue }
            let newest = try await newestRecord(by: rule.newestBy, in: info)
            for (target, source) in rule.fields {
                guard table.field(named: target)?.isEditable == true else { continue }
                let value = newest?.attributeValue(forKey: source)
                guard !FormValues.areEqual(value, attributeValue(forKey: target)) else { continue }
                setAttributeValue(value, forKey: target)
                hasChanged = true
            }
        }
        if hasChanged { try await table.update(self) }
        return hasChanged
    }

    /// Of several equally new ones the one that was added last.
    private func newestRecord(by key: String, in info: RelationshipInfo) async throws -> Feature? {
        guard let table = table as? ArcGISFeatureTable else { return nil }
        let parameters = RelatedQueryParameters(relationshipInfo: info)
        let records = try await table.queryRelatedFeatures(to: self, using: parameters).flatMap { Array($0.features()) }
        func moment(_ record: Feature) -> Double {
            RendererFields.number(record.attributeValue(forKey: key)) ?? -.infinity
        }
        // Records that the service has come first, in the order of their ids; then those of this device.
        return records.enumerated().max { one, other in
            (moment(one.element), one.offset) < (moment(other.element), other.offset)
        }?.element
    }
}
