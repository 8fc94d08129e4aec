import FieldworkGeometry

extension FeatureQuery {
    /// The features that a request chooses: by condition, ids and geometry. Shared by `query` and `deleteFeatures`.
    package init(filter parameters: RequestParameters, layer: LayerDefinition) throws(ServiceError) {
        self.init()
        if let text = parameters["where"] { condition = try Self.condition(text, layer, parameter: "where") }
        restrict(to: layer)
        objectIDs = try parameters.objectIDs("objectIds")
        globalIDs = try parameters.globalIDs("globalIds")
        spatialFilter = try Self.spatialFilter(parameters, layer)
    }

    /// Leaves out the features that the layer has not got for whoever asks.
    package mutating func restrict(to layer: LayerDefinition) {
        guard let restriction = layer.restriction else { return }
        condition = condition.map { .binary(.and, restriction, $0) } ?? restriction
    }

    static func condition(
        _ text: String, _ layer: LayerDefinition, parameter: String
    ) throws(ServiceError) -> SQLExpression? {
        // What every client sends for "all" needs no parser.
        if text == "1=1" || text == "1 = 1" { return nil }
        let expression: SQLExpression
        do {
            expression = try SQLParser.parse(where: text)
        } catch {
            throw .invalidQuery("'\(parameter)': \(error.description)")
        }
        return try expression.bound(to: layer)
    }

    /// The geometry in the layer's reference. Its own reference is named by `inSR`, by itself, or it is the layer's.
    private static func spatialFilter(
        _ parameters: RequestParameters, _ layer: LayerDefinition
    ) throws(ServiceError) -> SpatialFilter? {
        let inSR = try parameters.inputReference()
        let relation = try relation(parameters)
        guard let geometry = try parameters.geometry("geometry", spatialReference: inSR ?? layer.spatialReference)
        else {
            return nil
        }
        guard let reference = layer.spatialReference else {
            throw .invalidQuery("A table has no geometry to compare with.")
        }
        if let name = parameters["geometryType"] {
            // What the geometry is shows in itself; a kind that does not exist is a mistake.
            let isKnown = LayerGeometryType.allCases.contains { $0.rawValue.lowercased() == name.lowercased() }
            guard isKnown else { throw .invalidQuery("The 'geometryType' '\(name.prefix(64))' is not supported.") }
        }
        let pattern = parameters["relationParam"]
        if relation == .relation {
            let isPattern = pattern?.count == 9 && pattern?.allSatisfy { "012FT*ft".contains($0) } == true
            guard isPattern else { throw .invalidQuery("'relationParam' must be nine of 0, 1, 2, T, F and *.") }
        }
        let count = geometry.vertices.count
        guard count <= Limits.filterVertices else {
            throw ServiceError(
                limit: .tooMuchWork(
                    "The query's geometry has \(count) vertices, and may have \(Limits.filterVertices). Ask with fewer, or in parts."
                ))
        }
        do throws(AllowanceError) {
            try WorkAllowance.current?.charge(count * Limits.filterBytesPerVertex)
        } catch {
            throw ServiceError(limit: error)
        }
        let buffered = try buffered(geometry, parameters)
        let transformation = try parameters.datumTransformation(from: buffered.spatialReference, to: reference)
        let filter: SpatialFilter
        do {
            filter = SpatialFilter(
                geometry: try GeometryEngine.projected(buffered, into: reference, datumTransformation: transformation),
                relation: relation, pattern: pattern)
        } catch {
            throw .invalidQuery("'geometry': \(error.details)")
        }
        do throws(AllowanceError) {
            if relation.cuts(filter.geometry) { try filter.geometry.checkRelationCost() }
        } catch {
            throw ServiceError(limit: error)
        }
        return filter
    }

    private static func relation(_ parameters: RequestParameters) throws(ServiceError) -> SpatialFilter.Relation {
        guard let name = parameters["spatialRel"] else { return .intersects }
        guard let relation = SpatialFilter.Relation(rawValue: name) else {
            throw .invalidQuery("The spatial relation '\(name.prefix(64))' is not supported.")
        }
        return relation
    }

    /// `distance` widens the geometry, over the ellipsoid; without `units` it is in the unit of the geometry's reference,
    /// degrees included.
    private static func buffered(_ geometry: Geometry, _ parameters: RequestParameters) throws(ServiceError) -> Geometry
    {
        guard let distance = try parameters.number("distance"), distance != 0 else { return geometry }
        let metersPerUnit: Double
        switch parameters["units"] {
        case nil:
            if geometry.spatialReference?.isGeographic == true {
                guard abs(distance) <= 360 else { throw .invalidQuery("'distance' is more than 360 degrees.") }
                return try widened { () throws(AllowanceError) in try GeometryEngine.widened(geometry, by: distance) }
            }
            metersPerUnit = geometry.spatialReference?.unitFactor ?? 1
        case "esriSRUnit_Meter": metersPerUnit = 1
        case "esriSRUnit_Kilometer": metersPerUnit = 1_000
        case "esriSRUnit_Foot": metersPerUnit = 0.3048
        case "esriSRUnit_StatuteMile": metersPerUnit = 1_609.344
        case "esriSRUnit_NauticalMile": metersPerUnit = 1_852
        case "esriSRUnit_USNauticalMile": metersPerUnit = 1_853.248
        case let name?: throw .invalidQuery("The unit '\(name.prefix(40))' is not supported.")
        }
        let meters = distance * metersPerUnit
        // Nothing on Earth is further away; such a buffer takes seconds to make and is of no use.
        guard abs(meters) <= Limits.queryDistanceMeters else {
            throw .invalidQuery("'distance' is more than \(Limits.queryDistanceMeters / 1_000) kilometers.")
        }
        return try widened { () throws(AllowanceError) in
            try GeometryEngine.widenedOnEllipsoid(geometry, by: meters)
        }
    }

    private static func widened(_ body: () throws(AllowanceError) -> Polygon?) throws(ServiceError) -> Geometry {
        let polygon: Polygon?
        do throws(AllowanceError) {
            polygon = try body()
        } catch {
            throw ServiceError(limit: error)
        }
        guard let polygon else { throw .invalidQuery("'geometry' can't be widened by 'distance'.") }
        return polygon
    }
}
