/// Finds the place on its street from which a house is reached.
struct RoutePlace {
    let data: LocatorData

    /// The street of a house may be mapped in parts only: farther away than this, a piece of it is another part.
    private static let farthestMetres = 250.0

    /// A result that is no house, or whose street has no line, stays as it is.
    func found(for result: LocatorResult) throws -> LocatorResult {
        guard result.addressID != 0 else { return result }
        var best: LineFoot?
        for piece in try data.pieces(of: HouseBlock.road(ofHouse: result.addressID)) {
            guard let foot = LineFoot(of: result.x, result.y, on: piece.line) else { continue }
            if foot.distance < best?.distance ?? Self.farthestMetres { best = foot }
        }
        guard let best else { return result }
        var result = result
        (result.routeX, result.routeY) = (best.x, best.y)
        return result
    }
}
