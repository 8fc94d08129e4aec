public import Foundation

extension GeoServicesJSON {
    /// Appends a geometry as the protocol's JSON. Rings are closed; curves leave as they came.
    package static func append(_ geometry: Geometry, includingSpatialReference: Bool, to bytes: inout [UInt8]) {
        var writer = Writer(bytes: bytes)
        bytes = []
        writer.write(geometry, includingSpatialReference: includingSpatialReference)
        bytes = writer.bytes
    }

    private struct Writer {
        var bytes: [UInt8]
        var isFirst = true

        mutating func write(_ geometry: Geometry, includingSpatialReference: Bool) {
            bytes.append(0x7B)
            switch geometry {
            case let point as Point: write(point: point)
            case let multipoint as Multipoint:
                flags(multipoint)
                key("points")
                positions(multipoint.vertices, 0..<multipoint.vertices.count, closes: false)
            case let polyline as Polyline: parts(polyline, name: "paths", curveName: "curvePaths")
            case let polygon as Polygon: parts(polygon, name: "rings", curveName: "curveRings")
            default: write(envelope: geometry.extent)
            }
            if includingSpatialReference, let reference = geometry.spatialReference {
                key("spatialReference")
                GeoServicesJSON.json(for: reference).write(to: &bytes)
            }
            bytes.append(0x7D)
        }

        private mutating func key(_ name: String) {
            if !isFirst { bytes.append(0x2C) }
            isFirst = false
            JSONBytes.append(name, to: &bytes)
            bytes.append(0x3A)
        }

        private mutating func number(_ name: String, _ value: Double) {
            key(name)
            JSONBytes.append(value, to: &bytes)
        }

        private mutating func write(point: Point) {
            number("x", point.x)
            if point.isEmpty { return }
            number("y", point.y)
            if let z = point.z { number("z", z) }
            if let m = point.m { number("m", m) }
        }

        private mutating func write(envelope: Envelope) {
            number("xmin", envelope.xMin)
            if envelope.isEmpty { return }
            number("ymin", envelope.yMin)
            number("xmax", envelope.xMax)
            number("ymax", envelope.yMax)
            if let zMin = envelope.zMin, let zMax = envelope.zMax {
                number("zmin", zMin)
                number("zmax", zMax)
            }
            if let mMin = envelope.mMin, let mMax = envelope.mMax {
                number("mmin", mMin)
                number("mmax", mMax)
            }
        }

        private mutating func flags(_ geometry: Geometry) {
            for (name, isSet) in [("hasZ", geometry.hasZ), ("hasM", geometry.hasM)] where isSet {
                key(name)
                bytes.append(contentsOf: "true".utf8)
            }
        }

        private mutating func parts(_ geometry: Multipart, name: String, curveName: String) {
            flags(geometry)
            if let curves = geometry.curves {
                key(curveName)
                curves.write(to: &bytes)
                return
            }
            key(name)
            bytes.append(0x5B)
            for (index, part) in (geometry.isEmpty ? [] : geometry.vertices.parts).enumerated() {
                if index > 0 { bytes.append(0x2C) }
                positions(geometry.vertices, part, closes: geometry is Polygon)
            }
            bytes.append(0x5D)
        }

        private mutating func positions(_ vertices: Vertices, _ range: Range<Int>, closes: Bool) {
            bytes.append(0x5B)
            for index in range {
                if index > range.lowerBound { bytes.append(0x2C) }
                position(vertices, index)
            }
            if closes, !range.isEmpty {
                bytes.append(0x2C)
                position(vertices, range.lowerBound)
            }
            bytes.append(0x5D)
        }

        private mutating func position(_ vertices: Vertices, _ index: Int) {
            let stride = vertices.stride
            bytes.append(0x5B)
            for offset in 0..<stride {
                if offset > 0 { bytes.append(0x2C) }
                JSONBytes.append(vertices.coordinates[index * stride + offset], to: &bytes)
            }
            bytes.append(0x5D)
        }
    }
}

extension Geometry {
    /// The geometry as the protocol's JSON, with its spatial reference.
    public func toJSON() -> Data {
        var bytes: [UInt8] = []
        GeoServicesJSON.append(self, includingSpatialReference: true, to: &bytes)
        return Data(bytes)
    }

    /// Reads a geometry from the protocol's JSON. Throws `GeometryError.corruptedGeometry` for anything else, and for a
    /// geometry of another kind than the one asked for.
    public class func fromJSON(_ json: Data) throws -> Self {
        let value: JSONValue
        do {
            value = try JSONParser.parse(json)
        } catch {
            throw GeometryError.corruptedGeometry(details: "Not JSON, at byte \(error.offset).")
        }
        guard let geometry = try GeoServicesJSON.geometry(from: value) as? Self else {
            throw GeometryError.corruptedGeometry(details: "The JSON is empty or of another kind of geometry.")
        }
        return geometry
    }
}
