import FieldworkREST
import Foundation

extension ArcGISFeature {
    /// Relates two features: sets the key field of the one that refers to the other. The caller still has to hand the
    /// feature with the changed field to its table.
    /// - Parameter relationshipInfo: the relationship as this feature's table sees it; nil when there is only one between
    ///   both tables.
    ///
    /// Throws `GeodatabaseError.invalidArgument` when no or several relationships lead to the other feature's table, and
    /// when the feature that is referred to has no key yet; `CommonError.propertyNotSupported` for a relationship of many
    /// to many, which is made by a row of the table between both.
    public func relate(to feature: ArcGISFeature, using relationshipInfo: RelationshipInfo? = nil) throws {
        let end = try end(to: feature, using: relationshipInfo)
        guard end.info.cardinality != .manyToMany else {
            throw CommonError.propertyNotSupported(
                details: "\(end.info.name) is kept in a table of its own: add a row there.")
        }
        let isReferring = end.info.role == .destination
        let (referring, key) = isReferring ? (self, end.key) : (feature, end.relatedKey)
        let (referred, name) = isReferring ? (feature, end.relatedKey) : (self, end.key)
        guard let value = try referred.relationshipKey(name) else {
            throw GeodatabaseError.invalidArgument(
                details:
                    "The feature of \(referred.table?.displayName ?? "") has no \(name.name) that another could keep.")
        }
        referring.setAttributeValue(value, forKey: key.name)
    }

    /// Ends the relation to a feature: clears the key field of the one that refers to the other, when it refers to it. The
    /// caller still has to hand the feature with the changed field to its table.
    public func unrelate(to feature: ArcGISFeature) {
        let infos = (table as? ArcGISFeatureTable)?.relationshipInfos ?? []
        for info in infos where info.cardinality != .manyToMany {
            guard let end = try? end(to: feature, using: info) else { continue }
            let isReferring = info.role == .destination
            let (referring, key) = isReferring ? (self, end.key) : (feature, end.relatedKey)
            let (referred, name) = isReferring ? (feature, end.relatedKey) : (self, end.key)
            let value = referring.attributeValue(forKey: key.name)
            if value != nil, FormValues.areEqual(value, referred.attributeValue(forKey: name.name)) {
                referring.setAttributeValue(nil, forKey: key.name)
            }
        }
    }

    private func end(to feature: ArcGISFeature, using info: RelationshipInfo?) throws -> RelationshipEnd {
        guard let table = table as? ArcGISFeatureTable, let other = feature.table as? ArcGISFeatureTable,
            let otherID = other.definition?.id
        else { throw GeodatabaseError.invalidArgument(details: "Both features have to be of loaded tables.") }
        if let info {
            guard info.relatedTableID == otherID else {
                throw GeodatabaseError.invalidArgument(
                    details: "The relationship \(info.name) does not lead to \(other.displayName).")
            }
            return try table.end(of: info, to: other)
        }
        let infos = table.relationshipInfos.filter { $0.relatedTableID == otherID }
        guard let only = infos.first, infos.count == 1 else {
            throw GeodatabaseError.invalidArgument(
                details: "Between \(table.displayName) and \(other.displayName) there are \(infos.count) relationships."
            )
        }
        return try table.end(of: only, to: other)
    }

    /// The value that others refer to this feature by. A new feature gets its global id here. Object ids of features that
    /// the service does not have yet are temporary: nobody may keep them.
    private func relationshipKey(_ field: FieldDefinition) throws -> (any Sendable)? {
        if let value = attributeValue(forKey: field.name) {
            return field.type == .oid && (objectID ?? -1) < 0 ? nil : value
        }
        guard field.type == .globalID, origin == nil else { return nil }
        let id = UUID()
        setAttributeValue(id, forKey: field.name)
        return id
    }
}
