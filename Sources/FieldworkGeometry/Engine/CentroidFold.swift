internal import CGEOS

/// The centre of gravity of geometries that stream past, as GEOS has it for a collection of them: areas by their size;
/// lines by their length, when there is no area; else points by their number. It holds nine numbers.
package final class CentroidFold {
    private let context = GEOSContext()
    private var sums: [Int32: WeightedSum] = [:]

    package init() {}

    private struct WeightedSum {
        /// The first centre: sums taken from there lose less to rounding than those taken from far away.
        var origin: (x: Double, y: Double)
        var weight = 0.0
        var x = 0.0
        var y = 0.0

        mutating func add(_ place: (x: Double, y: Double), weight: Double) {
            self.weight += weight
            x += (place.x - origin.x) * weight
            y += (place.y - origin.y) * weight
        }
    }

    /// Adds a GeoPackage blob. One that is malformed or empty adds nothing.
    package func add(blob: UnsafeRawBufferPointer) {
        guard let header = try? GeoPackageBinary.header(of: blob), !header.isEmpty else { return }
        var check = CentroidInput()
        // Walked first: GEOS computes with what it is given, and nests as deep as the bytes say.
        guard (try? GeoPackageBinary.walk(blob, &check)) != nil, check.isFinite, check.count > 0 else { return }
        if check.isOfPoints {
            let count = Double(check.count)
            return add((check.x / count, check.y / count), dimension: 0, weight: count)
        }
        let wkb = UnsafeRawBufferPointer(rebasing: blob[header.bodyOffset...])
        guard let shape = try? context.shape(wkb: wkb) else { return }
        addExtended(shape, vertices: check.count)
    }

    private func addExtended(_ shape: borrowing GEOSShape, vertices: Int) {
        let handle = context.handle
        guard let pointer = GEOSGetCentroid_r(handle, shape.pointer), let centre = try? context.owned(pointer)
        else { return }
        var (x, y, area, length) = (0.0, 0.0, 0.0, 0.0)
        guard GEOSGeomGetX_r(handle, centre.pointer, &x) == 1, GEOSGeomGetY_r(handle, centre.pointer, &y) == 1
        else { return }
        if GEOSArea_r(handle, shape.pointer, &area) == 1, area > 0 {
            add((x, y), dimension: 2, weight: area)
        } else if GEOSLength_r(handle, shape.pointer, &length) == 1, length > 0 {
            add((x, y), dimension: 1, weight: length)
        } else {
            add((x, y), dimension: 0, weight: 1)
        }
    }

    private func add(_ place: (x: Double, y: Double), dimension: Int32, weight: Double) {
        sums[dimension, default: WeightedSum(origin: place)].add(place, weight: weight)
    }

    /// The centre; nil without any geometry.
    package func centroid(spatialReference: SpatialReference?) -> Point? {
        guard let highest = sums.keys.max(), let sum = sums[highest] else { return nil }
        return Point(
            x: sum.origin.x + sum.x / sum.weight, y: sum.origin.y + sum.y / sum.weight,
            spatialReference: spatialReference)
    }
}

/// What decides whether GEOS is asked: points are added up without it.
private struct CentroidInput: WKBVisitor {
    var isFinite = true
    var isOfPoints = false
    var count = 0
    var x = 0.0
    var y = 0.0

    mutating func begin(kind: WKBKind, hasZ: Bool, hasM: Bool) { isOfPoints = kind == .point || kind == .multiPoint }
    mutating func beginPolygon() {}
    mutating func beginPart(count: Int) {}
    mutating func vertex(x: Double, y: Double, z: Double, m: Double) {
        // An empty point has no numbers.
        guard x.isFinite, y.isFinite else { return isFinite = false }
        count += 1
        self.x += x
        self.y += y
    }
}
