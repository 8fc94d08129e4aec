package import FieldworkGeometry
import FieldworkREST

extension MapFeature.Shape {
    /// The shapes of a geometry, which is projected into the plane of web maps: a point each, or one line or area.
    package static func shapes(of geometry: Geometry) throws -> [MapFeature.Shape] {
        let blob = GeoPackageBinary.blob(for: geometry, srsID: 0)
        var buffer = VertexBuffer()
        guard try blob.withUnsafeBytes({ try buffer.read($0) }) else { return [] }
        if let reference = geometry.spatialReference {
            let way = try ProjectionTransform.between(reference, .webMercator)
            if !way.isIdentity { way.apply(xs: &buffer.xs, ys: &buffer.ys) }
        }
        var shape = TileShape(xs: buffer.xs, ys: buffer.ys, areShells: buffer.areShells)
        for (index, start) in buffer.starts.enumerated() {
            shape.parts.append(start..<(index + 1 < buffer.starts.count ? buffer.starts[index + 1] : buffer.xs.count))
        }
        switch buffer.kind {
        case .point, .multiPoint: return zip(buffer.xs, buffer.ys).map { .point(x: $0, y: $1) }
        case .lineString, .multiLineString: return shape.parts.isEmpty ? [] : [.line(shape)]
        case .polygon, .multiPolygon: return shape.parts.isEmpty ? [] : [.area(shape)]
        default: return []
        }
    }
}
