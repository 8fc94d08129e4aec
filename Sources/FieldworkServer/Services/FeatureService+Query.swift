import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes

extension FeatureService {
    /// `query` of a layer or table (rest-api §3).
    func query(_ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest) async throws
        -> Answer
    {
        try Permissions(service: published.definition, layer: layer).require(.query)
        let query = try QueryRequest(parameters: request.parameters, layer: layer, service: published.definition)
        let address = LayerAddress(service: published.definition.name, layerID: layer.id)
        // Read before the rows: an edit in between makes the answer newer than its tag, never older.
        let tag = try await entityTag(for: request, of: published)
        var answer = try await answer(query, layer, address)
        answer.entityTag = tag
        return answer
    }

    private func answer(_ query: QueryRequest, _ layer: LayerDefinition, _ address: LayerAddress) async throws -> Answer
    {
        .json(.null)
    }

    /// An answer to GET is a function of the address, the definition and the generation, unless it asks for the time.
    private func entityTag(for request: ServiceRequest, of published: PublishedService) async throws -> String? {
        guard request.method != .post, !request.asksForCurrentTime else { return nil }
        return EntityTag.ofState(
            target: request.address, generation: try await store.generation(of: published.definition.name),
            definitionVersion: published.version)
    }
}

extension ServiceRequest {
    /// Whether a condition may depend on when it is asked.
    fileprivate var asksForCurrentTime: Bool {
        parameters["where"]?.lowercased().contains("current_") == true
    }
}
