internal import CPROJ
import Foundation
internal import Synchronization

/// The way from one spatial reference to another, applied to arrays of coordinates. Between WGS 84 and Web Mercator it
/// is a closed formula; else PROJ's best transformation for the place, without grids that are not installed.
package final class ProjectionTransform: Sendable {
    private enum Way: Sendable {
        case identity, toMercator, fromMercator
        case library(LibraryTransform)
    }

    package let target: SpatialReference
    private let way: Way

    package var isIdentity: Bool { if case .identity = way { true } else { false } }

    /// Made once a pair and kept: making one costs a millisecond.
    package static func between(
        _ source: SpatialReference, _ target: SpatialReference, datumTransformation: String? = nil
    ) throws(GeometryError) -> ProjectionTransform {
        let pair = Pair(source: source, target: target, datumTransformation: datumTransformation)
        if let kept = cache.withLock({ $0[pair] }) { return kept }
        let made = try ProjectionTransform(pair)
        cache.withLock { cache in
            if cache.count >= GeometryLimits.keptTransformationsMax { cache.removeAll() }
            cache[pair] = made
        }
        return made
    }

    private struct Pair: Hashable {
        var source: SpatialReference
        var target: SpatialReference
        var datumTransformation: String?
    }

    private static let cache = Mutex<[Pair: ProjectionTransform]>([:])

    private init(_ pair: Pair) throws(GeometryError) {
        let (source, target) = (pair.source, pair.target)
        self.target = target
        if source == target {
            way = .identity
        } else if source == .wgs84 && target == .webMercator {
            way = .toMercator
        } else if source == .webMercator && target == .wgs84 {
            way = .fromMercator
        } else {
            let register = ReferenceRegister.shared
            way = .library(
                try LibraryTransform(
                    from: register.traits(of: source).definition, to: register.traits(of: target).definition,
                    datumTransformation: pair.datumTransformation))
        }
    }

    /// Transforms coordinates in place. What can't be transformed becomes NaN.
    package func apply(xs: inout [Double], ys: inout [Double]) {
        switch way {
        case .identity: break
        case .toMercator:
            for index in xs.indices { (xs[index], ys[index]) = Self.mercator(xs[index], ys[index]) }
        case .fromMercator:
            for index in xs.indices { (xs[index], ys[index]) = Self.degrees(xs[index], ys[index]) }
        case .library(let transform): transform.apply(xs: &xs, ys: &ys)
        }
    }

    /// Transforms one position. What can't be transformed becomes NaN.
    package func apply(x: Double, y: Double) -> (x: Double, y: Double) {
        switch way {
        case .identity: return (x, y)
        case .toMercator: return Self.mercator(x, y)
        case .fromMercator: return Self.degrees(x, y)
        case .library(let transform):
            var (xs, ys) = ([x], [y])
            transform.apply(xs: &xs, ys: &ys)
            return (xs[0], ys[0])
        }
    }

    private static let radius = 6_378_137.0

    private static func mercator(_ longitude: Double, _ latitude: Double) -> (Double, Double) {
        guard abs(latitude) < 90 else { return (.nan, .nan) }
        return (longitude * .pi / 180 * radius, radius * asinh(tan(latitude * .pi / 180)))
    }

    private static func degrees(_ x: Double, _ y: Double) -> (Double, Double) {
        (x / radius * 180 / .pi, atan(sinh(y / radius)) * 180 / .pi)
    }
}

/// PROJ transformations of one pair of references. A PROJ object serves one thread at a time, so several are kept.
private final class LibraryTransform: Sendable {
    private let source: String
    private let target: String
    private let datumTransformation: String?
    private let idle: Mutex<[Handle]>

    /// Owns the object; a class so that it can wait in an array. Unchecked: it is used by whoever took it out of
    /// `idle`, and by nobody else until it is put back.
    private final class Handle: @unchecked Sendable {
        let object: ProjectionObject

        init(from source: String, to target: String, datumTransformation: String?) throws(GeometryError) {
            if let datumTransformation {
                object = try ProjectionOperations(
                    from: source, to: target,
                    throughOthers: TransformationSteps(datumTransformation).names.count > 1
                ).object(named: datumTransformation)
            } else {
                object = try ProjectionObject(from: source, to: target)
            }
        }
    }

    init(from source: String, to target: String, datumTransformation: String?) throws(GeometryError) {
        self.source = source
        self.target = target
        self.datumTransformation = datumTransformation
        idle = Mutex([try Handle(from: source, to: target, datumTransformation: datumTransformation)])
    }

    func apply(xs: inout [Double], ys: inout [Double]) {
        let taken =
            idle.withLock { $0.popLast() }
            ?? (try? Handle(from: source, to: target, datumTransformation: datumTransformation))
        guard let handle = taken else {
            for index in xs.indices { (xs[index], ys[index]) = (.nan, .nan) }
            return
        }
        let count = xs.count
        xs.withUnsafeMutableBufferPointer { xs in
            ys.withUnsafeMutableBufferPointer { ys in
                let size = MemoryLayout<Double>.stride
                _ = proj_trans_generic(
                    handle.object.pointer, PJ_FWD, xs.baseAddress, size, count, ys.baseAddress, size, count, nil, 0, 0,
                    nil, 0, 0)
            }
        }
        for index in xs.indices where !xs[index].isFinite || !ys[index].isFinite {
            (xs[index], ys[index]) = (.nan, .nan)
        }
        idle.withLock { if $0.count < GeometryLimits.idleTransformationsMax { $0.append(handle) } }
    }
}

extension GeometryEngine {
    /// The geometry in another spatial reference; nil when some coordinate has no place there or the geometry's own
    /// reference is not known.
    /// - Parameter datumTransformation: one of `TransformationCatalog`; the best for the place when nil. nil is returned
    ///   when it does not apply to the two references or misses its grid file.
    public static func project<G: Geometry>(
        _ geometry: G, into spatialReference: SpatialReference, datumTransformation: DatumTransformation? = nil
    ) -> G? {
        geometry.spatialReference == nil
            ? nil : try? projected(geometry, into: spatialReference, datumTransformation: datumTransformation)
    }

    /// The geometry in another spatial reference. A geometry without one is taken to be in the target's.
    package static func projected<G: Geometry>(
        _ geometry: G, into spatialReference: SpatialReference, datumTransformation: DatumTransformation? = nil
    ) throws(GeometryError) -> G {
        guard let source = geometry.spatialReference else { return geometry.inReference(spatialReference) }
        let transform = try ProjectionTransform.between(
            source, spatialReference, datumTransformation: datumTransformation?.name)
        if transform.isIdentity { return geometry.inReference(spatialReference) }
        return try geometry.transformed(by: transform)
    }
}

extension Geometry {
    /// The same coordinates under another reference of the same system (102100 and 3857).
    fileprivate func inReference(_ reference: SpatialReference) -> Self {
        if spatialReference?.wkid == reference.wkid && spatialReference != nil { return self }
        return rebuilt(vertices: vertices, spatialReference: reference) as? Self ?? self
    }

    fileprivate func transformed(by transform: ProjectionTransform) throws(GeometryError) -> Self {
        if let envelope = self as? Envelope { return try envelope.transformedEnvelope(by: transform) as? Self ?? self }
        var xs = (0..<vertices.count).map(vertices.x)
        var ys = (0..<vertices.count).map(vertices.y)
        transform.apply(xs: &xs, ys: &ys)
        guard xs.allSatisfy(\.isFinite), ys.allSatisfy(\.isFinite) else {
            throw .projectionOutOfSupportedRange(details: "A coordinate has no place in the target reference.")
        }
        let moved = vertices.replacingPositions(xs: xs, ys: ys)
        return rebuilt(vertices: moved, spatialReference: transform.target) as? Self ?? self
    }

    /// A geometry of the same kind with other vertices; curves are not carried over.
    func rebuilt(vertices: Vertices, spatialReference: SpatialReference?) -> Geometry {
        switch self {
        case is Point:
            Point(
                x: vertices.x(0), y: vertices.y(0), z: vertices.z(0), m: vertices.m(0),
                spatialReference: spatialReference)
        case is Multipoint: Multipoint(vertices: vertices, spatialReference: spatialReference)
        case let polyline as Polyline:
            Polyline(
                vertices: vertices, spatialReference: spatialReference,
                curves: vertices == polyline.vertices ? polyline.curves : nil)
        case let polygon as Polygon:
            Polygon(
                vertices: vertices, spatialReference: spatialReference,
                curves: vertices == polygon.vertices ? polygon.curves : nil)
        default:
            Envelope(
                xMin: min(vertices.coordinates[0], vertices.coordinates[2]),
                yMin: min(vertices.coordinates[1], vertices.coordinates[3]),
                xMax: max(vertices.coordinates[0], vertices.coordinates[2]),
                yMax: max(vertices.coordinates[1], vertices.coordinates[3]), zRange: nil, mRange: nil,
                spatialReference: spatialReference)
        }
    }
}

extension Envelope {
    /// The envelope around the transformed edges: corners alone would cut off bulging sides.
    fileprivate func transformedEnvelope(by transform: ProjectionTransform) throws(GeometryError) -> Envelope {
        guard !isEmpty else { return Envelope(around: Vertices(), spatialReference: transform.target) }
        let steps = 20
        var (xs, ys): ([Double], [Double]) = ([], [])
        for step in 0...steps {
            let fraction = Double(step) / Double(steps)
            let (x, y) = (xMin + width * fraction, yMin + height * fraction)
            xs += [x, x, xMin, xMax]
            ys += [yMin, yMax, y, y]
        }
        transform.apply(xs: &xs, ys: &ys)
        let found = zip(xs, ys).filter { $0.isFinite && $1.isFinite }
        guard !found.isEmpty else {
            throw .projectionOutOfSupportedRange(details: "The envelope has no place in the target reference.")
        }
        var vertices = Vertices()
        for (x, y) in found { vertices.append(x: x, y: y, z: nil, m: nil) }
        return Envelope(around: vertices, spatialReference: transform.target)
    }
}
