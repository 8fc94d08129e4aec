import FieldworkGeometry

/// Writes an answer as GeoJSON (RFC 7946), straight from columns and blobs to bytes.
package struct GeoJSONFeatureEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let layout: AnswerLayout
    private let keys: ColumnKeys
    private let keepsPoints: Bool
    private let objectIDColumn: Int?
    private let roundsTo: Double?
    private var buffer = VertexBuffer()
    private var isFirstFeature = true
    private var objectID: Int64?

    package init(layer: LayerDefinition, query: FeatureQuery) throws(ServiceError) {
        self.init(layout: try AnswerLayout(layer: layer, query: query))
    }

    package init(statistics: StatisticsQuery) { self.init(layout: AnswerLayout(statistics: statistics)) }

    private init(layout: AnswerLayout) {
        self.layout = layout
        keys = ColumnKeys(layout.fields.map(\.name))
        keepsPoints = layout.keepsPoints && layout.output.quantization == nil
        objectIDColumn = layout.fields.firstIndex { $0.name == layout.objectIDField }
        roundsTo = layout.output.precision.map { decimals in
            (0..<min(max(decimals, 0), 15)).reduce(1.0) { power, _ in power * 10 }
        }
    }

    package mutating func begin() {
        bytes.append(literal: #"{"type":"FeatureCollection","#)
        // WGS 84 is what the format means when it names no reference.
        if let reference = layout.spatialReference, reference != .wgs84, layout.geometryType != nil,
            let number = reference.latestWKID
        {
            bytes.append(contentsOf: #""crs":{"type":"name","properties":{"name":"EPSG:\#(number)"}},"#.utf8)
        }
        bytes.append(literal: #""features":["#)
    }

    package mutating func beginFeature() {
        if isFirstFeature { isFirstFeature = false } else { bytes.append(0x2C) }
        bytes.append(literal: #"{"type":"Feature","properties":{"#)
        objectID = nil
    }

    package mutating func null(column: Int) {
        keys.append(column, to: &bytes)
        bytes.append(literal: "null")
    }

    package mutating func integer(_ value: Int64, column: Int) {
        if column == objectIDColumn { objectID = value }
        keys.append(column, to: &bytes)
        JSONBytes.append(value, to: &bytes)
    }

    package mutating func real(_ value: Double, column: Int) {
        keys.append(column, to: &bytes)
        JSONBytes.append(value, to: &bytes)
    }

    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        keys.append(column, to: &bytes)
        JSONBytes.append(utf8: value, to: &bytes)
    }

    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {
        keys.append(column, to: &bytes)
        Base64.append(value, to: &bytes)
    }

    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        bytes.append(literal: #"},"geometry":"#)
        if keepsPoints, let blob, let place = VertexBuffer.plainPoint(blob) {
            bytes.append(literal: #"{"type":"Point","coordinates":["#)
            JSONBytes.append(place.x, to: &bytes)
            bytes.append(0x2C)
            JSONBytes.append(place.y, to: &bytes)
            bytes.append(literal: "]}")
            return
        }
        guard let blob, try buffer.read(blob), buffer.prepare(for: layout, shellsClockwise: false, roundsTo: roundsTo)
        else {
            bytes.append(literal: "null")
            return
        }
        writeGeometry()
    }

    package mutating func endFeature() {
        if layout.geometryType == nil { bytes.append(literal: #"},"geometry":null"#) }
        if let objectID {
            bytes.append(literal: #","id":"#)
            JSONBytes.append(objectID, to: &bytes)
        }
        bytes.append(0x7D)
    }

    package mutating func end(exceededTransferLimit: Bool) {
        bytes.append(0x5D)
        if exceededTransferLimit {
            // Releases of the vendor's servers have it in one place or the other; clients look in either.
            bytes.append(literal: #","exceededTransferLimit":true,"properties":{"exceededTransferLimit":true}"#)
        }
        bytes.append(0x7D)
    }

    // MARK: Geometry

    private mutating func writeGeometry() {
        switch layout.geometryType {
        case .point?, nil:
            open("Point")
            writePosition(0)
        case .multipoint?:
            open("MultiPoint")
            writePositions(0..<buffer.count)
        case .polyline?:
            open(buffer.starts.count == 1 ? "LineString" : "MultiLineString")
            if buffer.starts.count == 1 { writePositions(0..<buffer.count) } else { writeParts(buffer.starts.indices) }
        case .polygon?, .envelope?: writePolygons()
        }
        bytes.append(0x7D)
    }

    private mutating func open(_ type: String) {
        bytes.append(literal: #"{"type":""#)
        bytes.append(contentsOf: type.utf8)
        bytes.append(literal: #"","coordinates":"#)
    }

    /// Each shell begins a polygon, which its holes follow.
    private mutating func writePolygons() {
        var polygons: [Range<Int>] = []
        for index in buffer.starts.indices {
            if let last = polygons.popLast() {
                if buffer.areShells[index] {
                    polygons += [last, index..<(index + 1)]
                } else {
                    polygons.append(last.lowerBound..<(index + 1))
                }
            } else {
                polygons.append(index..<(index + 1))
            }
        }
        if polygons.count == 1 {
            open("Polygon")
            writeParts(polygons[0])
            return
        }
        open("MultiPolygon")
        bytes.append(0x5B)
        for (index, polygon) in polygons.enumerated() {
            if index > 0 { bytes.append(0x2C) }
            writeParts(polygon)
        }
        bytes.append(0x5D)
    }

    private mutating func writeParts(_ parts: Range<Int>) {
        bytes.append(0x5B)
        for part in parts {
            if part > parts.lowerBound { bytes.append(0x2C) }
            writePositions(buffer.part(part))
        }
        bytes.append(0x5D)
    }

    private mutating func writePositions(_ range: Range<Int>) {
        bytes.append(0x5B)
        for index in range {
            if index > range.lowerBound { bytes.append(0x2C) }
            writePosition(index)
        }
        bytes.append(0x5D)
    }

    /// Measures have no place in GeoJSON.
    private mutating func writePosition(_ index: Int) {
        bytes.append(0x5B)
        JSONBytes.append(buffer.xs[index], to: &bytes)
        bytes.append(0x2C)
        JSONBytes.append(buffer.ys[index], to: &bytes)
        if layout.hasZ, buffer.hasZ {
            bytes.append(0x2C)
            JSONBytes.append(buffer.zs[index], to: &bytes)
        }
        bytes.append(0x5D)
    }
}
