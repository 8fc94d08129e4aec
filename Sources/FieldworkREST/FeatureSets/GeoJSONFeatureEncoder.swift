import FieldworkGeometry

/// Writes an answer as GeoJSON (RFC 7946; rest-api §12.5), straight from columns and blobs to bytes.
package struct GeoJSONFeatureEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let layout: AnswerLayout
    private let keys: [[UInt8]]
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
        keys = layout.fields.enumerated().map { index, field in
            var key: [UInt8] = index == 0 ? [] : [0x2C]
            JSONBytes.append(field.name, to: &key)
            key.append(0x3A)
            return key
        }
        objectIDColumn = layout.fields.firstIndex { $0.name == layout.objectIDField }
        roundsTo = layout.output.precision.map { decimals in
            (0..<min(max(decimals, 0), 15)).reduce(1.0) { power, _ in power * 10 }
        }
    }

    package mutating func begin() {
        bytes.append(contentsOf: #"{"type":"FeatureCollection","#.utf8)
        // WGS 84 is what the format means when it names no reference.
        if let reference = layout.spatialReference, reference != .wgs84, layout.geometryType != nil,
            let number = reference.latestWKID
        {
            bytes.append(contentsOf: #""crs":{"type":"name","properties":{"name":"EPSG:\#(number)"}},"#.utf8)
        }
        bytes.append(contentsOf: #""features":["#.utf8)
    }

    package mutating func beginFeature() {
        if isFirstFeature { isFirstFeature = false } else { bytes.append(0x2C) }
        bytes.append(contentsOf: #"{"type":"Feature","properties":{"#.utf8)
        objectID = nil
    }

    package mutating func null(column: Int) {
        bytes.append(contentsOf: keys[column])
        bytes.append(contentsOf: "null".utf8)
    }

    package mutating func integer(_ value: Int64, column: Int) {
        if column == objectIDColumn { objectID = value }
        bytes.append(contentsOf: keys[column])
        JSONBytes.append(value, to: &bytes)
    }

    package mutating func real(_ value: Double, column: Int) {
        bytes.append(contentsOf: keys[column])
        JSONBytes.append(value, to: &bytes)
    }

    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        bytes.append(contentsOf: keys[column])
        JSONBytes.append(utf8: value, to: &bytes)
    }

    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {
        bytes.append(contentsOf: keys[column])
        Base64.append(value, to: &bytes)
    }

    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        bytes.append(contentsOf: #"},"geometry":"#.utf8)
        guard let blob, try buffer.read(blob), buffer.prepare(for: layout, shellsClockwise: false, roundsTo: roundsTo)
        else {
            bytes.append(contentsOf: "null".utf8)
            return
        }
        writeGeometry()
    }

    package mutating func endFeature() {
        if layout.geometryType == nil { bytes.append(contentsOf: #"},"geometry":null"#.utf8) }
        if let objectID {
            bytes.append(contentsOf: #","id":"#.utf8)
            JSONBytes.append(objectID, to: &bytes)
        }
        bytes.append(0x7D)
    }

    package mutating func end(exceededTransferLimit: Bool) {
        bytes.append(0x5D)
        if exceededTransferLimit {
            // Releases of the vendor's servers have it in one place or the other; clients look in either.
            bytes.append(contentsOf: #","exceededTransferLimit":true,"properties":{"exceededTransferLimit":true}"#.utf8)
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
        bytes.append(contentsOf: #"{"type":""#.utf8)
        bytes.append(contentsOf: type.utf8)
        bytes.append(contentsOf: #"","coordinates":"#.utf8)
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
