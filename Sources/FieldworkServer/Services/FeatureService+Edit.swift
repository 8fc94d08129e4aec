import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes

extension FeatureService {
    /// `addFeatures`, `updateFeatures`, `deleteFeatures` and `applyEdits` of a layer or table (rest-api §4.4, §4.5).
    func edit(
        _ operation: LayerOperation, _ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        .json(.null)
    }

    /// `applyEdits` of the service: several layers in one transaction (rest-api §4.6).
    func applyEdits(to published: PublishedService, _ request: ServiceRequest) async throws -> Answer {
        .json(.null)
    }
}
