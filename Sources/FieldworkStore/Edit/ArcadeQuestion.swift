import FieldworkArcade
import FieldworkGeometry
import FieldworkREST

extension FeatureQuery {
    /// What a script asks of a layer, as a query of the database; nil where the database can't answer all of it.
    init?(_ query: ArcadeFeatureQuery, of layer: LayerDefinition) {
        guard case .layer = query.base, query.grouping == nil, query.places.count <= 1 else { return nil }
        self.init(returnsGeometry: query.includesGeometry && !layer.isTable)
        if let text = query.condition?.text {
            guard let condition = try? FieldworkREST.SQLParser.parse(where: text) else { return nil }
            self.condition = condition
        }
        if let place = query.places.first {
            guard let filter = SpatialFilter(place, in: layer) else { return nil }
            spatialFilter = filter
        }
        for term in query.order {
            guard let value = try? FieldworkREST.SQLParser.parse(expression: term.expression.text) else { return nil }
            order.append(FeatureQuery.OrderTerm(expression: value, isDescending: term.isDescending))
        }
    }
}

extension SpatialFilter {
    /// nil where it can't be told in the layer's own reference.
    fileprivate init?(_ place: ArcadePlace, in layer: LayerDefinition) {
        guard !layer.isTable, !place.geometry.isEmpty else { return nil }
        var geometry = place.relation == .envelopeIntersects ? place.geometry.extent : place.geometry
        if let reference = layer.spatialReference, let own = geometry.spatialReference, own != reference {
            guard let projected = GeometryEngine.project(geometry, into: reference), !projected.isEmpty else {
                return nil
            }
            geometry = projected
        }
        // The protocol names the relation of the given geometry to the feature.
        let relation: Relation =
            switch place.relation {
            case .intersects: .intersects
            case .envelopeIntersects: .envelopeIntersects
            case .within: .contains
            case .contains: .within
            case .crosses: .crosses
            case .overlaps: .overlaps
            case .touches: .touches
            }
        self.init(geometry: geometry, relation: relation)
    }
}
