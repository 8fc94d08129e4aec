package import FieldworkGeometry
package import Foundation

/// A query on one layer, already parsed and checked against the layer: fields are spelled as the layer spells them.
package struct FeatureQuery: Sendable, Hashable {
    package var condition: SQLExpression?
    package var objectIDs: [Int64]?
    package var globalIDs: [UUID]?
    package var spatialFilter: SpatialFilter?
    /// Names of the fields to return, in layer order; nil for all.
    package var outFields: [String]?
    package var returnsGeometry: Bool
    package var returnsDistinctValues: Bool
    package var order: [OrderTerm]
    package var offset: Int
    /// The most features to return; nil for all. The store reads one more to know whether the limit cut the answer.
    package var limit: Int?
    package var output: GeometryOutput
    /// Milliseconds since 1970: the features as they were then. nil for now.
    package var moment: Int64?
    /// Of the features that the rest of the query chooses, the first of each group; nil for all.
    package var top: TopFilter?

    /// Whether geometries are read, be it only to tell their centre or their envelope.
    package var readsGeometry: Bool { returnsGeometry || output.returnsCentroid || output.returnsEnvelope }

    package init(
        condition: SQLExpression? = nil, objectIDs: [Int64]? = nil, globalIDs: [UUID]? = nil,
        spatialFilter: SpatialFilter? = nil, outFields: [String]? = nil, returnsGeometry: Bool = true,
        returnsDistinctValues: Bool = false, order: [OrderTerm] = [], offset: Int = 0, limit: Int? = nil,
        output: GeometryOutput = GeometryOutput(), moment: Int64? = nil
    ) {
        self.condition = condition
        self.objectIDs = objectIDs
        self.globalIDs = globalIDs
        self.spatialFilter = spatialFilter
        self.outFields = outFields
        self.returnsGeometry = returnsGeometry
        self.returnsDistinctValues = returnsDistinctValues
        self.order = order
        self.offset = offset
        self.limit = limit
        self.output = output
        self.moment = moment
    }

    /// The first features of each group of features with equal values.
    package struct TopFilter: Sendable, Hashable {
        package var groups: [SQLExpression]
        package var order: [OrderTerm]
        package var count: Int

        package init(groups: [SQLExpression], order: [OrderTerm], count: Int) {
            self.groups = groups
            self.order = order
            self.count = count
        }
    }

    package struct OrderTerm: Sendable, Hashable {
        package var expression: SQLExpression
        package var isDescending: Bool

        package init(expression: SQLExpression, isDescending: Bool = false) {
            self.expression = expression
            self.isDescending = isDescending
        }
    }
}

/// A geometry and how features have to relate to it (G = `geometry`, F = feature).
package struct SpatialFilter: Sendable, Hashable {
    package enum Relation: String, Sendable, Hashable, CaseIterable {
        case intersects = "esriSpatialRelIntersects"
        case contains = "esriSpatialRelContains"
        case within = "esriSpatialRelWithin"
        case crosses = "esriSpatialRelCrosses"
        case touches = "esriSpatialRelTouches"
        case overlaps = "esriSpatialRelOverlaps"
        case envelopeIntersects = "esriSpatialRelEnvelopeIntersects"
        case indexIntersects = "esriSpatialRelIndexIntersects"
        case disjoint = "esriSpatialRelDisjoint"
        case equals = "esriSpatialRelEquals"
        case relation = "esriSpatialRelRelation"

        /// Whether the filter's geometry is cut at each of its crossings to tell the relation, for each feature anew. What is in
        /// a polygon is told by an index of its sides.
        func cuts(_ geometry: Geometry) -> Bool {
            switch self {
            case .intersects, .disjoint, .envelopeIntersects, .indexIntersects: false
            case .contains: !(geometry is Polygon)
            case .within, .crosses, .touches, .overlaps, .equals, .relation: true
            }
        }
    }

    /// In the layer's own spatial reference: the caller has projected and buffered it.
    package var geometry: Geometry
    package var relation: Relation
    /// A DE-9IM pattern, for `relation`.
    package var pattern: String?

    package init(geometry: Geometry, relation: Relation = .intersects, pattern: String? = nil) {
        self.geometry = geometry
        self.relation = relation
        self.pattern = pattern
    }
}

/// How geometries leave: reference, generalisation, precision.
package struct GeometryOutput: Sendable, Hashable {
    /// nil: the layer's own.
    package var spatialReference: SpatialReference?
    /// In units of the output reference; 0 for none.
    package var maxAllowableOffset: Double
    /// Decimals of x and y; nil for all.
    package var precision: Int?
    package var returnsZ: Bool
    package var returnsM: Bool
    /// Adds the centroid of each polygon.
    package var returnsCentroid: Bool
    /// Adds the envelope of each geometry.
    package var returnsEnvelope: Bool
    /// The way between the datums, by its name in the register; nil for the best of the place.
    package var datumTransformation: DatumTransformation?
    package var quantization: Quantization?

    package init(
        spatialReference: SpatialReference? = nil, maxAllowableOffset: Double = 0, precision: Int? = nil,
        returnsZ: Bool = false, returnsM: Bool = false, returnsCentroid: Bool = false, returnsEnvelope: Bool = false,
        datumTransformation: DatumTransformation? = nil, quantization: Quantization? = nil
    ) {
        self.spatialReference = spatialReference
        self.maxAllowableOffset = maxAllowableOffset
        self.precision = precision
        self.returnsZ = returnsZ
        self.returnsM = returnsM
        self.returnsCentroid = returnsCentroid
        self.returnsEnvelope = returnsEnvelope
        self.datumTransformation = datumTransformation
        self.quantization = quantization
    }
}

/// The integer grid of quantized answers.
package struct Quantization: Sendable, Hashable {
    package var isUpperLeftOrigin: Bool
    /// Size of a cell in units of the output reference.
    package var tolerance: Double
    package var originX: Double
    package var originY: Double
    /// View mode drops repeated vertices; edit mode keeps them.
    package var isViewMode: Bool

    package init(
        isUpperLeftOrigin: Bool = true, tolerance: Double, originX: Double, originY: Double, isViewMode: Bool = true
    ) {
        self.isUpperLeftOrigin = isUpperLeftOrigin
        self.tolerance = tolerance
        self.originX = originX
        self.originY = originY
        self.isViewMode = isViewMode
    }
}
