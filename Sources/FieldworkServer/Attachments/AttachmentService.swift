import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Files that belong to features, over a store that keeps them.
struct AttachmentService: Sendable {
    let store: any AttachmentStore
    let uploads: UploadService
    let instance: String
    /// The moment of an edit.
    var now: @Sendable () -> Date = { Date() }

    private static func requireAttachments(of layer: LayerDefinition) throws(ServiceError) {
        guard layer.hasAttachments else { throw .invalidParameter("The layer has no attachments.") }
    }

    private static func format(_ request: ServiceRequest) throws(ServiceError) -> AnswerFormat {
        try request.format() == .json ? .json : .prettyJSON
    }

    // MARK: Reading

    func list(_ context: RouteContext) async throws -> Answer {
        let (published, layer, objectID, request) =
            (try context.service, try context.layer, try context.objectID, context.request)
        try Self.requireAttachments(of: layer)
        try request.parameters.refuse(["gdbVersion"])
        try await requireFeature(objectID, layer, published)
        let page = try await store.attachments(Self.query(objectID, layer), in: Self.address(layer, published))
        return .json(AttachmentAnswer.list(page.attachments), format: try Self.format(request))
    }

    /// The attachments of one feature, if whoever asks may see it.
    private static func query(_ objectID: Int64, _ layer: LayerDefinition) -> AttachmentQuery {
        var features = FeatureQuery(objectIDs: [objectID])
        features.restrict(to: layer)
        return AttachmentQuery(features: features)
    }

    private static func address(_ layer: LayerDefinition, _ published: PublishedService) -> LayerAddress {
        LayerAddress(service: published.definition.name, layerID: layer.id)
    }

    private func requireFeature(
        _ objectID: Int64, _ layer: LayerDefinition, _ published: PublishedService
    ) async throws {
        let query = Self.query(objectID, layer).features
        guard try await store.count(query, in: Self.address(layer, published)) > 0 else {
            throw ServiceError.notFound("There is no feature with the object id \(objectID).")
        }
    }

    func content(_ context: RouteContext) async throws -> Answer {
        let (published, layer, request) = (try context.service, try context.layer, context.request)
        let (objectID, id) = (try context.objectID, try context.attachmentID)
        try Self.requireAttachments(of: layer)
        let address = Self.address(layer, published)
        var query = Self.query(objectID, layer)
        query.ids = [id]
        let missing = ServiceError.notFound("The feature \(objectID) has no attachment \(id).")
        guard let info = try await store.attachments(query, in: address).attachments.first else { throw missing }
        guard let range = ByteRange.wanted(request.range, of: info.size) else {
            return .rangeNotSatisfiable(of: info.size)
        }
        let wanted = Int(range.lowerBound)..<Int(range.upperBound)
        guard
            let found = try await store.attachmentContent(.id(id), of: objectID, range: wanted, in: address)
        else { throw missing }
        guard found.info.size == info.size else {
            throw ServiceError(code: 503, message: "The attachment was changed in this moment. Try again.")
        }
        return Self.answer(found, range)
    }

    /// Attachments come from anybody: a browser shows only what can't run, never guesses a type, and gives what it shows no
    /// rights over the service.
    private static func answer(_ found: StoredAttachment, _ range: Range<Int64>) -> Answer {
        var answer = Answer(
            contentType: AttachmentTypes.servedType(found.info.contentType), body: .stream(found.pieces))
        answer.isCompressible = false
        answer.disposition = ContentDisposition.text(
            name: found.info.name, isShown: AttachmentTypes.isShown(found.info.contentType))
        answer.setRange(range, of: found.info.size)
        return answer
    }

    /// `queryAttachments` of a layer or table.
    func query(
        _ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        try Self.requireAttachments(of: layer)
        let asked = try AttachmentQueryRequest(request.parameters, layer: layer)
        let format = try Self.format(request)
        let address = Self.address(layer, published)
        guard !asked.countsOnly else {
            return .json(
                AttachmentAnswer.counts(try await store.attachmentCounts(asked.query, in: address)), format: format)
        }
        let page = try await store.attachments(asked.query, in: address)
        let base = request.address(of: "\(layer.id)", published.definition.name, instance: instance)
        let url: ((AttachmentInfo) -> String)? =
            asked.returnsURL ? { "\(base)/\($0.parentObjectID)/attachments/\($0.id)" } : nil
        return .json(AttachmentAnswer.groups(page, url: url), format: format)
    }

    // MARK: Editing

    func edit(_ operation: AttachmentEditRequest.Operation, _ context: RouteContext) async throws -> Answer {
        let (published, layer, objectID, request) =
            (try context.service, try context.layer, try context.objectID, context.request)
        try Self.requireAttachments(of: layer)
        let file = request.files["attachment"]
        let name = published.definition.name
        let (edits, found) = try await uploads.reading(name, editor: request.editor) { finder in
            try AttachmentEditRequest(
                operation, request.parameters, file: file?.uploaded, uploads: finder, layer: layer,
                objectID: objectID, moment: now(), editor: request.editor)
        }
        for layerEdits in edits.batch.layers {
            try Permissions(service: published.definition, layer: layer).require(for: layerEdits)
        }
        // What whoever asks can't see, has no attachments for him.
        if layer.restriction != nil { try await requireFeature(objectID, layer, published) }
        let result = try await store.apply(edits.batch, to: name)
        // The file stays until the store has read it.
        return try withExtendedLifetime((file, found)) { .json(edits.answer(result), format: try Self.format(request)) }
    }
}
