import FieldworkREST

extension Route {
    /// Taking a part of a basemap along, under both faces. Clients look for jobs below the operation or beside it.
    static func tileExportRoutes(_ base: Base) -> [Route] {
        let operations: [(name: String, operation: ServiceJob.Operation)] = [
            ("exportTiles", .exportTiles), ("estimateExportTilesSize", .estimateTiles),
        ]
        let begun = operations.map { name, operation in
            Route(base, name, metric: .exportTiles, needs: .query) {
                .json(try await $0.tileExports.submit(operation, $0), format: try $0.jsonFormat)
            }
        }
        let jobs = ([""] + operations.map { "\($0.name)/" }).flatMap { prefix in
            [
                Route(base, "\(prefix)jobs/{id}", metric: .exportTiles, needs: .knowsName) {
                    .json(try await $0.tileExports.status($0), format: try $0.jsonFormat)
                },
                Route(base, "\(prefix)jobs/{id}/results/{name}", metric: .exportTiles, needs: .knowsName) {
                    .json(try await $0.tileExports.result($0), format: try $0.jsonFormat)
                },
            ]
        }
        return begun + jobs + [
            Route(base, "jobs/{id}/files", metric: .exportTiles, needs: .knowsName) {
                .json(try await $0.tileExports.files($0), format: try $0.jsonFormat)
            },
            Route(
                base, "\(TileExports.fileFolder)/{name}", .read, [.file], metric: .exportTiles, needs: .knowsName
            ) {
                try await $0.tileExports.replicas.file($0)
            },
        ]
    }
}

extension RouteContext {
    /// What takes parts of the basemap of the address along.
    fileprivate var tileExports: TileExports {
        get throws {
            guard let basemap else {
                throw ServiceError(
                    code: 400, message: "Requested operation is not supported by this service.",
                    details: [
                        "Only basemaps give parts of their tiles. The features of this service are taken along by createReplica."
                    ])
            }
            return TileExports(basemap: basemap.basemap, replicas: try replicas, instance: server.instance)
        }
    }
}
