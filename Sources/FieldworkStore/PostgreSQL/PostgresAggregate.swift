import FieldworkREST

/// What the geometries of a group make together, in PostGIS's words.
enum PostgresAggregate {
    static func sql(_ kind: StatisticsQuery.GeometryKind, of column: String) -> String {
        switch kind {
        case .envelope:
            // The two corners: an envelope of no size would be no polygon.
            """
            ST_Collect(ST_MakePoint(min(ST_XMin(\(column))), min(ST_YMin(\(column)))), \
            ST_MakePoint(max(ST_XMax(\(column))), max(ST_YMax(\(column)))))
            """
        case .centroid: "ST_Centroid(ST_Collect(\(column)))"
        case .convexHull: "ST_ConvexHull(ST_Collect(\(column)))"
        }
    }
}
