import FieldworkGeometry
package import Foundation

/// Makes a package of vector tiles (MBTiles) of features that come in any order.
///
/// Each feature is cut into its tiles at once; the parts wait in a spill, sorted by tile, until all features are there. Memory holds
/// a part of the spill and one tile at a time, however large the map is.
package struct BasemapMaker: ~Copyable {
    /// How far the work is.
    package struct Progress: Sendable {
        package var step: String
        package var count: Int
    }

    package struct Summary: Sendable {
        package var features = 0
        package var tiles = 0
        package var bytes = 0
        package var largestTile = 0
        /// Tiles that have less than there is, since they would be too large.
        package var thinnedTiles = 0
    }

    /// What the package says of itself.
    package struct Options: Sendable {
        package var name: String
        package var attribution: String
        package var levels: ClosedRange<Int>
        /// The mark of a style that knows the layers.
        package var schema: String?
        /// Only tiles that touch it are made; all, where it is nil.
        package var box: PlaneBox?

        package init(
            name: String, attribution: String = "", levels: ClosedRange<Int>, schema: String? = nil,
            box: PlaneBox? = nil
        ) {
            (self.name, self.attribution, self.levels) = (name, attribution, levels)
            (self.schema, self.box) = (schema, box)
        }
    }

    /// Metres around what is drawn: the box of a single point is none.
    private static let pointMargin = 1.0

    private let options: Options
    private let target: URL
    private let progress: (Progress) -> Void
    private var slicers: [ShapeSlicer]
    private var spill: TileSpill
    private var layers: [String]
    private var directed: Set<String>
    private var box: PlaneBox?
    private var summary = Summary()

    /// - Parameters:
    ///   - target: the file to make; a file beside it holds what doesn't fit into memory meanwhile.
    ///   - layers: the names of layers in the order in which they stand in tiles; others come after them.
    ///   - directed: layers whose lines have a direction that matters.
    package init(
        _ options: Options, at target: URL, layers: [String] = [], directed: Set<String> = [],
        progress: @escaping (Progress) -> Void = { _ in }
    ) {
        (self.options, self.target, self.progress) = (options, target, progress)
        let world = PlaneBox(
            xMin: -WebMercator.halfSide, yMin: -WebMercator.halfSide, xMax: WebMercator.halfSide,
            yMax: WebMercator.halfSide)
        slicers = options.levels.map { level in
            ShapeSlicer(
                level: level, isDeepest: level == options.levels.upperBound,
                tiles: (options.box ?? world).tiles(level: level))
        }
        spill = TileSpill(file: target.appendingPathExtension("parts"))
        (self.layers, self.directed) = (layers, directed)
        box = nil
    }

    package mutating func add(_ feature: MapFeature) throws {
        summary.features += 1
        if summary.features % 1_024 == 0 {
            try Task.checkCancellation()
            progress(Progress(step: "Cutting features into tiles", count: summary.features))
        }
        let layer = try number(of: feature.layer)
        let rank = UInt64(layer) << 32 | UInt64(feature.order)
        switch feature.shape {
        case .point(let x, let y): try note(PlaneBox(xMin: x, yMin: y, xMax: x, yMax: y))
        case .line(let shape), .area(let shape):
            guard let box = shape.box else { return }
            try note(box)
        }
        var tags: (bytes: [UInt8], count: Int) = ([], -1)
        for index in slicers.indices where slicers[index].level >= feature.level {
            let level = slicers[index].level
            if let deepest = feature.deepest, level > deepest { break }
            let count = feature.tags.count { $0.level <= level }
            if count != tags.count { tags = (PartBytes.tags(feature.tags, level: level), count) }
            try add(feature, slicer: index, rank: rank, tags: tags.bytes)
        }
    }

    private mutating func number(of layer: String) throws(TileError) -> Int {
        if let known = layers.firstIndex(of: layer) { return known }
        guard layers.count < Limits.basemapLayers else {
            throw TileError(.tooLarge, "A basemap has \(Limits.basemapLayers) layers at most.")
        }
        layers.append(layer)
        return layers.count - 1
    }

    private mutating func note(_ other: PlaneBox) throws {
        guard options.box == nil else { return }
        guard let known = box else {
            box = other
            return
        }
        box = PlaneBox(
            xMin: min(known.xMin, other.xMin), yMin: min(known.yMin, other.yMin), xMax: max(known.xMax, other.xMax),
            yMax: max(known.yMax, other.yMax))
    }

    private mutating func add(_ feature: MapFeature, slicer index: Int, rank: UInt64, tags: [UInt8]) throws {
        let level = slicers[index].level
        func put(
            _ column: Int, _ row: Int, _ kind: VectorLayer.Kind, _ slices: [ShapeSlicer.Slice],
            _ spill: inout TileSpill
        ) throws {
            try spill.add(tile: TileSpill.key(level: level, column: column, row: row), rank: rank) { bytes in
                PartBytes.append(tags, kind, to: &bytes)
                for slice in slices { PartBytes.append(slice.part, isShell: slice.isShell, to: &bytes) }
            }
        }
        switch feature.shape {
        case .point(let x, let y):
            guard let (column, row, place) = slicers[index].point(x: x, y: y) else { return }
            let slice = ShapeSlicer.Slice(part: TilePart(places: [place]), isShell: true)
            try put(column, row, .point, [slice], &spill)
        case .line(let shape):
            try slicers[index].lines(shape) { try put($0, $1, .line, $2, &spill) }
        case .area(let shape):
            try slicers[index].areas(shape, leastPixels: feature.leastPixels) { try put($0, $1, .polygon, $2, &spill) }
        }
    }

    // MARK: Finishing

    /// Writes the tiles. The file is whole when it returns; there is none when it throws.
    package consuming func finish() throws -> Summary {
        do {
            return try write()
        } catch {
            try? FileManager.default.removeItem(at: target)
            throw error
        }
    }

    private mutating func write() throws -> Summary {
        let writer = try MBTilesWriter(path: target.path, format: .vector)
        let assembly = TileAssembly(layers: layers, directed: directed)
        var fields = LayerFields(layers)
        var waiting: [TileSpill.Record] = []
        var bytes = 0
        try spill.forEach { record in
            if let first = waiting.first, first.tile != record.tile {
                try Self.write(waiting, assembly, &fields, &summary, writer)
                progress(Progress(step: "Writing tiles", count: summary.tiles))
                waiting.removeAll(keepingCapacity: true)
                bytes = 0
            }
            bytes += record.bytes.count
            // What comes last is what a tile needs least.
            if bytes <= Limits.basemapTilePartBytes { waiting.append(record) }
        }
        try Self.write(waiting, assembly, &fields, &summary, writer)
        guard summary.tiles > 0 else {
            let levels = options.levels
            throw TileError(
                .broken, "There is nothing to draw at the levels \(levels.lowerBound) to \(levels.upperBound).")
        }
        try writer.finish(
            TileSetDescription(
                name: options.name, attribution: options.attribution, format: .vector, levels: options.levels,
                box: options.box ?? box?.grown(by: Self.pointMargin), vectorLayers: fields.json(levels: options.levels),
                schema: options.schema))
        return summary
    }

    private static func write(
        _ records: [TileSpill.Record], _ assembly: TileAssembly, _ fields: inout LayerFields,
        _ summary: inout Summary, _ writer: MBTilesWriter
    ) throws {
        guard let key = records.first?.tile, let address = TileSpill.address(key) else { return }
        try Task.checkCancellation()
        let tile = try assembly.tile(records) { layer, tags in fields.note(layer, address.level, tags) }
        guard !tile.bytes.isEmpty else { return }
        try writer.add(tile.bytes, at: address)
        summary.tiles += 1
        summary.bytes += tile.bytes.count
        summary.largestTile = max(summary.largestTile, tile.bytes.count)
        if tile.omitted > 0 { summary.thinnedTiles += 1 }
    }
}

/// Which attributes the layers of a package have, as TileJSON says it.
private struct LayerFields {
    private let order: [String]
    private var fields: [String: [String: String]] = [:]
    private var levels: [String: Int] = [:]

    init(_ order: [String]) { self.order = order }

    mutating func note(_ layer: String, _ level: Int, _ tags: [(key: String, value: VectorLayer.Value)]) {
        levels[layer] = min(levels[layer] ?? level, level)
        for tag in tags where fields[layer]?[tag.key] == nil {
            let type = if case .text = tag.value { "String" } else { "Number" }
            fields[layer, default: [:]][tag.key] = type
        }
    }

    func json(levels range: ClosedRange<Int>) -> [JSONValue] {
        order.compactMap { layer in
            guard let least = levels[layer] else { return nil }
            var object = JSONObject()
            for (key, type) in (fields[layer] ?? [:]).sorted(by: { $0.key < $1.key }) { object[key] = .string(type) }
            return [
                "id": .string(layer), "fields": .object(object), "minzoom": JSONValue(least),
                "maxzoom": JSONValue(range.upperBound),
            ]
        }
    }
}
