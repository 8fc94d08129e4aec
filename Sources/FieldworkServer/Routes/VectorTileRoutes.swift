import FieldworkGeometry
import FieldworkREST
import FieldworkTiles

extension Route {
    /// The vector tile face: tiles of the service's layers, and what a map needs to draw them.
    static let vectorTileRoutes: [Route] =
        [
            Route(.vectorTileServer, "", metric: .service, needs: .describe) {
                if let basemap = $0.basemap {
                    return Answer.json(try basemap.root(.vectorTile), format: try $0.jsonFormat).tagged()
                }
                return Answer.json(try await $0.tiles.root($0.service), format: try $0.jsonFormat).tagged()
            },
            Route(.vectorTileServer, "tile/{level}/{row}/{column}", .read, [.pbf], metric: .tile, needs: .query) {
                try await $0.vectorTile
            },
            Route(.vectorTileServer, "xyz/{level}/{column}/{row}", .read, [.pbf], metric: .tile, needs: .query) {
                try await $0.vectorTile
            },
            Route(.vectorTileServer, "tilejson.json", .read, [.json], metric: .service, needs: .describe) {
                let base = try $0.vectorTileBase
                if let basemap = $0.basemap { return Answer.json(try basemap.tileJSON(base: base)).tagged() }
                return Answer.json(try await $0.tiles.tileJSON($0.service, base: base)).tagged()
            },
            Route(
                .vectorTileServer, "tilemap/{level}/{row}/{column}/{width}/{height}", metric: .service, needs: .describe
            ) {
                let block = try $0.tileBlock
                let format = try $0.jsonFormat
                if let basemap = $0.basemap {
                    return Answer.json(try basemap.tileMap(block, .vectorTile), format: format).tagged()
                }
                return Answer.json(try await $0.tiles.tileMap(block, of: $0.service), format: format).tagged()
            },
            Route(.vectorTileServer, "resources/info", metric: .service, needs: .describe) {
                Answer.json(TileResources.info, format: try $0.jsonFormat).tagged()
            },
            Route(.vectorTileServer, "resources/info/root.json", .read, [.json], metric: .service, needs: .describe) {
                _ in
                Answer.json(TileResources.info).tagged()
            },
            Route(.vectorTileServer, "resources/styles", metric: .service, needs: .describe) {
                Answer.json(try $0.style(.relative), format: try $0.jsonFormat).tagged()
            },
            Route(.vectorTileServer, "resources/styles/root.json", .read, [.json], metric: .service, needs: .describe) {
                Answer.json(try $0.style(.relative)).tagged()
            },
            Route(
                .vectorTileServer, "resources/styles/maplibre.json", .read, [.json], metric: .service, needs: .describe
            ) {
                Answer.json(try $0.style(.absolute($0.vectorTileBase))).tagged()
            },
            Route(.vectorTileServer, "resources/styles/{name}", .read, [.json], metric: .service, needs: .describe) {
                let name = try $0.name
                guard let look = BasemapLook.allCases.first(where: { "\($0.rawValue).json" == name }) else {
                    throw ServiceError.notFound("There is no such style.")
                }
                return Answer.json(try $0.style(.absolute($0.vectorTileBase), look: look)).tagged()
            },
            Route(.vectorTileServer, "resources/sprites/{name}", .read, [.file], metric: .service, needs: .describe) {
                guard let basemap = $0.basemap else { return try await $0.tiles.sprite($0.name, of: $0.service) }
                if let own = try basemap.resource("sprites/\($0.name)") { return own }
                return try await $0.tiles.sprite($0.name, layers: [], scope: "empty/sprites")
            },
            Route(
                .vectorTileServer, "resources/fonts/{font}/{name}", .read, [.file], metric: .service, needs: .describe
            ) {
                if let own = try $0.basemap?.resource("fonts/\($0.font)/\($0.name)") { return own }
                return try await $0.tiles.glyphs($0.font, $0.name)
            },
            Route(.vectorTileServer, "*", metric: .other, needs: .describe) { _ in throw ServiceError.noSuchOperation },
        ] + tileExportRoutes(.vectorTileServer)
}

extension RouteContext {
    var tile: TileAddress {
        get throws {
            guard let tile = values.tile else { throw ServiceError.notFound("The grid has no such tile.") }
            return tile
        }
    }

    var tileBlock: TileBlock {
        get throws {
            try TileBlock(corner: tile, width: width, height: height)
        }
    }

    /// The tile of the address, of the service or of the basemap.
    var vectorTile: Answer {
        get async throws {
            if let basemap { return try await basemap.tile(tile, .vectorTile, request, keeper: tiles.keeper) }
            return try await tiles.tile(tile, of: service, request)
        }
    }

    /// - Parameter look: that of the parameter `style`, where it is nil.
    fileprivate func style(_ addresses: StyleDocument.Addresses, look: BasemapLook? = nil) throws -> JSONValue {
        guard let basemap else { return try tiles.style(service, addresses) }
        let named = try request.parameters["style"].map { name in
            guard let look = BasemapLook(rawValue: name.lowercased()) else {
                throw ServiceError.notFound(
                    "There is no style '\(name.prefix(40))'. There are light, dark and sunlight.")
            }
            return look
        }
        return try basemap.style(addresses, look: look ?? named ?? .light, language: request.parameters["lang"])
    }

    /// The address of the service's vector tiles, as the client sees the server.
    var vectorTileBase: String {
        get throws {
            let name = try basemap.map { ServiceName(name: $0.basemap.name) } ?? service.definition.name
            return String(request.address(of: "", name, instance: server.instance, face: .vectorTile).dropLast())
        }
    }
}
