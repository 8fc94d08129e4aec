import FieldworkGeometry

/// Writes an answer as the protocol's JSON (rest-api §3.3), straight from columns and blobs to bytes.
package struct JSONFeatureEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let layout: AnswerLayout
    private let keys: ColumnKeys
    private let keepsPoints: Bool
    private var buffer = VertexBuffer()
    private var isFirstFeature = true
    private let grid: QuantizationGrid?
    private let roundsTo: Double?

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
        if let grid { head.append("transform", grid.json) }
        head.append("fields", .array(layout.fields.map(\.json)))
        JSONValue.object(head).write(to: &bytes)
        // The object stays open for the features.
        bytes.removeLast()
        bytes.append(contentsOf: #","features":["#.utf8)
    }

    /// The next feature is the first of a list.
    mutating func beginList() { isFirstFeature = true }

    package mutating func beginFeature() {
        if isFirstFeature { isFirstFeature = false } else { bytes.append(0x2C) }
        bytes.append(contentsOf: #"{"attributes":{"#.utf8)
    }

    package mutating func null(column: Int) {
        keys.append(column, to: &bytes)
        bytes.append(contentsOf: "null".utf8)
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
            bytes.append(contentsOf: #","geometry":{"x":"#.utf8)
            JSONBytes.append(place.x, to: &bytes)
            bytes.append(contentsOf: #","y":"#.utf8)
            JSONBytes.append(place.y, to: &bytes)
            bytes.append(0x7D)
            return
        }
        guard try buffer.read(blob) else { return }
        guard buffer.prepare(for: layout, shellsClockwise: true, roundsTo: roundsTo) else { return }
        bytes.append(contentsOf: #","geometry":{"#.utf8)
        switch layout.geometryType {
        case .point?, nil: writePoint()
        case .multipoint?:
            writeFlags()
            bytes.append(contentsOf: #""points":"#.utf8)
            writePositions(0..<buffer.count)
        case .polyline?: writeParts("paths")
        case .polygon?, .envelope?: writeParts("rings")
        }
        bytes.append(0x7D)
    }

    package mutating func endFeature() {
        if layout.geometryType == nil { bytes.append(0x7D) }
        bytes.append(0x7D)
    }

    package mutating func end(exceededTransferLimit: Bool) {
        bytes.append(0x5D)
        if exceededTransferLimit { bytes.append(contentsOf: #","exceededTransferLimit":true"#.utf8) }
        bytes.append(0x7D)
    }
}

// MARK: - Geometry

extension JSONFeatureEncoder {
    private mutating func writePoint() {
        if let grid {
            bytes.append(contentsOf: #""x":"#.utf8)
            JSONBytes.append(grid.column(buffer.xs[0]), to: &bytes)
            bytes.append(contentsOf: #","y":"#.utf8)
            JSONBytes.append(grid.row(buffer.ys[0]), to: &bytes)
            return
        }
        bytes.append(contentsOf: #""x":"#.utf8)
        JSONBytes.append(buffer.xs[0], to: &bytes)
        bytes.append(contentsOf: #","y":"#.utf8)
        JSONBytes.append(buffer.ys[0], to: &bytes)
        if layout.hasZ, let z = buffer.zs.first {
            bytes.append(contentsOf: #","z":"#.utf8)
            JSONBytes.append(z, to: &bytes)
        }
        if layout.hasM, let m = buffer.ms.first {
            bytes.append(contentsOf: #","m":"#.utf8)
            JSONBytes.append(m, to: &bytes)
        }
    }

    private mutating func writeFlags() {
        if layout.hasZ { bytes.append(contentsOf: #""hasZ":true,"#.utf8) }
        if layout.hasM { bytes.append(contentsOf: #""hasM":true,"#.utf8) }
    }

    private mutating func writeParts(_ name: String) {
        writeFlags()
        JSONBytes.append(name, to: &bytes)
        bytes.append(contentsOf: [0x3A, 0x5B])
        for index in buffer.starts.indices {
            if index > 0 { bytes.append(0x2C) }
            writePositions(buffer.part(index))
        }
        bytes.append(0x5D)
    }

    private mutating func writePositions(_ range: Range<Int>) {
        bytes.append(0x5B)
        if let grid {
            writeCells(range, grid)
        } else {
            for index in range {
                if index > range.lowerBound { bytes.append(0x2C) }
                bytes.append(0x5B)
                JSONBytes.append(buffer.xs[index], to: &bytes)
                bytes.append(0x2C)
                JSONBytes.append(buffer.ys[index], to: &bytes)
                if layout.hasZ, buffer.hasZ {
                    bytes.append(0x2C)
                    JSONBytes.append(buffer.zs[index], to: &bytes)
                }
                if layout.hasM, buffer.hasM {
                    bytes.append(0x2C)
                    JSONBytes.append(buffer.ms[index], to: &bytes)
                }
                bytes.append(0x5D)
            }
        }
        bytes.append(0x5D)
    }

    /// Cells of the grid: the first absolute, the others as steps. View mode leaves out steps that go nowhere.
    private mutating func writeCells(_ range: Range<Int>, _ grid: QuantizationGrid) {
        var previous: (column: Int64, row: Int64)?
        for index in range {
            let cell = (column: grid.column(buffer.xs[index]), row: grid.row(buffer.ys[index]))
            if let previous {
                let step = (cell.column - previous.column, cell.row - previous.row)
                if grid.isViewMode, step == (0, 0) { continue }
                bytes.append(0x2C)
                writeCell(step.0, step.1)
            } else {
                writeCell(cell.column, cell.row)
            }
            previous = cell
        }
    }

    private mutating func writeCell(_ column: Int64, _ row: Int64) {
        bytes.append(0x5B)
        JSONBytes.append(column, to: &bytes)
        bytes.append(0x2C)
        JSONBytes.append(row, to: &bytes)
        bytes.append(0x5D)
    }
}
