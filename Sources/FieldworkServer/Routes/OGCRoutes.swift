import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import HTTPTypes

extension Route {
    /// The standards of the Open Geospatial Consortium, below the services whose maps and tiles they give.
    static let ogcRoutes: [Route] =
        ogcDocuments(.mapServer) + ogcDocuments(.vectorTileServer)
        + [
            ogc(.mapServer, "map/tiles") { $0.tileSets },
            ogc(.mapServer, "map/tiles/\(OGCService.gridName)") { $0.tileSet },
            ogc(.vectorTileServer, "tiles") { $0.tileSets },
            ogc(.vectorTileServer, "tiles/\(OGCService.gridName)") { $0.tileSet },
            ogc(.mapServer, "collections") { $0.collections },
            Route(.mapServer, "ogc/collections/{layer}", metric: .layer, needs: .describe) { context in
                try await context.answeringOGC {
                    let ogc = try await context.ogc(.map)
                    let layer = try context.drawnLayer
                    return Answer.json(ogc.collection(layer), format: try context.jsonFormat).tagged()
                }
            },
            Route(.mapServer, "ogc/map", .read, [.file], metric: .export, needs: .query) { context in
                try await context.answeringOGC {
                    let layers = try TileService.layers(of: context.service.definition).filter(\.isVisibleByDefault)
                    return try await context.map(of: layers.reversed())
                }
            },
            Route(.mapServer, "ogc/collections/{layer}/map", .read, [.file], metric: .export, needs: .query) {
                context in
                try await context.answeringOGC { try await context.map(of: [context.drawnLayer]) }
            },
            Route(
                .mapServer, "ogc/map/tiles/\(OGCService.gridName)/{level}/{row}/{column}", .read, [.file],
                metric: .tile, needs: .query
            ) { context in
                try await context.answeringOGC {
                    if let basemap = context.basemap {
                        return try await basemap.tile(
                            context.tile, .map, context.request, keeper: context.tiles.keeper)
                    }
                    return try await context.map.tile(context.tile, of: context.service, context.request)
                }
            },
            Route(
                .vectorTileServer, "ogc/tiles/\(OGCService.gridName)/{level}/{row}/{column}", .read, [.pbf],
                metric: .tile, needs: .query
            ) { context in
                try await context.answeringOGC { try await context.vectorTile }
            },
        ]

    private static func ogcDocuments(_ base: Base) -> [Route] {
        [
            ogc(base, "") { $0.landingPage },
            ogc(base, "api") { $0.api },
            ogc(base, "conformance") { $0.conformance },
            ogc(base, "tileMatrixSets") { $0.grids },
            ogc(base, "tileMatrixSets/\(OGCService.gridName)") { _ in OGCService.grid },
        ]
    }

    private static func ogc(
        _ base: Base, _ path: String, _ document: @escaping @Sendable (OGCService) -> JSONValue
    ) -> Route {
        let face: ServiceFace = base == .vectorTileServer ? .vectorTile : .map
        return Route(base, path.isEmpty ? "ogc" : "ogc/\(path)", metric: .service, needs: .describe) { context in
            try await context.answeringOGC {
                Answer.json(document(try await context.ogc(face)), format: try context.jsonFormat).tagged()
            }
        }
    }
}

extension RouteContext {
    /// The service or basemap of the address as the standards see it.
    fileprivate func ogc(_ face: ServiceFace) async throws -> OGCService {
        if let basemap { return try basemap.ogc(face, address: try ogcAddress(face)) }
        let isVector = face == .vectorTile
        let published = try service
        let layers = try TileService.layers(of: published.definition)
        var boxes: [Int: Envelope] = [:]
        for layer in layers {
            guard let extent = try await features.extent(of: layer, in: published) else { continue }
            boxes[layer.id] = try? GeometryEngine.projected(extent, into: .wgs84)
        }
        let whole = GeometryEngine.combineExtents(of: Array(boxes.values))
        return OGCService(
            title: published.definition.name.name, attribution: published.definition.copyrightText,
            address: try ogcAddress(face), face: face,
            tileType: isVector ? OGCService.vectorTileType : "image/png",
            levels: 0...TileLevels.deepest,
            extent: whole.flatMap { try? GeometryEngine.projected($0, into: .webMercator) }, layers: layers,
            boxes: boxes, tileLayers: isVector ? layers.map(\.name) : [])
    }

    private func ogcAddress(_ face: ServiceFace) throws -> String {
        let name = try basemap.map { ServiceName(name: $0.basemap.name) } ?? service.definition.name
        return "\(request.address(of: "", name, instance: server.instance, face: face))ogc"
    }

    /// The layer of the address, where it is drawn.
    fileprivate var drawnLayer: LayerDefinition {
        get throws {
            let layer = try layer
            guard try TileService.layers(of: service.definition).contains(where: { $0.id == layer.id }) else {
                throw ServiceError.notFound("\(layer.name) has no map.")
            }
            return layer
        }
    }

    fileprivate func map(of layers: [LayerDefinition]) async throws -> Answer {
        var whole: Envelope?
        // To find the extents is work, which a map of a given box does not need.
        if request.parameters["bbox"] == nil {
            let boxes = try await ogc(.map).boxes
            whole = GeometryEngine.combineExtents(of: layers.compactMap { boxes[$0.id] })
        }
        let asked = try OGCMapRequest(request.parameters, layers: layers, whole: whole)
        return try await map.image(asked.export, of: try service, request)
    }

    /// These standards tell by the status of HTTP what is wrong, with the document of RFC 9457.
    fileprivate func answeringOGC(_ body: () async throws -> Answer) async throws -> Answer {
        do {
            return try await body()
        } catch let error as ServiceError where [400, 404].contains(error.code) {
            let status: HTTPResponse.Status = error.code == 404 ? .notFound : .badRequest
            var answer = Answer.json([
                "type": "about:blank", "title": .string(error.message), "status": JSONValue(error.code),
                "detail": .string(error.details.joined(separator: " ")),
            ])
            answer.contentType = "application/problem+json"
            answer.status = status
            answer.errorCode = error.code
            return answer
        }
    }
}
