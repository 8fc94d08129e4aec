import FieldworkArcade
import FieldworkREST

extension AttributeRuleData {
    /// The way that a relationship of a layer leads; nil where it has none of this name.
    func path(_ relationship: String, from layer: ArcadeLayer) -> RelationshipPath? {
        guard let definition = Int(layer.id).flatMap({ catalogue.layers[$0] })?.definition else { return nil }
        return definition.relationships.lazy.filter { $0.name.lowercased() == relationship.lowercased() }
            .compactMap { RelationshipPath($0, of: definition, in: self.catalogue.definition) }.first
    }

    /// A question for the features that a feature is related to, as one for the features of their layer with its key: so that the
    /// database answers it, counts and statistics too. Every other question stays as it is.
    func ofLayer(_ query: ArcadeFeatureQuery) throws -> ArcadeFeatureQuery {
        guard case .related(let related, let name, let feature) = query.base else { return query }
        guard let origin = try feature.layer ?? layerOfFeature(), let path = path(name, from: origin) else {
            throw ArcadeError(.dataAccess, "There is no relationship “\(name)”.")
        }
        var asked = query
        asked.base = .layer(related)
        asked.conditions.append(try condition(path, feature))
        return asked
    }

    private func condition(
        _ path: RelationshipPath, _ feature: ArcadeFeature
    ) throws -> FieldworkArcade.SQLExpression {
        // A feature without a key is related to none; null is equal to nothing in SQL, and has no literal in every place.
        let none = FieldworkArcade.SQLExpression.comparison("=", .literal(.number(1)), .literal(.number(0)))
        guard let key = feature.value(of: path.sourceKey), key != .null else { return none }
        guard let through = path.through else { return .comparison("=", .field(path.relatedKey), .literal(key)) }
        let keys = try linked(through, key)
        return keys.isEmpty ? none : .isIn(.field(path.relatedKey), keys.map { .literal($0) })
    }

    /// The keys of the other side, as the table between both sides has them.
    private func linked(_ through: RelationshipPath.Through, _ key: ArcadeValue) throws -> [ArcadeValue] {
        guard let table = catalogue.layers[through.layerID] else { return [] }
        var query = ArcadeFeatureQuery(base: .layer(ArcadeLayer(table.definition)))
        query.conditions = [.comparison("=", .field(through.sourceKey), .literal(key))]
        query.includesGeometry = false
        let rows = try features(query, offset: 0, count: Limits.ruleRows + 1)
        guard rows.count <= Limits.ruleRows else {
            throw ArcadeError(.limit, "An attribute rule reads at most \(Limits.ruleRows) rows of a layer at once.")
        }
        return rows.compactMap { $0.value(of: through.relatedKey) }.filter { $0 != .null }
    }
}
