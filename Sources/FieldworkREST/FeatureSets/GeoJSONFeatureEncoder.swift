import FieldworkGeometry

/// Writes an answer as GeoJSON (rest-api §12.5): WGS 84 unless another reference was asked for, the object id as `id`,
/// dates as milliseconds like the protocol's own JSON.
package struct GeoJSONFeatureEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let layout: AnswerLayout
    private let keys: [[UInt8]]
    private let objectIDColumn: Int?
    private let pipeline: VertexPipeline
    private var buffer = VertexBuffer()
    private var isFirstFeature = true
    private var objectID: Int64?
    private var isGeometryWritten = false
    /// The properties of the feature at hand: GeoJSON has the geometry before them, the columns come first.
    private var properties: [UInt8] = []

    package init(layer: LayerDefinition, query: FeatureQuery) throws(ServiceError) {
        var query = query
        if query.output.spatialReference == nil { query.output.spatialReference = .wgs84 }
        layout = try AnswerLayout(layer: layer, query: query)
        keys = layout.fields.enumerated().map { index, field in
            var key: [UInt8] = index == 0 ? [] : [0x2C]
            JSONBytes.append(field.name, to: &key)
            key.append(0x3A)
            return key
        }
        objectIDColumn = layout.fields.firstIndex { $0.name == layer.objectIDField }
        pipeline = VertexPipeline(layout: layout, shellsClockwise: false)
    }

    package mutating func begin() {
        bytes.append(contentsOf: #"{"type":"FeatureCollection""#.utf8)
        if layout.geometryType != nil, let wkid = layout.spatialReference?.latestWKID, wkid != 4_326 {
            bytes.append(contentsOf: #","crs":{"type":"name","properties":{"name":"EPSG:\#(wkid)"}}"#.utf8)
        }
        bytes.append(contentsOf: #","features":["#.utf8)
    }

    package mutating func beginFeature() {
        if isFirstFeature { isFirstFeature = false } else { bytes.append(0x2C) }
        properties.removeAll(keepingCapacity: true)
        objectID = nil
        isGeometryWritten = false
        bytes.append(contentsOf: #"{"type":"Feature""#.utf8)
    }

    package mutating func null(column: Int) {
        properties.append(contentsOf: keys[column])
        properties.append(contentsOf: "null".utf8)
    }

    package mutating func integer(_ value: Int64, column: Int) {
        if column == objectIDColumn { objectID = value }
        properties.append(contentsOf: keys[column])
        JSONBytes.append(value, to: &properties)
    }

    package mutating func real(_ value: Double, column: Int) {
        properties.append(contentsOf: keys[column])
        JSONBytes.append(value, to: &properties)
    }

    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        properties.append(contentsOf: keys[column])
        JSONBytes.append(utf8: value, to: &properties)
    }

    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {
        properties.append(contentsOf: keys[column])
        Base64.append(value, to: &properties)
    }

    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        writeID()
        isGeometryWritten = true
        bytes.append(contentsOf: #","geometry":"#.utf8)
        guard let blob, try pipeline.fill(&buffer, from: blob) else {
            bytes.append(contentsOf: "null".utf8)
            return
        }
        let type: String
        switch layout.geometryType {
        case .point?, nil: type = "Point"
        case .multipoint?: type = "MultiPoint"
        case .polyline?: type = buffer.starts.count == 1 ? "LineString" : "MultiLineString"
        case .polygon?, .envelope?: type = buffer.areShells.filter { $0 }.count <= 1 ? "Polygon" : "MultiPolygon"
        }
        bytes.append(contentsOf: #"{"type":"\#(type)","coordinates":"#.utf8)
        switch type {
        case "Point": position(0)
        case "MultiPoint": path(0..<buffer.count)
        case "LineString": path(buffer.part(0))
        case "MultiPolygon": polygons()
        default: list(buffer.starts.indices) { $0.path($0.buffer.part($1)) }
        }
        bytes.append(0x7D)
    }

    private mutating func writeID() {
        guard let objectID else { return }
        bytes.append(contentsOf: #","id":"#.utf8)
        JSONBytes.append(objectID, to: &bytes)
    }

    package mutating func endFeature() {
        if !isGeometryWritten {
            writeID()
            bytes.append(contentsOf: #","geometry":null"#.utf8)
        }
        bytes.append(contentsOf: #","properties":{"#.utf8)
        bytes.append(contentsOf: properties)
        bytes.append(contentsOf: [0x7D, 0x7D])
    }

    package mutating func end(exceededTransferLimit: Bool) {
        bytes.append(0x5D)
        // Clients look at one place or the other.
        if exceededTransferLimit {
            bytes.append(contentsOf: #","exceededTransferLimit":true,"properties":{"exceededTransferLimit":true}"#.utf8)
        }
        bytes.append(0x7D)
    }
}

// MARK: - Coordinates

extension GeoJSONFeatureEncoder {
    private mutating func list(_ indices: Range<Int>, _ body: (inout Self, Int) -> Void) {
        bytes.append(0x5B)
        for index in indices {
            if index > indices.lowerBound { bytes.append(0x2C) }
            body(&self, index)
        }
        bytes.append(0x5D)
    }

    private mutating func path(_ range: Range<Int>) { list(range) { $0.position($1) } }

    private mutating func polygons() {
        let shells = buffer.areShells.indices.filter { buffer.areShells[$0] }
        list(shells.indices) { encoder, number in
            let end = number + 1 < shells.count ? shells[number + 1] : encoder.buffer.starts.count
            encoder.list(shells[number]..<end) { $0.path($0.buffer.part($1)) }
        }
    }

    private mutating func position(_ index: Int) {
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
