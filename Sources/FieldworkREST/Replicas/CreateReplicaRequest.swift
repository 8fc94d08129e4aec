import FieldworkGeometry
package import Foundation

/// A request for a replica.
package struct CreateReplicaRequest: Sendable {
    /// In what form the rows are given.
    package enum Format: String, Sendable, CaseIterable {
        case json
        /// A GeoPackage with our own tables of changes, in which a client can work as it stands.
        case sqlite
    }

    package var definition: ReplicaDefinition
    package var format: Format
    package var transport: ReplicaTransport
    package var isAsynchronous: Bool
    /// The client has the rows already and wants only to be registered.
    package var registersExistingData: Bool
    /// The replica is prepared for others to start from: its file is kept, and nobody synchronises it. Ours, and not part of the
    /// protocol.
    package var isPrepared = false
    /// The prepared replica whose file and rows the new one starts from.
    package var referenceID: UUID?
    /// Attachments come as addresses, not as data.
    package var returnsAttachmentsByURL: Bool

    package init(
        _ parameters: RequestParameters, service: ServiceDefinition, id: UUID, owner: String?, moment: Date
    ) throws(ServiceError) {
        let scope = try ReplicaScope(parameters, service: service)
        format = try parameters.choice("dataFormat", Format.self) ?? .json
        try parameters.refuse(["gdbVersion"])
        let model = try parameters.choice("syncModel", ReplicaDefinition.SyncModel.self) ?? .none
        let target = try parameters.choice("targetType", ReplicaDefinition.Target.self) ?? .client
        let direction = try parameters.choice("syncDirection", SyncDirection.self)
        definition = ReplicaDefinition(
            id: id, name: parameters["replicaName"] ?? "Replica_\(id.uuidString.prefix(8))", owner: owner,
            syncModel: model, target: target,
            direction: direction ?? (target == .client ? .bidirectional : .download), layers: scope.layers,
            geometry: scope.geometry, outputReference: try parameters.spatialReference("replicaSR"),
            attachments: try Self.attachments(parameters), created: moment)
        transport = try ReplicaTransport(parameters)
        isAsynchronous = try parameters.bool("async") ?? false
        returnsAttachmentsByURL = try parameters.bool("returnAttachmentsDataByUrl") ?? false
        registersExistingData = false
        if let options = try parameters.json("replicaOptions")?.objectValue {
            registersExistingData = options.bool("registerExistingData") ?? false
            isPrepared = options.bool("prepared") ?? false
            if let text = options.string("refReplicaId") {
                guard let id = GUID.parse(text) else {
                    throw .invalidParameter("'refReplicaId' must be the id of a replica.")
                }
                referenceID = id
            }
        }
        if format == .sqlite { try requireFile(service) }
        try requirePreparation(service)
    }

    /// What a prepared replica is, and what starts from one.
    private func requirePreparation(_ service: ServiceDefinition) throws(ServiceError) {
        guard isPrepared || referenceID != nil else { return }
        guard format == .sqlite, !registersExistingData, !isPrepared || referenceID == nil else {
            throw .invalidParameter(
                "A replica that is prepared for others, or starts from one, has 'dataFormat' sqlite and no rows of its own."
            )
        }
        guard isPrepared else { return }
        guard definition.syncModel != .none else {
            throw .invalidParameter("A replica that is prepared for others has a 'syncModel'.")
        }
        for part in definition.layers {
            guard let layer = service.layer(id: part.layerID), layer.visibleFeatures(to: definition.owner) != nil
            else { continue }
            throw .invalidParameter(
                "\(layer.name) can't be prepared for others: each person sees only the own features of it.")
        }
    }

    /// The name that a client gives its request, by which a repeated one is known; ours, and not part of the protocol.
    package static func requestID(_ parameters: RequestParameters) throws(ServiceError) -> UUID? {
        guard let text = parameters["requestId"] else { return nil }
        guard let id = GUID.parse(text) else { throw .invalidParameter("'requestId' must be a GUID.") }
        return id
    }

    /// A file is no part of an answer, and its geometries are copied as they are.
    private func requireFile(_ service: ServiceDefinition) throws(ServiceError) {
        guard isAsynchronous || transport == .url else {
            throw .invalidParameter("With 'dataFormat' sqlite 'transportType' must be esriTransportTypeUrl.")
        }
        guard let reference = definition.outputReference else { return }
        let layers = definition.layers.compactMap { service.layer(id: $0.layerID) }.filter { !$0.isTable }
        guard layers.allSatisfy({ $0.spatialReference == reference }) else {
            throw .invalidParameter("With 'dataFormat' sqlite 'replicaSR' must be the reference of the layers.")
        }
    }

    private static func attachments(_ parameters: RequestParameters) throws(ServiceError) -> AttachmentSync {
        let isReturned = try parameters.bool("returnAttachments") ?? false
        let direction =
            try parameters.choice("attachmentsSyncDirection", AttachmentSync.Direction.self)
            ?? (isReturned ? .bidirectional : .none)
        guard isReturned ? direction != .none : direction != .bidirectional else {
            throw .invalidParameter(
                "'attachmentsSyncDirection' must be bidirectional or upload with 'returnAttachments', else upload or none."
            )
        }
        return AttachmentSync(isReturned: isReturned, direction: direction)
    }
}
