import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes

extension FeatureService {
    /// `queryRelatedRecords` of a layer or table.
    func queryRelatedRecords(
        _ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        let service = published.definition
        let related = try RelatedQueryRequest(parameters: request.parameters, layer: layer, service: service)
        try Permissions(service: service, layer: related.related).require(.query)
        let tag = try await entityTag(for: request, of: published)
        var answer = try await answer(related, service.name)
        answer.entityTag = tag
        return answer
    }

    private func answer(_ request: RelatedQueryRequest, _ service: ServiceName) async throws -> Answer {
        let pieces: EncodedFeatures
        if request.query.countsOnly {
            pieces = try await store.encodedRelatedFeatures(
                request.query, in: service, encoder: RelatedCountsEncoder())
        } else {
            let encoder = try RelatedRecordsEncoder(layer: request.related, query: request.query.features)
            pieces = try await store.encodedRelatedFeatures(request.query, in: service, encoder: encoder)
        }
        guard request.isPretty else { return Answer(contentType: Answer.jsonType, body: .stream(pieces)) }
        return try await Self.laidOut(pieces)
    }
}
