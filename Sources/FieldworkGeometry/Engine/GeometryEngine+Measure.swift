internal import CGEOS
internal import CPROJ

/// A unit of length.
public final class LinearUnit: Sendable, Hashable {
    /// Metres in one of it.
    public let metersPerUnit: Double

    private init(_ metersPerUnit: Double) { self.metersPerUnit = metersPerUnit }

    /// Metres.
    public static let meters = LinearUnit(1)
    /// 1,000 metres.
    public static let kilometers = LinearUnit(1_000)
    /// International feet.
    public static let feet = LinearUnit(0.3048)
    /// Feet of the United States' survey.
    public static let usSurveyFeet = LinearUnit(1_200.0 / 3_937)
    /// Yards.
    public static let yards = LinearUnit(0.9144)
    /// Statute miles.
    public static let miles = LinearUnit(1_609.344)
    /// Nautical miles.
    public static let nauticalMiles = LinearUnit(1_852)

    /// Whether both are of one size.
    public static func == (one: LinearUnit, other: LinearUnit) -> Bool { one.metersPerUnit == other.metersPerUnit }
    /// Equal values give equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(metersPerUnit) }
}

/// A unit of area.
public final class AreaUnit: Sendable, Hashable {
    /// Square metres in one of it.
    public let squareMetersPerUnit: Double

    private init(_ squareMetersPerUnit: Double) { self.squareMetersPerUnit = squareMetersPerUnit }

    /// Square metres.
    public static let squareMeters = AreaUnit(1)
    /// Square kilometres.
    public static let squareKilometers = AreaUnit(1_000_000)
    /// 10,000 square metres.
    public static let hectares = AreaUnit(10_000)
    /// International acres.
    public static let acres = AreaUnit(4_046.8564224)
    /// Square feet.
    public static let squareFeet = AreaUnit(0.09290304)
    /// Square miles.
    public static let squareMiles = AreaUnit(2_589_988.110336)

    /// Whether both are of one size.
    public static func == (one: AreaUnit, other: AreaUnit) -> Bool {
        one.squareMetersPerUnit == other.squareMetersPerUnit
    }
    /// Equal values give equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(squareMetersPerUnit) }
}

/// A unit of angles.
public enum AngularUnit: Sendable {
    /// Of which a full turn has 360, or 2π.
    case degrees, radians
}

/// What joins two points on the ellipsoid. Every kind is measured along the geodesic, the shortest way.
public enum GeodeticCurveType: Sendable {
    /// The shortest way, a plane through the centre, a constant bearing, a plane through the normal, the line as drawn.
    case geodesic, greatEllipse, loxodrome, normalSection, shapePreserving
}

/// A distance on the ellipsoid with the directions at both ends.
public struct GeodeticDistanceResult: Sendable, Hashable {
    /// Along the ellipsoid, in `distanceUnit`.
    public let distance: Double
    /// The unit of the distance.
    public let distanceUnit: LinearUnit
    /// The direction at the first point, clockwise from north, in the unit that was asked for.
    public let azimuth1: Double
    /// The direction at the second point, going on.
    public let azimuth2: Double
}

/// The place on a geometry that is nearest to a point.
public struct ProximityResult: Sendable, Hashable {
    /// The place, in the geometry's spatial reference.
    public let coordinate: Point
    /// In units of the geometry's spatial reference.
    public let distance: Double
    /// The number of its part.
    public let partIndex: Int
    /// The number of the nearest vertex within the part.
    public let pointIndex: Int
}

extension GeometryEngine {
    /// The length of lines and the perimeter of polygons on the plane, in units of the spatial reference; 0 for points.
    public static func length(of geometry: Geometry) -> Double {
        let context = GEOSContext()
        var length = 0.0
        guard let shape = try? context.shape(geometry), GEOSLength_r(context.handle, shape.pointer, &length) == 1 else {
            return 0
        }
        return length
    }

    /// The area on the plane, in square units of the spatial reference; 0 for points and lines.
    public static func area(of geometry: Geometry) -> Double {
        let context = GEOSContext()
        var area = 0.0
        guard let shape = try? context.shape(geometry), GEOSArea_r(context.handle, shape.pointer, &area) == 1 else {
            return 0
        }
        return area
    }

    /// The shortest distance on the plane, in units of the first geometry's spatial reference; nil when one is empty.
    public static func distance(from geometry: Geometry, to other: Geometry) -> Double? {
        guard !geometry.isEmpty, !other.isEmpty, let other = try? aligned(other, with: geometry) else { return nil }
        let context = GEOSContext()
        guard let first = try? context.shape(geometry), let second = try? context.shape(other) else { return nil }
        let found = try? GEOSInterrupts.run { () -> Double? in
            var distance = 0.0
            return GEOSDistance_r(context.handle, first.pointer, second.pointer, &distance) == 1 ? distance : nil
        }
        return found
    }

    /// The place on a geometry nearest to a point; inside a polygon, the point itself. nil for an empty geometry.
    public static func nearestCoordinate(in geometry: Geometry, to point: Point) -> ProximityResult? {
        guard !geometry.isEmpty, let point = try? aligned(point, with: geometry) as? Point else { return nil }
        let context = GEOSContext()
        guard let first = try? context.shape(geometry), let second = try? context.shape(point),
            let pair = GEOSNearestPoints_r(context.handle, first.pointer, second.pointer)
        else { return nil }
        defer { GEOSCoordSeq_destroy_r(context.handle, pair) }
        var (x, y) = (0.0, 0.0)
        guard GEOSCoordSeq_getXY_r(context.handle, pair, 0, &x, &y) == 1 else { return nil }
        let place = Point(x: x, y: y, spatialReference: geometry.spatialReference)
        let vertex = nearestVertex(in: geometry, to: place)
        return ProximityResult(
            coordinate: place, distance: ((x - point.x) * (x - point.x) + (y - point.y) * (y - point.y)).squareRoot(),
            partIndex: vertex?.partIndex ?? 0, pointIndex: vertex?.pointIndex ?? 0)
    }

    /// The vertex nearest to a point; nil for an empty geometry.
    public static func nearestVertex(in geometry: Geometry, to point: Point) -> ProximityResult? {
        guard !geometry.isEmpty, let point = try? aligned(point, with: geometry) as? Point else { return nil }
        let vertices = geometry.vertices
        var best: ProximityResult?
        for (part, range) in vertices.parts.enumerated() {
            for index in range {
                let (dx, dy) = (vertices.x(index) - point.x, vertices.y(index) - point.y)
                let distance = (dx * dx + dy * dy).squareRoot()
                if distance < best?.distance ?? .infinity {
                    best = ProximityResult(
                        coordinate: vertices.point(index, spatialReference: geometry.spatialReference),
                        distance: distance, partIndex: part, pointIndex: index - range.lowerBound)
                }
            }
        }
        return best
    }

    // MARK: On the ellipsoid

    static var ellipsoid: geod_geodesic {
        var geodesic = geod_geodesic()
        geod_init(&geodesic, 6_378_137, 1 / 298.257223563)
        return geodesic
    }

    /// The geometry in degrees on WGS 84; nil when it has no place there.
    private static func degrees<G: Geometry>(_ geometry: G) -> G? {
        geometry.spatialReference == nil ? geometry : project(geometry, into: .wgs84)
    }

    /// The length of lines and the perimeter of polygons on the WGS 84 ellipsoid. 0 when the geometry can't be placed
    /// on it.
    public static func geodeticLength(
        of geometry: Geometry, lengthUnit: LinearUnit = .meters, curveType: GeodeticCurveType = .geodesic
    ) -> Double {
        guard geometry.dimension != .point, let geometry = degrees(geometry) else { return 0 }
        var geodesic = ellipsoid
        let (vertices, closes) = (geometry.vertices, geometry is Polygon)
        var sum = 0.0
        for part in vertices.parts where part.count > 1 {
            for index in part where closes || index > part.lowerBound {
                let previous = index == part.lowerBound ? part.upperBound - 1 : index - 1
                var distance = 0.0
                geod_inverse(
                    &geodesic, vertices.y(previous), vertices.x(previous), vertices.y(index), vertices.x(index),
                    &distance, nil, nil)
                sum += distance
            }
        }
        return sum / lengthUnit.metersPerUnit
    }

    /// The area of a polygon on the WGS 84 ellipsoid, holes subtracted. 0 for anything else, or when it can't be placed.
    public static func geodeticArea(
        of geometry: Geometry, unit: AreaUnit? = nil, curveType: GeodeticCurveType = .geodesic
    ) -> Double {
        let polygon = geometry as? Polygon ?? (geometry as? Envelope)?.toPolygon()
        guard let polygon, let placed = degrees(polygon) else { return 0 }
        var geodesic = ellipsoid
        var sum = 0.0
        for rings in RingWinding.polygons(of: placed) {
            for (number, ring) in rings.enumerated() {
                var latitudes = ring.map { placed.vertices.y($0) }
                var longitudes = ring.map { placed.vertices.x($0) }
                var area = 0.0
                geod_polygonarea(&geodesic, &latitudes, &longitudes, Int32(ring.count), &area, nil)
                sum += number == 0 ? abs(area) : -abs(area)
            }
        }
        return sum / (unit ?? .squareMeters).squareMetersPerUnit
    }

    /// The distance between two points on the WGS 84 ellipsoid; nil when one can't be placed on it.
    public static func geodeticDistance(
        from point: Point, to other: Point, distanceUnit: LinearUnit? = nil, azimuthUnit: AngularUnit? = nil,
        curveType: GeodeticCurveType = .geodesic
    ) -> GeodeticDistanceResult? {
        guard let start = degrees(point), let end = degrees(other) else { return nil }
        var geodesic = ellipsoid
        var (distance, first, second) = (0.0, 0.0, 0.0)
        geod_inverse(&geodesic, start.y, start.x, end.y, end.x, &distance, &first, &second)
        let factor = azimuthUnit == .radians ? Double.pi / 180 : 1
        let unit = distanceUnit ?? .meters
        return GeodeticDistanceResult(
            distance: distance / unit.metersPerUnit, distanceUnit: unit, azimuth1: first * factor,
            azimuth2: second * factor)
    }

    /// Points moved along the ellipsoid by a distance in a direction, clockwise from north, in their own spatial
    /// reference. Points that can't be placed are left out.
    public static func geodeticMove(
        _ points: [Point], distance: Double, distanceUnit: LinearUnit? = nil, azimuth: Double,
        azimuthUnit: AngularUnit? = nil, curveType: GeodeticCurveType = .geodesic
    ) -> [Point] {
        var geodesic = ellipsoid
        let bearing = azimuthUnit == .radians ? azimuth * 180 / .pi : azimuth
        return points.compactMap { point in
            guard let start = degrees(point) else { return nil }
            var (latitude, longitude) = (0.0, 0.0)
            geod_direct(
                &geodesic, start.y, start.x, bearing, distance * (distanceUnit ?? .meters).metersPerUnit, &latitude,
                &longitude, nil)
            let moved = Point(x: longitude, y: latitude, spatialReference: .wgs84)
            return point.spatialReference.map { project(moved, into: $0) } ?? moved
        }
    }

    /// The polygon around all points within a distance on the WGS 84 ellipsoid, in the geometry's spatial reference;
    /// nil when the geometry can't be placed or the result is empty. Works in an equidistant projection about the
    /// geometry's centre: exact for a point, good for what spans no more than a few hundred kilometres.
    public static func geodeticBuffer(
        around geometry: Geometry, distance: Double, distanceUnit: LinearUnit? = nil, maxDeviation: Double = .nan,
        curveType: GeodeticCurveType = .geodesic
    ) -> Polygon? {
        (try? widenedOnEllipsoid(geometry, by: distance * (distanceUnit ?? .meters).metersPerUnit)) ?? nil
    }

    /// The same, by metres. Throws when it would take more than a request may take, or than the task has left.
    package static func widenedOnEllipsoid(
        _ geometry: Geometry, by meters: Double
    ) throws(AllowanceError) -> Polygon? {
        try geometry.checkBufferCost()
        guard let placed = degrees(geometry), !placed.isEmpty else { return nil }
        let center = placed.extent.center
        let text = """
            PROJCS["About a point",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],\
            PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Azimuthal_Equidistant"],\
            PARAMETER["latitude_of_center",\(center.y)],PARAMETER["longitude_of_center",\(center.x)],\
            PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1]]
            """
        guard let local = SpatialReference(wkText: text), let flat = project(placed, into: local),
            let buffer = try widened(flat, by: meters)
        else { return nil }
        return project(buffer, into: geometry.spatialReference ?? .wgs84)
    }

    /// The envelope around geometries, in the spatial reference of the first; nil when all are empty.
    public static func combineExtents(of geometries: [Geometry]) -> Envelope? {
        var sum: Envelope?
        for geometry in geometries where !geometry.isEmpty {
            guard let current = sum else {
                sum = geometry.extent
                continue
            }
            guard let extent = (try? aligned(geometry.extent, with: current)) as? Envelope else { return nil }
            sum = Envelope(
                xMin: min(current.xMin, extent.xMin), yMin: min(current.yMin, extent.yMin),
                xMax: max(current.xMax, extent.xMax), yMax: max(current.yMax, extent.yMax),
                spatialReference: current.spatialReference)
        }
        return sum
    }

    /// The envelope around two geometries.
    public static func combineExtents(_ geometry: Geometry, _ other: Geometry) -> Envelope? {
        combineExtents(of: [geometry, other])
    }
}
