package import FieldworkREST

/// Attachments of every store that keeps the data of each service by itself.
extension ServiceStore {
    package func attachments(_ query: AttachmentQuery, in layer: LayerAddress) async throws -> AttachmentPage {
        try await data(of: layer.service).attachments(query, in: layer.layerID)
    }

    package func attachmentCounts(_ query: AttachmentQuery, in layer: LayerAddress) async throws -> [AttachmentCount] {
        try await data(of: layer.service).attachmentCounts(query, in: layer.layerID)
    }

    package func attachmentContent(
        _ id: AttachmentIdentifier, of objectID: Int64?, range: Range<Int>?, in layer: LayerAddress
    ) async throws -> StoredAttachment? {
        try await data(of: layer.service).attachmentContent(id, of: objectID, range: range, in: layer.layerID)
    }

    package func attachmentChanges(
        after generation: Int64, in layer: LayerAddress, limit: Int
    ) async throws -> [AttachmentChange] {
        try await data(of: layer.service).attachmentChanges(after: generation, in: layer.layerID, limit: limit)
    }

    package func attachmentHistory(of objectID: Int64, in layer: LayerAddress) async throws -> [AttachmentVersion] {
        try await data(of: layer.service).attachmentHistory(of: objectID, in: layer.layerID)
    }

    package func attachmentContent(ofVersion version: Int64, in layer: LayerAddress) async throws -> EncodedFeatures? {
        try await data(of: layer.service).attachmentContent(ofVersion: version, in: layer.layerID)
    }
}

extension GeoPackageStore: AttachmentStore {}
extension PostgresStore: AttachmentStore {}
