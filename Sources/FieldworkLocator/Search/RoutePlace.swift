import FieldworkStore

/// Finds the place on its street from which a house is reached.
struct RoutePlace {
    let data: LocatorData

    /// The street of a house may be mapped in parts only: farther away than this, a piece of it is another part.
    private static let farthestMetres = 250.0

    /// A result that is no house, or whose street has no line, stays as it is.
    func found(for result: LocatorResult) throws -> LocatorResult {
        guard result.addressID != 0 else { return result }
        var best: LineFoot?
        try data.connection.run(
            "SELECT geom FROM gc_street WHERE road_id = (SELECT road_id FROM gc_address WHERE id = ?)"
        ) {
            try $0.bind(result.addressID, at: 1)
        } row: { row in
            let line = GeometryBytes.readLine(row.blob(0))
            guard let foot = LineFoot(of: result.x, result.y, on: line) else { return }
            if foot.distance < best?.distance ?? Self.farthestMetres { best = foot }
        }
        guard let best else { return result }
        var result = result
        (result.routeX, result.routeY) = (best.x, best.y)
        return result
    }
}
