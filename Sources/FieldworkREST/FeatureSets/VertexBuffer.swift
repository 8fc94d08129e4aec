package import FieldworkGeometry

/// The vertices of one feature on their way from its blob to the answer. One buffer serves all features of an answer:
/// its arrays keep their memory.
package struct VertexBuffer: WKBVisitor {
    package private(set) var kind = WKBKind.point
    package private(set) var hasZ = false
    package private(set) var hasM = false
    package var xs: [Double] = []
    package var ys: [Double] = []
    private(set) var zs: [Double] = []
    private(set) var ms: [Double] = []
    /// The first vertex of each part.
    package private(set) var starts: [Int] = []
    /// For polygons: which parts are shells.
    package private(set) var areShells: [Bool] = []
    /// Of the geometry that was prepared last, where the answer asks for them.
    var centroid: (x: Double, y: Double)?
    var envelope: VertexBox?
    private var nextIsShell = false

    package init() {}

    var count: Int { xs.count }

    func part(_ index: Int) -> Range<Int> { starts[index]..<(index + 1 < starts.count ? starts[index + 1] : xs.count) }

    mutating func clear() {
        xs.removeAll(keepingCapacity: true)
        ys.removeAll(keepingCapacity: true)
        zs.removeAll(keepingCapacity: true)
        ms.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        areShells.removeAll(keepingCapacity: true)
        nextIsShell = false
        (centroid, envelope) = (nil, nil)
    }

    package mutating func begin(kind: WKBKind, hasZ: Bool, hasM: Bool) {
        (self.kind, self.hasZ, self.hasM) = (kind, hasZ, hasM)
    }

    package mutating func beginPolygon() { nextIsShell = true }

    package mutating func beginPart(count: Int) {
        guard count > 0 else { return }
        starts.append(xs.count)
        areShells.append(nextIsShell)
        nextIsShell = false
    }

    package mutating func vertex(x: Double, y: Double, z: Double, m: Double) {
        xs.append(x)
        ys.append(y)
        if hasZ { zs.append(z) }
        if hasM { ms.append(m) }
    }

    /// The place of a point as this store writes points (little-endian, no envelope, no heights): most features of most
    /// layers, read without the walk. nil for every other blob.
    @inline(__always)
    package static func plainPoint(_ blob: UnsafeRawBufferPointer) -> (x: Double, y: Double)? {
        // "GP", version 0, flags: little-endian only; then byte order 1 and kind 1.
        guard blob.count == 29, blob.loadUnaligned(as: UInt32.self) == UInt32(littleEndian: 0x0100_5047), blob[8] == 1,
            blob.loadUnaligned(fromByteOffset: 9, as: UInt32.self) == UInt32(littleEndian: 1)
        else { return nil }
        let x = Double(bitPattern: UInt64(littleEndian: blob.loadUnaligned(fromByteOffset: 13, as: UInt64.self)))
        let y = Double(bitPattern: UInt64(littleEndian: blob.loadUnaligned(fromByteOffset: 21, as: UInt64.self)))
        return x.isNaN || y.isNaN ? nil : (x, y)
    }

    /// Reads a blob; false when the geometry is empty.
    package mutating func read(_ blob: UnsafeRawBufferPointer) throws(GeometryError) -> Bool {
        clear()
        try GeoPackageBinary.walk(blob, &self)
        return count > 0 && !xs[0].isNaN && !ys[0].isNaN
    }

    /// Turns rings so that shells go one way and holes the other.
    mutating func windRings(shellsClockwise: Bool) {
        for index in starts.indices {
            let ring = part(index)
            let isClockwise = signedArea(ring) < 0
            if isClockwise != (areShells[index] == shellsClockwise) { reverse(ring) }
        }
    }

    private func signedArea(_ ring: Range<Int>) -> Double {
        let (originX, originY) = (xs[ring.lowerBound], ys[ring.lowerBound])
        var sum = 0.0
        for index in ring.dropLast() {
            sum += (xs[index] - originX) * (ys[index + 1] - originY) - (xs[index + 1] - originX) * (ys[index] - originY)
        }
        return sum
    }

    private mutating func reverse(_ range: Range<Int>) {
        xs[range].reverse()
        ys[range].reverse()
        if hasZ { zs[range].reverse() }
        if hasM { ms[range].reverse() }
    }

    /// Leaves out vertices that lie no further than a tolerance from the line without them (Douglas and Peucker).
    mutating func generalize(tolerance: Double, isArea: Bool) {
        var kept: [Int] = []
        var newStarts: [Int] = []
        for index in starts.indices {
            newStarts.append(kept.count)
            let range = part(index)
            let chosen = Generalization.keptVertices(xs: xs, ys: ys, in: range, tolerance: tolerance)
            // A ring that shrinks to a line keeps its corners: a feature must not vanish from a map by rounding.
            kept += isArea && chosen.count < 4 ? Array(range) : chosen
        }
        xs = kept.map { xs[$0] }
        ys = kept.map { ys[$0] }
        if hasZ { zs = kept.map { zs[$0] } }
        if hasM { ms = kept.map { ms[$0] } }
        starts = newStarts
    }
}

/// The rule of Douglas and Peucker, without recursion.
package enum Generalization {
    package static func keptVertices(xs: [Double], ys: [Double], in range: Range<Int>, tolerance: Double) -> [Int] {
        guard range.count > 2 else { return Array(range) }
        var isKept = [Bool](repeating: false, count: range.count)
        isKept[0] = true
        isKept[range.count - 1] = true
        var open = [(range.lowerBound, range.upperBound - 1)]
        while let (first, last) = open.popLast() {
            var (farthest, distance) = (first, tolerance * tolerance)
            for index in first + 1..<max(last, first + 1) {
                let candidate = squaredDistance(xs, ys, index, first, last)
                if candidate > distance { (farthest, distance) = (index, candidate) }
            }
            guard farthest != first else { continue }
            isKept[farthest - range.lowerBound] = true
            if farthest - first > 1 { open.append((first, farthest)) }
            if last - farthest > 1 { open.append((farthest, last)) }
        }
        return range.filter { isKept[$0 - range.lowerBound] }
    }

    private static func squaredDistance(_ xs: [Double], _ ys: [Double], _ index: Int, _ first: Int, _ last: Int)
        -> Double
    {
        let (dx, dy) = (xs[last] - xs[first], ys[last] - ys[first])
        let (px, py) = (xs[index] - xs[first], ys[index] - ys[first])
        let length = dx * dx + dy * dy
        let along = length > 0 ? max(0, min(1, (px * dx + py * dy) / length)) : 0
        let (ex, ey) = (px - along * dx, py - along * dy)
        return ex * ex + ey * ey
    }
}
