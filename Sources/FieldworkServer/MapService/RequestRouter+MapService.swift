import FieldworkREST

extension RequestRouter {
    /// Answers under `MapServer`.
    func answer(_ resource: MapServiceResource, of published: PublishedService, _ request: ServiceRequest)
        async throws -> Answer
    {
        let map = MapService(features: service)
        switch resource {
        case .root:
            let format = try request.format()
            if format == .html { return directory.service(published.definition, face: .map) }
            return tagged(.json(try await map.root(published), format: format))
        case .layers:
            return tagged(.json(try await map.layers(published), format: try request.format()))
        case .layer(let id):
            let layer = try published.layer(id: id)
            let format = try request.format()
            if format == .html { return directory.layer(layer, of: published.definition, face: .map) }
            return tagged(.json(try await map.layer(layer, of: published), format: format))
        case .feature(let layerID, let objectID):
            return try await service.feature(objectID, in: published.layer(id: layerID), of: published, request)
        case .query(let layerID):
            let layer = try published.layer(id: layerID)
            if request.wantsPage { return try await queryPage(layer, of: published, face: .map, request) }
            return try await service.query(layer, of: published, request)
        case .queryRelatedRecords(let layerID):
            return try await service.queryRelatedRecords(published.layer(id: layerID), of: published, request)
        case .identify: return try await map.identify(published, request)
        case .find: return try await map.find(published, request)
        case .legend:
            return tagged(.json(try map.legend(published, request.parameters), format: try request.format()))
        case .image(let layerID, let name):
            return tagged(try map.image(name, of: published.layer(id: layerID)))
        case .drawing(let name):
            throw ServiceError(
                code: 400, message: "Requested operation is not supported by this service.",
                details: ["This map service draws no maps: '\(name)' is not supported."])
        case .unknown:
            throw ServiceError(
                code: 400, message: "Invalid URL", details: ["The service has no such resource or operation."])
        }
    }
}
