import FieldworkGeometry
import FieldworkREST
import FieldworkTiles

/// The answers of a basemap: ready tiles of a package, and what a map needs to draw them.
struct BasemapService: Sendable {
    let basemap: Basemap
    /// Whether parts of it can be taken along.
    let isExported: Bool

    private var description: TileSetDescription { basemap.package.description }

    private var extent: Envelope? {
        description.box.map {
            Envelope(xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax, spatialReference: .webMercator)
        }
    }

    private func require(_ face: ServiceFace) throws(ServiceError) {
        guard basemap.face == face else {
            throw .notFound("\(basemap.name) is a \(basemap.face.rawValue), not a \(face.rawValue).")
        }
    }

    private func read<Value>(_ body: () throws(TileError) -> Value) throws(ServiceError) -> Value {
        do {
            return try body()
        } catch {
            throw ServiceError(
                code: 500, message: "The basemap \(basemap.name) can't be read.", details: [error.message])
        }
    }

    /// Whether bytes of the package are compressed. Those that can't be expanded are found out before the answer has begun.
    private func isGzipped(_ bytes: [UInt8]) throws(ServiceError) -> Bool {
        guard Self.beginsAsGzip(bytes) else { return false }
        do {
            _ = try GzipReader.expanded(bytes, maximum: FieldworkTiles.Limits.packagePieceBytes)
        } catch {
            throw ServiceError(
                code: 500, message: "The basemap \(basemap.name) can't be read.",
                details: ["What is compressed in the package can't be expanded."])
        }
        return true
    }

    private static func beginsAsGzip(_ bytes: [UInt8]) -> Bool {
        bytes.count > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B
    }

    func root(_ face: ServiceFace) throws(ServiceError) -> JSONValue {
        try require(face)
        let root =
            if face == .map {
                TileResources.imageRoot(
                    name: basemap.title, copyright: description.attribution, extent: extent,
                    levels: description.levels, format: description.format == .jpeg ? "JPEG" : "PNG32",
                    isExported: isExported)
            } else {
                TileResources.root(
                    name: basemap.title, copyright: description.attribution, extent: extent,
                    levels: description.levels, isExported: isExported)
            }
        guard var object = root.objectValue else { return root }
        // Who has taken a part along sees whether another part fits to it.
        object[Self.versionMember] = .string(basemap.tilesVersion)
        return .object(object)
    }

    /// Not part of the vendor's protocol.
    private static let versionMember = "tilesVersion"

    /// A tile as it stands in the package. What was read and checked once is kept for as long as the file is the same.
    func tile(
        _ address: TileAddress, _ face: ServiceFace, _ request: ServiceRequest, keeper: TileKeeper
    ) async throws -> Answer {
        try require(face)
        let tag = "\"\(basemap.version)\""
        if EntityTag.matchesAny(request.ifNoneMatch, tag) { return .unchanged(tag) }
        let key = TileKeeper.Key(
            scope: "\(basemap.name)/\(basemap.version)", name: "\(address.level)/\(address.row)/\(address.column)")
        let bytes = try await keeper.bytes(key) { try checked(address) }
        guard !bytes.isEmpty else { return TileService.answer([], tag) }
        var answer = Answer(contentType: description.format.contentType, body: .bytes(bytes))
        answer.entityTag = tag
        if basemap.isVector {
            answer.isGzipped = Self.beginsAsGzip(bytes)
        } else {
            answer.contentType = TileSetDescription.Format(signature: bytes)?.contentType ?? answer.contentType
            answer.isCompressible = false
        }
        return answer
    }

    /// The bytes of a tile, none where there is no tile. What a client could not read is an error before the answer has begun.
    private func checked(_ address: TileAddress) throws(ServiceError) -> [UInt8] {
        guard let bytes = try read({ () throws(TileError) in try basemap.package.tile(address) }) else { return [] }
        if basemap.isVector {
            _ = try isGzipped(bytes)
        } else if TileSetDescription.Format(signature: bytes) == nil {
            throw ServiceError(
                code: 500, message: "The basemap \(basemap.name) can't be read.",
                details: ["The tile is no image of a known kind."])
        }
        return bytes
    }

    func tileMap(_ block: TileBlock, _ face: ServiceFace) throws -> JSONValue {
        try require(face)
        return try block.json { tile in
            guard description.levels.contains(tile.level) else { return false }
            try WorkAllowance.check()
            return try read { () throws(TileError) in try basemap.package.has(tile) }
        }
    }

    /// The basemap by the standards of the Open Geospatial Consortium.
    func ogc(_ face: ServiceFace, address: String) throws(ServiceError) -> OGCService {
        try require(face)
        return OGCService(
            title: basemap.title, attribution: description.attribution, address: address, face: face,
            tileType: basemap.isVector ? OGCService.vectorTileType : description.format.contentType,
            levels: description.levels, extent: extent, layers: [], boxes: [:],
            tileLayers: description.vectorLayers.compactMap { $0["id"]?.stringValue })
    }

    func tileJSON(base: String) throws(ServiceError) -> JSONValue {
        try require(.vectorTile)
        return TileResources.tileJSON(
            name: basemap.title, attribution: description.attribution, base: base, extent: extent,
            levels: description.levels, layers: description.vectorLayers)
    }

    /// The package's own style, one of ours for the layers that we make, or a plain one.
    /// - Parameters:
    ///   - look: of the styles of ours; others have one look.
    ///   - language: the reader's.
    func style(
        _ addresses: StyleDocument.Addresses, look: BasemapLook = .light, language: String? = nil
    ) throws(ServiceError) -> JSONValue {
        try require(.vectorTile)
        return try read { () throws(TileError) in
            try PackageStyle.json(
                basemap.package, title: basemap.title, addresses: addresses, look: look, language: language)
        }
    }

    /// A sheet of sprites or a range of glyphs of the package; nil where it has none.
    func resource(_ path: String) throws(ServiceError) -> Answer? {
        try require(.vectorTile)
        guard let bytes = try read({ () throws(TileError) in try basemap.package.resource(path) }) else { return nil }
        let type = path.hasSuffix(".png") ? "image/png" : path.hasSuffix(".json") ? Answer.jsonType : Answer.pbfType
        var answer = Answer(contentType: type, body: .bytes(bytes))
        answer.isGzipped = try isGzipped(bytes)
        answer.isCompressible = answer.isGzipped || !path.hasSuffix(".png")
        return answer.tagged()
    }
}
