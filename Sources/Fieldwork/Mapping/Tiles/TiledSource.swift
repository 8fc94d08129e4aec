import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation

/// Where the tiles of a layer come from: a service, or a file on this device.
enum TiledSource: Sendable {
    case service(URL, any ServiceClient)
    case package(any TilePackage)

    /// What the source says of itself.
    func description() async throws -> TiledDescription {
        switch self {
        case .service(let url, let client):
            return TiledDescription(try await Self.json(url, [("f", "json")], client))
        case .package(let package):
            return TiledDescription(package.description)
        }
    }

    /// A tile's bytes, expanded; nil for a tile that there is none of.
    func tile(_ key: TileKey) async throws -> Data? {
        guard key.isValid else { return nil }
        switch self {
        case .service(let url, let client):
            let path = "tile/\(key.level)/\(key.row)/\(key.column)"
            return try await Self.bytes(url.appending(path: path), client)
        case .package(let package):
            guard let address = TileAddress(level: key.level, column: key.column, row: key.row) else { return nil }
            return try Self.file { () throws(TileError) in try package.tile(address) }
        }
    }

    /// A file beside the tiles, below `resources` of a service.
    func resource(_ path: String) async throws -> Data? {
        switch self {
        case .service(let url, let client):
            return try await Self.bytes(url.appending(path: "resources/\(path)"), client)
        case .package(let package):
            return try Self.file { () throws(TileError) in try package.resource(path) }
        }
    }

    /// The style.
    /// - Parameter variant: one of the looks of the maps that Fieldwork makes; another source has one look.
    func style(_ variant: String?) async throws -> Data? {
        guard case .package(let package) = self else { return try await resource("styles/root.json") }
        let look = variant.flatMap(BasemapLook.init(rawValue:)) ?? .light
        return try Self.file { () throws(TileError) in
            let style = try PackageStyle.json(
                package, title: package.description.name, addresses: .relative, look: look)
            return Array(style.text.utf8)
        }
    }

    private static func file(_ read: () throws(TileError) -> [UInt8]?) throws -> Data? {
        let bytes: [UInt8]?
        do throws(TileError) {
            bytes = try read()
        } catch {
            throw CommonError.illegalState(details: error.message)
        }
        return try bytes.map { Data(try expanded($0)) }
    }

    private static func expanded(_ bytes: [UInt8]) throws -> [UInt8] {
        guard bytes.starts(with: [0x1F, 0x8B]) else { return bytes }
        do {
            return try GzipReader.expanded(bytes, maximum: FieldworkTiles.Limits.packagePieceBytes)
        } catch {
            throw CommonError.illegalState(details: "What is compressed in the package can't be expanded.")
        }
    }

    /// nil where the service says that there is nothing.
    static func bytes(_ url: URL, _ client: any ServiceClient) async throws -> Data? {
        do {
            let answer = try await client.answer(to: ServiceRequest(url))
            guard answer.status != 404, answer.status != 204, !answer.bytes.isEmpty else { return nil }
            // A JSON document is the style, an index, or an error.
            if answer.bytes.first == UInt8(ascii: "{") { try Self.checkProtocol(answer.bytes) }
            return Data(try expanded(answer.bytes))
        } catch ServiceError.serverFailure(_, code: 404) {
            return nil
        }
    }

    private static func json(
        _ url: URL, _ parameters: [(name: String, value: String)], _ client: any ServiceClient
    ) async throws -> JSONValue {
        let answer = try await client.answer(to: ServiceRequest(url, parameters))
        try checkProtocol(answer.bytes)
        guard let json = try? JSONParser.parse(answer.bytes) else {
            throw ServiceError.unknown(details: "\(url.absoluteString) did not answer in JSON.")
        }
        return json
    }

    /// The protocol says what went wrong in the body.
    private static func checkProtocol(_ bytes: [UInt8]) throws {
        guard let error = (try? JSONParser.parse(bytes))?["error"], error.objectValue != nil else { return }
        throw ServiceError.serverFailure(
            details: error["message"]?.stringValue ?? "The service refused.",
            code: error["code"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0)
    }
}

/// What a source of tiles says of itself.
struct TiledDescription: Sendable {
    var name = ""
    var attribution = ""
    var levels = 0...22
    var extent: Envelope?
    /// Pixels of a tile across and down.
    var tileSize = 512

    init() {}

    init(_ json: JSONValue) {
        name = json["name"]?.stringValue ?? json["mapName"]?.stringValue ?? ""
        attribution = json["copyrightText"]?.stringValue ?? ""
        extent = json["fullExtent"].flatMap { (try? GeoServicesJSON.geometry(from: $0)) as? Envelope }
        tileSize = json["tileInfo"]?["rows"]?.integerValue.flatMap { Int(exactly: $0) } ?? tileSize
        let lods = (json["tileInfo"]?["lods"]?.arrayValue ?? [])
            .compactMap { $0["level"]?.integerValue.flatMap { Int(exactly: $0) } }
        let least = json["minLOD"]?.integerValue.flatMap { Int(exactly: $0) } ?? lods.min() ?? 0
        let most =
            json["maxLOD"]?.integerValue.flatMap { Int(exactly: $0) }
            ?? json["maxzoom"]?.integerValue.flatMap { Int(exactly: $0) } ?? lods.max() ?? 22
        if (0...24).contains(least), (least...24).contains(most) { levels = least...most }
    }

    init(_ set: TileSetDescription) {
        name = set.name
        attribution = set.attribution
        levels = set.levels
        tileSize = set.format == .vector ? 512 : 256
        extent = set.box.map {
            Envelope(xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax, spatialReference: .webMercator)
        }
    }
}
