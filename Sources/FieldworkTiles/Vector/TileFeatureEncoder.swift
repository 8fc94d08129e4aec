import FieldworkGeometry
package import FieldworkREST

/// Writes the features of a query as one layer of a vector tile. The store drives it from its cursor; the geometries of a
/// feature go from their blob to the tile's commands.
package struct TileFeatureEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let columns: [String]
    /// The columns that the tile carries; the others are read for expressions alone.
    private let carried: [Bool]
    private let expressions: FeatureExpressions?
    private let objectIDColumn: Int?
    private let geometryType: LayerGeometryType
    private let transform: ProjectionTransform?
    private let maximumBytes: Int
    private let total: Int?
    private var layer: VectorLayer
    private var geometry: TileGeometry
    private var buffer = VertexBuffer()
    private var shape = TileShape()
    /// How many points there are in each cell; empty before the first.
    private var occupied: [UInt8] = []
    /// What a feature is kept for when there are too many: points by a rank of their own, shapes by their size.
    private var weights: [Double] = []
    private var weight = 0.0
    private var id: Int64?
    private var isComplete = false
    /// Features that were left out since there are too many.
    private var skipped = 0

    /// Pixels around a tile that its points reach into: half a large marker with its label.
    private static let pointMargin = 64.0
    private static let shapeMargin = 8.0

    /// Metres around a tile from which features are drawn into it.
    package static func margin(_ type: LayerGeometryType, _ address: TileAddress) -> Double {
        address.side * (type == .point || type == .multipoint ? pointMargin : shapeMargin) / 512
    }

    /// - Parameters:
    ///   - query: its `outFields` are the attributes; its geometries are asked for in the layer's own reference.
    ///   - total: the features of the tile, where the query gives only some of them.
    ///   - carried: the names of the attributes that the tile carries; nil for all.
    ///   - expressions: what the layer's looks ask for besides, over the fields of the query.
    ///   - maximumBytes: what the layer may take, uncompressed.
    package init(
        layer definition: LayerDefinition, query: FeatureQuery, address: TileAddress, total: Int? = nil,
        carried: [String]? = nil, expressions: FeatureExpressions? = nil, maximumBytes: Int = 3 * Limits.tileBytes
    ) throws(ServiceError) {
        let layout = try AnswerLayout(layer: definition, query: query)
        geometryType = definition.geometryType ?? .point
        let columns = layout.fields.map(\.name)
        self.columns = columns
        self.carried = columns.map { carried?.contains($0) ?? true }
        self.expressions = expressions
        objectIDColumn = columns.firstIndex(of: definition.objectIDField)
        layer = VectorLayer(name: definition.name)
        self.total = total
        self.maximumBytes = maximumBytes
        let isPoint = geometryType == .point || geometryType == .multipoint
        geometry = TileGeometry(
            address: address, margin: (isPoint ? Self.pointMargin : Self.shapeMargin) * TileGeometry.unitsPerPixel,
            simplifies: address.level < TileLevels.deepest)
        transform = try Self.transform(definition)
    }

    private static func transform(_ definition: LayerDefinition) throws(ServiceError) -> ProjectionTransform? {
        guard let source = definition.spatialReference else { return nil }
        do {
            let way = try ProjectionTransform.between(source, .webMercator)
            return way.isIdentity ? nil : way
        } catch {
            throw .invalidQuery("The layer can't be drawn in Web Mercator: \(error.details)")
        }
    }

    package mutating func begin() {}

    package mutating func beginFeature() {
        id = nil
        isComplete = false
        layer.forgetTags()
        expressions?.beginFeature()
    }

    package mutating func null(column: Int) {}

    package mutating func integer(_ value: Int64, column: Int) {
        if column == objectIDColumn { id = value }
        expressions?.integer(value, column: column)
        guard carried[column] else { return }
        layer.tag(columns[column], .integer(value))
    }

    package mutating func real(_ value: Double, column: Int) {
        expressions?.real(value, column: column)
        guard value.isFinite, carried[column] else { return }
        layer.tag(columns[column], .real(value))
    }

    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        expressions?.text(value, column: column)
        guard carried[column] else { return }
        let isLong = value.count > Limits.tileTextCharacters
        // Most texts are plain: their bytes are what the tile has.
        if !isLong, value.allSatisfy({ $0 < 0x80 }) { return layer.tag(columns[column], text: value) }
        let text = String(decoding: value, as: UTF8.self)
        layer.tag(columns[column], .text(isLong ? String(text.prefix(Limits.tileTextCharacters)) : text))
    }

    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {}

    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        guard let blob else { return }
        expressions?.geometry(blob)
        switch geometryType {
        // It says itself whether the point is drawn: one that is left out has no commands of its own.
        case .point: return try addPoint(blob)
        case .multipoint:
            guard try read(blob) else { return }
            geometry.points(buffer.xs, buffer.ys)
        case .polyline, .polygon, .envelope:
            guard try read(blob) else { return }
            fillShape()
            if geometryType == .polyline { geometry.lines(shape) } else { geometry.polygons(shape) }
            if let box = shape.box { weight = max(box.xMax - box.xMin, box.yMax - box.yMin) }
        }
        isComplete = !geometry.commands.isEmpty
    }

    private mutating func addPoint(_ blob: UnsafeRawBufferPointer) throws {
        var place: (x: Double, y: Double)
        if let plain = VertexBuffer.plainPoint(blob) {
            place = transform?.apply(x: plain.x, y: plain.y) ?? plain
        } else {
            guard try read(blob) else { return }
            place = (buffer.xs[0], buffer.ys[0])
        }
        weight = -Double(Thinning.rank(of: id ?? 0))
        // Many on the same spot look like one.
        if geometry.tolerance > 0 {
            guard let cell = geometry.cell(x: place.x, y: place.y) else { return }
            if occupied.isEmpty { occupied = Array(repeating: 0, count: geometry.cellCount) }
            guard occupied[cell] < Limits.pointsPerCell else {
                skipped += 1
                return
            }
            occupied[cell] += 1
        }
        geometry.point(place.x, place.y)
        isComplete = !geometry.commands.isEmpty
    }

    /// Reads a blob into metres of the plane; false when nothing of it has a place there.
    private mutating func read(_ blob: UnsafeRawBufferPointer) throws -> Bool {
        guard try buffer.read(blob) else { return false }
        transform?.apply(xs: &buffer.xs, ys: &buffer.ys)
        return true
    }

    private mutating func fillShape() {
        swap(&shape.xs, &buffer.xs)
        swap(&shape.ys, &buffer.ys)
        shape.parts.removeAll(keepingCapacity: true)
        shape.areShells.removeAll(keepingCapacity: true)
        for index in buffer.starts.indices {
            let end = index + 1 < buffer.starts.count ? buffer.starts[index + 1] : shape.xs.count
            shape.parts.append(buffer.starts[index]..<end)
            shape.areShells.append(buffer.areShells[index])
        }
    }

    package mutating func endFeature() {
        guard isComplete else { return layer.forgetTags() }
        for (name, value) in expressions?.results() ?? [] {
            switch value {
            case .integer(let number): layer.tag(name, .integer(number))
            case .real(let number): layer.tag(name, .real(number))
            case .text(let text): layer.tag(name, .text(text))
            }
        }
        layer.add(id: id, kind: kind, commands: geometry.commands)
        weights.append(weight)
        if layer.byteCount > 2 * maximumBytes { prune() }
    }

    private var kind: VectorLayer.Kind {
        switch geometryType {
        case .point, .multipoint: .point
        case .polyline: .line
        case .polygon, .envelope: .polygon
        }
    }

    /// Leaves out the least features until the rest fits. What several features share goes with the last of them, so that one
    /// round may leave out too few.
    private mutating func prune() {
        while layer.byteCount > maximumBytes, layer.count > 0 {
            var rest = layer.byteCount
            var isKept = [Bool](repeating: true, count: layer.count)
            for index in weights.indices.sorted(by: { weights[$0] < weights[$1] }) {
                guard rest > maximumBytes else { break }
                rest -= layer.size(index)
                isKept[index] = false
                skipped += 1
            }
            layer.keep(isKept)
            weights = zip(weights, isKept).filter(\.1).map(\.0)
        }
    }

    package mutating func end(exceededTransferLimit: Bool) {
        if layer.byteCount > maximumBytes { prune() }
        layer.append(to: &bytes)
        // Shapes smaller than a pixel are not missed on the map, and points beyond the margin are their own tile's.
        let all = max(total ?? 0, layer.count + skipped)
        guard all > layer.count || geometry.isCut else { return }
        TileNotice.append(layer.name, shown: layer.count, total: all, to: &bytes)
    }
}
