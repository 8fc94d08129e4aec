import FieldworkREST
import Foundation
import GRDBSQLite

/// The box and the number of the features of a query.
struct ExtentReader {
    let layer: StoredLayer
    let connection: StoreConnection

    func extent(_ query: FeatureQuery) throws -> (box: GeometryBlob.Box?, count: Int) {
        guard connection.dialect.isSQLite else { return try reckoned(query) }
        if query.asksForAll, let whole = try wholeExtent() { return whole }
        let plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds).geometries(query)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var box = GeometryBlob.Box.nothing
        var count = 0
        while try statement.step() {
            count += 1
            if statement.type(0) == SQLITE_BLOB, let own = GeometryBlob(statement.blob(0))?.box { box.include(own) }
        }
        return (box.isNothing ? nil : box, count)
    }

    /// As PostGIS reckons it, from the geometries themselves.
    private func reckoned(_ query: FeatureQuery) throws -> (box: GeometryBlob.Box?, count: Int) {
        var plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds).geometries(query)
        let sides = ["min(ST_XMin(shape))", "min(ST_YMin(shape))", "max(ST_XMax(shape))", "max(ST_YMax(shape))"]
        let box = layer.geometryColumn == nil ? "NULL" : sides.joined(separator: ", ")
        plan.sql = "SELECT count(*), \(box) FROM (\(plan.sql)) AS chosen (shape)"
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        guard try statement.step() else { return (nil, 0) }
        let count = Int(statement.integer(0))
        guard !statement.isNull(1) else { return (nil, count) }
        let numbers = (1...4).map { statement.double($0) }
        return (GeometryBlob.Box(xMin: numbers[0], yMin: numbers[1], xMax: numbers[2], yMax: numbers[3]), count)
    }

    /// The layer's whole extent without reading the layer. The R-tree's root has it to 32 bits, rounded outwards: features
    /// that reach such a rounded edge lie near the exact one.
    private func wholeExtent() throws -> (box: GeometryBlob.Box?, count: Int)? {
        let plan = try QueryCompiler(layer: layer, connection: connection, now: 0).count(FeatureQuery())
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        let count = try statement.step() ? Int(statement.integer(0)) : 0
        guard let index = SpatialIndex(layer: layer) else { return (nil, count) }
        var rounded = GeometryBlob.Box.nothing
        for cell in try index.rootBoxes(on: connection) { rounded.include(cell) }
        guard !rounded.isNothing else { return (nil, count) }
        guard let xMin = try edge("min(ST_MinX", "minx <= ?", rounded.xMin, index),
            let yMin = try edge("min(ST_MinY", "miny <= ?", rounded.yMin, index),
            let xMax = try edge("max(ST_MaxX", "maxx >= ?", rounded.xMax, index),
            let yMax = try edge("max(ST_MaxY", "maxy >= ?", rounded.yMax, index)
        else { return nil }
        return (GeometryBlob.Box(xMin: xMin, yMin: yMin, xMax: xMax, yMax: yMax), count)
    }

    /// The exact edge, from a rounded one. Some numbers are rounded further than others, so that the feature with the
    /// outermost rounded box may lie inside of another; but none lies outside of the place of that feature unless its
    /// rounded box does: a second look finds it.
    private func edge(_ aggregate: String, _ condition: String, _ rounded: Double, _ index: SpatialIndex) throws
        -> Double?
    {
        guard let near = try place(aggregate, condition, rounded, index) else { return nil }
        return try place(aggregate, condition, near, index)
    }

    /// The outermost place of the features whose rounded boxes reach a value.
    private func place(_ aggregate: String, _ condition: String, _ value: Double, _ index: SpatialIndex) throws
        -> Double?
    {
        let sql = """
            SELECT \(aggregate)(\(quoted(index.column)))) FROM \(quoted(index.table))
            WHERE \(quoted(index.key)) IN (SELECT id FROM \(quoted(index.name)) WHERE \(condition))
            """
        var result: Double?
        try connection.run(
            sql, bind: { try $0.bind(value, at: 1) }, row: { if !$0.isNull(0) { result = $0.double(0) } })
        return result
    }
}
