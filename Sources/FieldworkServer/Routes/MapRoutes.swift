import FieldworkREST

extension Route {
    /// The map service face: read only, and images of maps.
    static let mapRoutes: [Route] =
        [
            Route(
                .mapServer, "", .read, [.json, .pjson, .html], metric: .service, needs: .describe,
                page: { context in
                    if let basemap = context.basemap { return .json(try basemap.root(.map), format: .prettyJSON) }
                    return context.directory.service(try context.service.definition, face: .map)
                },
                answer: {
                    let format = try $0.request.format()
                    if let basemap = $0.basemap { return Answer.json(try basemap.root(.map), format: format).tagged() }
                    return Answer.json(try await $0.map.root($0.service), format: format).tagged()
                }),
            Route(.mapServer, "tile/{level}/{row}/{column}", .read, [.file], metric: .tile, needs: .query) {
                if let basemap = $0.basemap {
                    return try await basemap.tile($0.tile, .map, $0.request, keeper: $0.tiles.keeper)
                }
                return try await $0.map.tile($0.tile, of: $0.service, $0.request)
            },
            Route(.mapServer, "tilemap/{level}/{row}/{column}/{width}/{height}", metric: .service, needs: .describe) {
                let format = try $0.jsonFormat
                if let basemap = $0.basemap {
                    return Answer.json(try basemap.tileMap($0.tileBlock, .map), format: format).tagged()
                }
                return Answer.json(try await $0.tiles.tileMap($0.tileBlock, of: $0.service), format: format).tagged()
            },
            Route(.mapServer, "layers", metric: .service, needs: .describe) {
                Answer.json(try await $0.map.layers($0.service), format: try $0.request.format()).tagged()
            },
            Route(
                .mapServer, "{layer}", .read, [.json, .pjson, .html], metric: .layer, needs: .describe,
                page: { $0.directory.layer(try $0.layer, of: try $0.service.definition, face: .map) },
                answer: {
                    Answer.json(try await $0.map.layer($0.layer, of: $0.service), format: try $0.request.format())
                        .tagged()
                }),
            Route(.mapServer, "{layer}/{objectId}", metric: .feature, needs: .query) {
                try await $0.features.feature($0.objectID, in: $0.layer, of: $0.service, $0.request)
            },
            Route(
                .mapServer, "{layer}/query", .read, [.json, .pjson, .geojson, .pbf, .html], metric: .query,
                needs: .query, page: { try await $0.server.queryPage($0, face: .map) },
                answer: { try await $0.features.query($0.layer, of: $0.service, $0.request) }),
            Route(.mapServer, "{layer}/queryRelatedRecords", metric: .queryRelatedRecords, needs: .query) {
                try await $0.features.queryRelatedRecords($0.layer, of: $0.service, $0.request)
            },
            Route(.mapServer, "export", .read, [.file, .json, .pjson], metric: .export, needs: .query) {
                try await $0.map.export($0.service, $0.request)
            },
            Route(.rest, "directories/output/{id}", .read, [.file], metric: .export, needs: .nothing) {
                try await $0.map.output($0.id)
            },
            Route(
                .webMapService, "WMSServer", .read, [.xml, .file, .text, .html, .geojson], metric: .wms, needs: .query
            ) {
                try await WMSService(map: $0.map, published: $0.service, instance: $0.server.instance).answer(
                    $0.request)
            },
            Route(.mapServer, "identify", metric: .identify, needs: .query) {
                try await $0.map.identify($0.service, $0.request)
            },
            Route(.mapServer, "find", metric: .find, needs: .query) {
                try await $0.map.find($0.service, $0.request)
            },
            Route(.mapServer, "legend", metric: .legend, needs: .describe) {
                let legend = try $0.map.legend($0.service, $0.request.parameters)
                return Answer.json(legend, format: try $0.request.format()).tagged()
            },
            Route(.mapServer, "{layer}/images/{name}", .read, [.file], metric: .legend, needs: .describe) {
                try $0.map.image($0.name, of: $0.layer, $0.request.parameters).tagged()
            },
            Route(.mapServer, "*", metric: .other, needs: .describe) { _ in throw ServiceError.noSuchOperation },
        ] + tileExportRoutes(.mapServer) + unsupported

    /// Operations of map services that there are not. They are refused by name.
    private static let unsupported: [Route] = [
        "generateKml", "queryLegends",
        "dynamicLayer",
    ].map { name in
        Route(.mapServer, "\(name)/*", .read, [], metric: .other, needs: .describe) { _ in
            throw Route.refusal(of: name)
        }
    }

    private static func refusal(of name: String) -> ServiceError {
        ServiceError(
            code: 400, message: "Requested operation is not supported by this service.",
            details: ["'\(name)' is not supported by this map service."])
    }
}
