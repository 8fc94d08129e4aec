import FieldworkGeometry

extension JSONFeatureEncoder {
    /// The member `geometry` of a feature, from the buffer.
    mutating func writeGeometry() {
        bytes.append(literal: #","geometry":{"#)
        switch layout.geometryType {
        case .point?, nil: writePoint()
        case .multipoint?:
            writeFlags()
            bytes.append(literal: #""points":"#)
            writePositions(0..<buffer.count)
        case .polyline?: writeParts("paths")
        case .polygon?, .envelope?: writeParts("rings")
        }
        bytes.append(0x7D)
    }

    /// The members `centroid` and `envelope`, where they are asked for. An envelope has no cells: its sides are numbers.
    mutating func writeSummary() {
        if let centroid = buffer.centroid {
            bytes.append(literal: #","centroid":{"x":"#)
            if let grid { JSONBytes.append(grid.column(centroid.x), to: &bytes) } else { writeRounded(centroid.x) }
            bytes.append(literal: #","y":"#)
            if let grid { JSONBytes.append(grid.row(centroid.y), to: &bytes) } else { writeRounded(centroid.y) }
            bytes.append(0x7D)
        }
        if let envelope = buffer.envelope {
            bytes.append(literal: #","envelope":{"xmin":"#)
            writeRounded(envelope.xMin)
            bytes.append(literal: #","ymin":"#)
            writeRounded(envelope.yMin)
            bytes.append(literal: #","xmax":"#)
            writeRounded(envelope.xMax)
            bytes.append(literal: #","ymax":"#)
            writeRounded(envelope.yMax)
            bytes.append(0x7D)
        }
    }

    private mutating func writeRounded(_ value: Double) {
        JSONBytes.append(roundsTo.map { (value * $0).rounded() / $0 } ?? value, to: &bytes)
    }

    private mutating func writePoint() {
        bytes.append(literal: #""x":"#)
        if let grid { JSONBytes.append(grid.column(buffer.xs[0]), to: &bytes) } else { writeNumber(buffer.xs[0]) }
        bytes.append(literal: #","y":"#)
        if let grid { JSONBytes.append(grid.row(buffer.ys[0]), to: &bytes) } else { writeNumber(buffer.ys[0]) }
        if layout.hasZ, let z = buffer.zs.first {
            bytes.append(literal: #","z":"#)
            writeHeight(z)
        }
        if layout.hasM, let m = buffer.ms.first {
            bytes.append(literal: #","m":"#)
            writeHeight(m)
        }
    }

    private mutating func writeNumber(_ value: Double) { JSONBytes.append(value, to: &bytes) }

    /// A height or a measure; what is not a number is null, on a grid too.
    private mutating func writeHeight(_ value: Double) {
        if grid != nil, value.isFinite {
            JSONBytes.append(QuantizationGrid.height(value), to: &bytes)
        } else {
            JSONBytes.append(value, to: &bytes)
        }
    }

    private mutating func writeFlags() {
        if layout.hasZ { bytes.append(literal: #""hasZ":true,"#) }
        if layout.hasM { bytes.append(literal: #""hasM":true,"#) }
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
                writeHeights(index)
                bytes.append(0x5D)
            }
        }
        bytes.append(0x5D)
    }

    @inline(__always)
    private mutating func writeHeights(_ index: Int) {
        if layout.hasZ, buffer.hasZ {
            bytes.append(0x2C)
            writeHeight(buffer.zs[index])
        }
        if layout.hasM, buffer.hasM {
            bytes.append(0x2C)
            writeHeight(buffer.ms[index])
        }
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
                writeCell(step.0, step.1, index)
            } else {
                writeCell(cell.column, cell.row, index)
            }
            previous = cell
        }
    }

    private mutating func writeCell(_ column: Int64, _ row: Int64, _ index: Int) {
        bytes.append(0x5B)
        JSONBytes.append(column, to: &bytes)
        bytes.append(0x2C)
        JSONBytes.append(row, to: &bytes)
        writeHeights(index)
        bytes.append(0x5D)
    }
}
