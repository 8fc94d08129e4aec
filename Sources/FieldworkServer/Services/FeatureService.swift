import FieldworkGeometry
import FieldworkREST
import FieldworkStore

struct FeatureService: Sendable {
    let store: any FeatureStore
    func root(_ s: PublishedService) async throws -> JSONValue { .null }
    func layers(_ s: PublishedService) async throws -> JSONValue { .null }
    func relationships(_ s: PublishedService) -> JSONValue { .null }
    func layer(_ l: LayerDefinition, of s: PublishedService) async throws -> JSONValue { .null }
    func feature(_ id: Int64, in l: LayerDefinition, of s: PublishedService, _ r: ServiceRequest) async throws -> Answer
    { .json(.null) }
    func query(_ l: LayerDefinition, of s: PublishedService, _ r: ServiceRequest) async throws -> Answer {
        .json(.null)
    }
    func edit(_ o: LayerOperation, _ l: LayerDefinition, of s: PublishedService, _ r: ServiceRequest) async throws
        -> Answer
    { .json(.null) }
    func applyEdits(to s: PublishedService, _ r: ServiceRequest) async throws -> Answer { .json(.null) }
}
