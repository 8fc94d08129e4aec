import Fieldwork

/// Brings features into one tile: to tile units, clipped where they are large, rounded, without repeats.
struct TileEncoder {
    private let layer: MapLayer
    private let kind: GeometryKind
    private let address: TileAddress
    private let area: Envelope
    private var tile = VectorTile()
    private var occupied: [Int: UInt8] = [:]

    init(layer: MapLayer, kind: GeometryKind, address: TileAddress, area: Envelope) {
        self.layer = layer
        self.kind = kind
        self.address = address
        self.area = area
    }

    func encoded() -> [UInt8] { tile.encoded() }

    mutating func add(_ feature: Feature) {
        guard let id = layer.objectID(of: feature), let geometry = feature.geometry,
            let symbol = layer.symbology.classIndex(of: { feature.attributeValue(forKey: $0) })
        else { return }
        switch geometry {
        case let point as Point:
            addPoints([(point.x, point.y)], id: id, symbol: symbol)
        case let points as Multipoint:
            addPoints(points.points.map { ($0.x, $0.y) }, id: id, symbol: symbol)
        case let shape as Multipart:
            addShape(shape, id: id, symbol: symbol)
        default:
            return
        }
    }

    private mutating func addPoints(_ points: [(Double, Double)], id: Int64, symbol: Int) {
        let placed = points.map { unit(x: $0.0, y: $0.1) }
        // Several on the same spot look like one: a cell of two pixels takes four at most.
        if let first = placed.first, address.level < 15 {
            let cell = (first.y >> 4) * 1_024 + (first.x >> 4)
            let count = occupied[cell, default: 0]
            guard count < 4 else { return }
            occupied[cell] = count + 1
        }
        tile.add(id: id, symbol: symbol, kind: .point, parts: [placed])
    }

    private mutating func addShape(_ shape: Multipart, id: Int64, symbol: Int) {
        let extent = shape.extent
        let inside =
            extent.xMin >= area.xMin && extent.xMax <= area.xMax && extent.yMin >= area.yMin
            && extent.yMax <= area.yMax
        let clipped = inside ? shape : GeometryEngine.clip(shape, to: area) as? Multipart
        guard let clipped else { return }
        let parts = clipped.parts.map { part in part.points.map { unit(x: $0.x, y: $0.y) } }
        tile.add(id: id, symbol: symbol, kind: kind == .polygon ? .polygon : .line, parts: parts)
    }

    private func unit(x: Double, y: Double) -> (x: Int, y: Int) {
        let scale = Double(VectorTile.extent) / address.side
        func bounded(_ value: Double) -> Int {
            Int(min(max(value, -1e6), 1e6).rounded())
        }
        return (bounded((x - address.xMin) * scale), bounded((address.yMax - y) * scale))
    }
}
