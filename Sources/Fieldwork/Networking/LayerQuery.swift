import FieldworkGeometry
import FieldworkREST

/// A query of one layer as the client puts it, and its parameters on the wire.
struct LayerQuery: Sendable {
    /// The condition as its author wrote it; empty for none.
    var condition = ""
    var objectIDs: [Int64] = []
    var geometry: Geometry?
    var relationship = SpatialRelationship.intersects
    /// nil for all times.
    var time: TimeExtent?
    var order: [(field: String, isDescending: Bool)] = []
    var offset = 0
    /// nil for no limit.
    var limit: Int?
    /// nil for all.
    var outFields: [String]?
    var returnsGeometry = true
    var outSpatialReference: SpatialReference?
    var maxAllowableOffset = 0.0
    /// Whether coordinates must come as the service keeps them.
    var isExact = false

    init() {}

    init(_ parameters: QueryParameters.Values, layer: LayerDefinition, outFields: [String]? = nil) {
        condition = parameters.whereClause
        objectIDs = parameters.objectIDs
        geometry = parameters.geometry
        relationship = parameters.spatialRelationship
        time = parameters.timeExtent
        order = parameters.orderByFields.map {
            (layer.field(named: $0.fieldName)?.name ?? $0.fieldName, $0.sortOrder == .descending)
        }
        offset = parameters.resultOffset
        limit = parameters.maxFeatures == 0 ? nil : parameters.maxFeatures
        self.outFields = outFields
        returnsGeometry = parameters.returnsGeometry && !layer.isTable
        outSpatialReference = parameters.outSpatialReference
        maxAllowableOffset = parameters.maxAllowableOffset
    }

    /// Which features are meant; shared by queries, counts and extents.
    var filterParameters: [(name: String, value: String)] {
        var result = [(name: "where", value: condition.isEmpty ? "1=1" : condition)]
        if !objectIDs.isEmpty {
            result.append(("objectIds", objectIDs.map(String.init).joined(separator: ",")))
        }
        if let geometry, let type = LayerGeometryType(geometry) {
            result.append(("geometry", GeoServicesJSON.json(for: geometry).text))
            result.append(("geometryType", type.rawValue))
            result.append(("spatialRel", relationship.filterRelation.rawValue))
            if let reference = geometry.spatialReference { result.append(("inSR", Self.text(reference))) }
        }
        if let time = time?.parameter { result.append(("time", time)) }
        return result
    }

    /// One page of features. An order that ends in the object id has no two equal rows, so pages neither overlap nor miss.
    func pageParameters(_ layer: LayerDefinition, offset: Int, count: Int?) -> [(name: String, value: String)] {
        var result = filterParameters
        result.append(("outFields", outFields?.joined(separator: ",") ?? "*"))
        result.append(("returnGeometry", String(returnsGeometry)))
        var keys = order.map { "\($0.field)\($0.isDescending ? " DESC" : " ASC")" }
        if !order.contains(where: { $0.field == layer.objectIDField }) { keys.append("\(layer.objectIDField) ASC") }
        result.append(("orderByFields", keys.joined(separator: ",")))
        if offset > 0 { result.append(("resultOffset", String(offset))) }
        if let count { result.append(("resultRecordCount", String(count))) }
        if returnsGeometry {
            if let reference = outSpatialReference { result.append(("outSR", Self.text(reference))) }
            if layer.hasZ { result.append(("returnZ", "true")) }
            if layer.hasM { result.append(("returnM", "true")) }
            if maxAllowableOffset > 0 { result.append(("maxAllowableOffset", String(maxAllowableOffset))) }
        }
        return result
    }

    private static func text(_ reference: SpatialReference) -> String { GeoServicesJSON.json(for: reference).text }
}

extension SpatialRelationship {
    var filterRelation: SpatialFilter.Relation {
        switch self {
        case .contains: .contains
        case .crosses: .crosses
        case .disjoint: .disjoint
        case .envelopeIntersects: .envelopeIntersects
        case .equals: .equals
        case .indexIntersects: .indexIntersects
        case .intersects, .unknown: .intersects
        case .overlaps: .overlaps
        case .relate: .relation
        case .touches: .touches
        case .within: .within
        }
    }
}
