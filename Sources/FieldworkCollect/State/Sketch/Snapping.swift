import Fieldwork

/// Finds what a vertex is to lie on: a corner or an edge of another feature, or a corner of the own sketch.
struct Snapping: Sendable {
    struct Hit: Sendable, Hashable {
        /// In the map's plane.
        let x: Double
        let y: Double
        /// "Snapped to the edge of Overlook Park"
        let says: String
    }

    let map: OpenMap
    let hidden: Set<Int>
    /// In metres of the map's plane.
    let tolerance: Double

    /// The nearest corner, else the nearest edge; nil where nothing is near.
    func hit(_ place: Place, sketch: Geometry, except own: FeatureReference?, moving: Point?) async throws -> Hit? {
        guard tolerance > 0 else { return nil }
        let point = Point(x: place.x, y: place.y, spatialReference: .webMercator)
        var best: (rank: Int, distance: Double, hit: Hit)?
        func offer(_ rank: Int, _ found: ProximityResult?, _ says: @autoclosure () -> String) {
            guard let found, found.distance <= tolerance else { return }
            if let best, (best.rank, best.distance) <= (rank, found.distance) { return }
            best = (rank, found.distance, Hit(x: found.coordinate.x, y: found.coordinate.y, says: says()))
        }
        if let plane = GeometryEngine.project(sketch, into: .webMercator), !plane.isEmpty {
            let found = GeometryEngine.nearestVertex(in: plane, to: point)
            // A vertex doesn't snap to where it was itself.
            if let found, !(moving.map { Self.isSame($0, found.coordinate) } ?? false) {
                offer(0, found, "Snapped to this shape")
            }
        }
        for found in try await near(place, except: own) {
            guard let plane = found.feature.geometry.flatMap({ GeometryEngine.project($0, into: .webMercator) }) else {
                continue
            }
            let name = FeatureTitle(layer: found.layer, feature: found.feature).title
            if plane is Point {
                offer(0, GeometryEngine.nearestVertex(in: plane, to: point), "Snapped to \(name)")
                continue
            }
            offer(0, GeometryEngine.nearestVertex(in: plane, to: point), "Snapped to a corner of \(name)")
            offer(1, GeometryEngine.nearestCoordinate(in: plane, to: point), "Snapped to the edge of \(name)")
        }
        return best?.hit
    }

    private static func isSame(_ one: Point, _ other: Point) -> Bool {
        abs(one.x - other.x) < 0.001 && abs(one.y - other.y) < 0.001
    }

    private func near(_ place: Place, except own: FeatureReference?) async throws -> [FoundFeature] {
        var all: [FoundFeature] = []
        for layer in map.layers.reversed() where !hidden.contains(layer.id) {
            let parameters = QueryParameters()
            parameters.geometry = Envelope(
                xMin: place.x - tolerance, yMin: place.y - tolerance, xMax: place.x + tolerance,
                yMax: place.y + tolerance, spatialReference: .webMercator)
            parameters.spatialRelationship = .envelopeIntersects
            parameters.maxFeatures = Limits.snapCandidates
            for feature in try await layer.table.features(parameters, .loadAll).features() {
                guard let reference = layer.reference(of: feature), reference != own else { continue }
                all.append(map.found(feature, layer: layer, reference: reference, from: nil))
            }
        }
        return all
    }
}
