import FieldworkREST

/// What relationships of a definition must be to be kept true. A layer may tell an end whose other side is in no layer of
/// the service, as in a part of a service: such an end is shown and not followed.
struct RelationshipDefinitionRules {
    let service: ServiceDefinition

    func check() throws {
        for layer in service.layers {
            var seen: Set<[String]> = []
            for end in layer.relationships {
                guard seen.insert(["\(end.id)", end.role.rawValue]).inserted else {
                    throw invalid(layer, end, "is there twice with the same role.")
                }
                guard layer.field(named: end.keyField) != nil else {
                    throw invalid(layer, end, "has the key field \(end.keyField), which the layer does not have.")
                }
                if end.isComposite, end.cardinality == .manyToMany {
                    throw invalid(layer, end, "can't be composite and many-to-many: a part belongs to one whole.")
                }
                try checkOtherEnd(of: end, in: layer)
                try checkTable(of: end, in: layer)
            }
        }
    }

    private func checkOtherEnd(of end: RelationshipDefinition, in layer: LayerDefinition) throws {
        let others = service.layer(id: end.relatedTableID)?.relationships.filter { $0.id == end.id } ?? []
        guard let other = others.first(where: { $0.role != end.role }) else {
            guard others.isEmpty || end.relatedTableID == layer.id else {
                throw invalid(layer, end, "has the same role on both sides.")
            }
            return
        }
        guard other.relatedTableID == layer.id, other.cardinality == end.cardinality,
            other.isComposite == end.isComposite, other.relationshipTableID == end.relationshipTableID
        else { throw invalid(layer, end, "is told otherwise by its other side, \(end.relatedTableID).") }
    }

    private func checkTable(of end: RelationshipDefinition, in layer: LayerDefinition) throws {
        guard let tableID = end.relationshipTableID, let table = service.layer(id: tableID) else { return }
        guard let key = end.keyFieldInRelationshipTable, table.field(named: key) != nil else {
            throw invalid(layer, end, "needs the field of \(table.name) that holds its key.")
        }
    }

    private func invalid(_ layer: LayerDefinition, _ end: RelationshipDefinition, _ what: String) -> StoreError {
        StoreError(.invalidDefinition, "Layer \(layer.id): relationship \(end.id) \(what)")
    }
}
