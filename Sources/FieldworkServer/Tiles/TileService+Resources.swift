import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles

extension TileService {
    /// The root resource.
    func root(_ published: PublishedService) async throws -> JSONValue {
        let service = published.definition
        let layers = try Self.layers(of: service)
        return TileResources.root(
            name: service.name.name, copyright: service.copyrightText,
            extent: try await extent(of: layers, in: published), levels: 0...TileLevels.deepest)
    }

    /// TileJSON 3.0, for everybody else.
    func tileJSON(_ published: PublishedService, base: String) async throws -> JSONValue {
        let service = published.definition
        let layers = try Self.layers(of: service)
        let described = layers.map { layer -> JSONValue in
            var fields = JSONObject()
            for name in StyleFields.names(layer) {
                let isText = layer.field(named: name).map { [.string, .guid, .globalID].contains($0.type) } ?? false
                fields.append(name, isText ? "String" : "Number")
            }
            for (name, isText) in DrawnExpressions(layer)?.attributes ?? [] {
                fields.append(name, isText ? "String" : "Number")
            }
            return [
                "id": .string(layer.name), "fields": .object(fields), "minzoom": 0,
                "maxzoom": JSONValue(TileLevels.deepest),
            ]
        }
        return TileResources.tileJSON(
            name: service.name.name, attribution: service.copyrightText, base: base,
            extent: try await extent(of: layers, in: published), levels: 0...TileLevels.deepest, layers: described)
    }

    func style(_ published: PublishedService, _ addresses: StyleDocument.Addresses) throws -> JSONValue {
        let service = published.definition
        return StyleDocument.json(
            name: service.name.name, layers: try Self.layers(of: service), addresses: addresses)
    }

    /// A sheet of pictures or where they lie on it: `sprite.json`, `sprite.png`, and with `@2x` for fine screens.
    func sprite(_ name: String, of published: PublishedService) async throws -> Answer {
        let layers = try Self.layers(of: published.definition)
        // The definition decides what is on it.
        return try await sprite(
            name, layers: layers, scope: "\(published.definition.name.path)/\(published.version)/sprites")
    }

    /// - Parameter scope: what decides the pictures.
    func sprite(_ name: String, layers: [LayerDefinition], scope: String) async throws -> Answer {
        let scales = ["sprite": 1, "sprite@2x": 2]
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let scale = scales[parts[0]], ["json", "png"].contains(parts[1]) else {
            throw ServiceError.notFound("There is no such sprite.")
        }
        let isIndex = parts[1] == "json"
        let bytes = try await keeper.bytes(.init(scope: scope, name: name)) {
            let sprite = try StyleSprite(symbols: StyleDocument.sprites(layers), scale: scale)
            return isIndex ? Array(sprite.index.text.utf8) : sprite.png
        }
        var answer = Answer(contentType: isIndex ? Answer.jsonType : "image/png", body: .bytes(bytes))
        answer.isCompressible = isIndex
        return answer.tagged()
    }

    /// Which tiles of a block there may be.
    func tileMap(_ block: TileBlock, of published: PublishedService) async throws -> JSONValue {
        let layers = try Self.layers(of: published.definition)
        let box = try await extent(of: layers, in: published).map {
            PlaneBox(xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax)
        }
        return block.json { tile in
            guard let box, tile.level <= TileLevels.deepest else { return false }
            let margin = layers.map { TileFeatureEncoder.margin($0.geometryType ?? .point, tile) }.max() ?? 0
            let (columns, rows) = box.grown(by: margin).tiles(level: tile.level)
            return columns.contains(tile.column) && rows.contains(tile.row)
        }
    }

    /// In metres of the plane.
    private func extent(of layers: [LayerDefinition], in published: PublishedService) async throws -> Envelope? {
        var result: Envelope?
        for layer in layers {
            guard let extent = try await features.extent(of: layer, in: published),
                let plane = try? GeometryEngine.projected(extent, into: .webMercator)
            else { continue }
            result = result.map { GeometryEngine.combineExtents(of: [$0, plane]) ?? $0 } ?? plane
        }
        return result
    }
}
