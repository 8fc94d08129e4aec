import FieldworkGeometry

/// Writes an answer as the protocol's JSON, straight from columns and blobs to bytes.
package struct JSONFeatureEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    let layout: AnswerLayout
    private let keys: ColumnKeys
    private let keepsPoints: Bool
    var buffer = VertexBuffer()
    private var isFirstFeature = true
    let grid: QuantizationGrid?
    let roundsTo: Double?

    package init(layer: LayerDefinition, query: FeatureQuery) throws(ServiceError) {
        self.init(layout: try AnswerLayout(layer: layer, query: query))
    }

    package init(statistics: StatisticsQuery) { self.init(layout: AnswerLayout(statistics: statistics)) }

    private init(layout: AnswerLayout) {
        self.layout = layout
        keys = ColumnKeys(layout.fields.map(\.name))
        keepsPoints = layout.keepsPoints && layout.output.quantization == nil
        grid = layout.output.quantization.map(QuantizationGrid.init)
        roundsTo = layout.output.precision.map { Self.power($0) }
    }

    private static func power(_ decimals: Int) -> Double {
        (0..<min(max(decimals, 0), 15)).reduce(1.0) { power, _ in power * 10 }
    }

    package mutating func begin() {
        var head = JSONObject()
        if !layout.isOfStatistics {
            head.append("objectIdFieldName", .string(layout.objectIDField))
            head.append("uniqueIdField", ["name": .string(layout.objectIDField), "isSystemMaintained": true])
            head.append("globalIdFieldName", JSONValue(layout.globalIDField ?? ""))
        }
        if let type = layout.geometryType {
            head.append("geometryType", .string(type.rawValue))
            if let reference = layout.spatialReference {
                head.append("spatialReference", GeoServicesJSON.json(for: reference))
            }
            if layout.hasZ { head.append("hasZ", true) }
            if layout.hasM { head.append("hasM", true) }
        }
        if !layout.aggregates.isEmpty, let reference = layout.spatialReference {
            head.append("spatialReference", GeoServicesJSON.json(for: reference))
        }
        if let grid { head.append("transform", grid.json(hasZ: layout.hasZ, hasM: layout.hasM)) }
        head.append("fields", .array(layout.fields.map(\.json)))
        JSONValue.object(head).write(to: &bytes)
        // The object stays open for the features.
        bytes.removeLast()
        bytes.append(literal: #","features":["#)
    }

    /// The next feature is the first of a list.
    mutating func beginList() { isFirstFeature = true }

    package mutating func beginFeature() {
        if isFirstFeature { isFirstFeature = false } else { bytes.append(0x2C) }
        bytes.append(literal: #"{"attributes":{"#)
    }

    package mutating func null(column: Int) {
        keys.append(column, to: &bytes)
        bytes.append(literal: "null")
    }

    package mutating func integer(_ value: Int64, column: Int) {
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
        bytes.append(0x7D)
        guard let blob else { return }
        if keepsPoints, let place = VertexBuffer.plainPoint(blob) {
            bytes.append(literal: #","geometry":{"x":"#)
            JSONBytes.append(place.x, to: &bytes)
            bytes.append(literal: #","y":"#)
            JSONBytes.append(place.y, to: &bytes)
            bytes.append(0x7D)
            return
        }
        guard try buffer.read(blob) else { return }
        guard buffer.prepare(for: layout, shellsClockwise: true, roundsTo: roundsTo) else { return }
        if !layout.hidesGeometry { writeGeometry() }
        if buffer.centroid != nil || buffer.envelope != nil { writeSummary() }
    }

    /// The first closes the attributes; the end of the feature closes the last.
    package mutating func aggregate(_ blob: UnsafeRawBufferPointer?, number: Int) throws {
        bytes.append(contentsOf: (number == 0 ? #"},"aggregateGeometries":{"# : ",").utf8)
        JSONBytes.append(layout.aggregates[number].name, to: &bytes)
        bytes.append(0x3A)
        let geometry = AggregateGeometry(layout: layout, kind: layout.aggregates[number].kind)
        try geometry.append(blob, to: &bytes)
    }

    package mutating func endFeature() {
        if layout.geometryType == nil { bytes.append(0x7D) }
        bytes.append(0x7D)
    }

    package mutating func end(exceededTransferLimit: Bool) {
        bytes.append(0x5D)
        if exceededTransferLimit { bytes.append(literal: #","exceededTransferLimit":true"#) }
        bytes.append(0x7D)
    }
}
