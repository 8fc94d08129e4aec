/// The way from the features of one layer over a relationship to those of another: which column is compared with which.
package struct RelationshipPath: Sendable, Hashable {
    /// The table between both sides of a many-to-many relationship.
    package struct Through: Sendable, Hashable {
        package var layerID: Int
        package var sourceKey: String
        package var relatedKey: String
    }

    package var relationshipID: Int
    package var sourceLayerID: Int
    package var relatedLayerID: Int
    /// The key on the side where the way begins.
    package var sourceKey: String
    package var relatedKey: String
    package var through: Through?

    /// The way over one end of a relationship; nil when the service's definition doesn't tell the other end: its key is
    /// known there only.
    package init?(_ end: RelationshipDefinition, of source: LayerDefinition, in service: ServiceDefinition) {
        guard let related = service.layer(id: end.relatedTableID),
            let other = related.relationships.first(where: { $0.id == end.id && $0.role != end.role }),
            let sourceKey = source.field(named: end.keyField)?.name,
            let relatedKey = related.field(named: other.keyField)?.name
        else { return nil }
        relationshipID = end.id
        sourceLayerID = source.id
        relatedLayerID = related.id
        self.sourceKey = sourceKey
        self.relatedKey = relatedKey
        guard let tableID = end.relationshipTableID else {
            // Without a table between them, many can't be related to many.
            if end.cardinality == .manyToMany { return nil }
            return
        }
        guard let table = service.layer(id: tableID),
            let near = end.keyFieldInRelationshipTable.flatMap(table.field(named:)),
            let far = other.keyFieldInRelationshipTable.flatMap(table.field(named:))
        else { return nil }
        through = Through(layerID: tableID, sourceKey: near.name, relatedKey: far.name)
    }
}
