import FieldworkGeometry
package import Foundation

/// A request to bring a replica and its service together.
package struct SynchronizeReplicaRequest: Sendable {
    package struct Layer: Sendable {
        package var layerID: Int
        package var direction: SyncDirection
        /// The generation that the client has; nil when it does not say.
        package var generation: Int64?
    }

    package var layers: [Layer]
    /// The edits of layers whose direction lets them in.
    package var uploads: [ReplicaLayerUpload]
    /// Names the upload for clients that know how to repeat one; nil for those of the plain protocol.
    package var uploadID: UUID?
    /// The newest restoration of the service that the client knows, by the generation at which the service went on; nil for
    /// clients of the plain protocol.
    package var knownRestoration: Int64?
    /// Layers of which the client wants all rows, not what changed since its generation.
    package var wholeLayers: Set<Int> = []
    package var transport: ReplicaTransport
    package var isAsynchronous: Bool
    package var returnsIDsForAdds: Bool
    package var rollsBackOnFailure: Bool
    package var closesReplica: Bool
    /// Attachments come as addresses, not as data.
    package var returnsAttachmentsByURL: Bool

    /// Whether it changes neither the service nor what the service knows of the replica.
    package var onlyReads: Bool {
        uploads.isEmpty && !closesReplica && layers.allSatisfy { [.download, .snapshot].contains($0.direction) }
    }

    /// The replica that a request names.
    package static func replicaID(_ parameters: RequestParameters) throws(ServiceError) -> UUID {
        guard let text = parameters["replicaID"] else { throw .invalidParameter("'replicaID' is required.") }
        guard let id = GUID.parse(text) else { throw .invalidParameter("'replicaID' is not the id of a replica.") }
        return id
    }

    /// - Parameter finder: finds the files that attachments name by the id of their upload.
    package init(
        _ parameters: RequestParameters, replica: ReplicaDefinition, service: ServiceDefinition,
        finder: @escaping UploadedFile.Finder
    ) throws(ServiceError) {
        if let format = parameters["dataFormat"], format.lowercased() != "json" {
            throw .invalidParameter("'dataFormat' must be json.")
        }
        try parameters.refuse(["gdbVersion", "replicaServerSibGen"])
        guard replica.syncModel != .none else {
            throw .invalidParameter("The replica was made without a sync model: it can't be synchronised.")
        }
        layers = try Self.layers(parameters, replica)
        uploadID = nil
        knownRestoration = nil
        if let text = parameters["uploadId"] {
            guard let id = GUID.parse(text) else { throw .invalidParameter("'uploadId' must be a GUID.") }
            uploadID = id
        }
        if let text = parameters["knownRestoration"] {
            guard let generation = Int64(text) else {
                throw .invalidParameter("'knownRestoration' must be an integer.")
            }
            knownRestoration = generation
        }
        for id in try parameters.json("wholeLayers")?.arrayValue ?? [] {
            guard let id = id.integerValue.flatMap({ Int(exactly: $0) }), replica.layer(id: id) != nil else {
                throw .invalidParameter("'wholeLayers' names a layer that is not in the replica.")
            }
            wholeLayers.insert(id)
        }
        transport = try ReplicaTransport(parameters)
        isAsynchronous = try parameters.bool("async") ?? false
        returnsIDsForAdds = try parameters.bool("returnIdsForAdds") ?? false
        rollsBackOnFailure = try parameters.bool("rollbackOnFailure") ?? false
        closesReplica = try parameters.bool("closeReplica") ?? false
        returnsAttachmentsByURL = try parameters.bool("returnAttachmentsDataByUrl") ?? true
        uploads = []
        if let edits = try UploadedEdits(finder: finder, service: service.name).edits(parameters), !edits.isNull {
            let bases = Dictionary(
                layers.compactMap { layer in layer.generation.map { (layer.layerID, $0) } },
                uniquingKeysWith: { first, _ in first })
            let takesEdits = Set(layers.filter { [.upload, .bidirectional].contains($0.direction) }.map(\.layerID))
            uploads = try ReplicaEditsReader(service: service, replica: replica, uploads: finder).uploads(
                edits, bases: bases
            )
            .filter { takesEdits.contains($0.layerID) && !$0.isEmpty }
        }
    }

    private static func layers(
        _ parameters: RequestParameters, _ replica: ReplicaDefinition
    ) throws(ServiceError) -> [Layer] {
        let common = try parameters.choice("syncDirection", SyncDirection.self)
        guard replica.syncModel == .perLayer else {
            let direction = common ?? .bidirectional
            var generation: Int64?
            if let text = parameters["replicaServerGen"] {
                guard let number = Int64(text) else {
                    throw .invalidParameter("'replicaServerGen' must be an integer.")
                }
                generation = number
            }
            guard generation != nil || direction == .upload || direction == .snapshot else {
                throw .invalidParameter("'replicaServerGen' is required.")
            }
            return try replica.layers.map { layer throws(ServiceError) in
                try checked(Layer(layerID: layer.layerID, direction: direction, generation: generation), replica)
            }
        }
        guard let elements = try parameters.json("syncLayers")?.arrayValue else {
            throw .invalidParameter("'syncLayers' is required: the replica is synchronised per layer.")
        }
        var layers: [Layer] = []
        for element in elements {
            guard let id = element["id"]?.integerValue.flatMap({ Int(exactly: $0) }), replica.layer(id: id) != nil,
                !layers.contains(where: { $0.layerID == id })
            else { throw .invalidParameter("'syncLayers' names a layer that is not in the replica, or one twice.") }
            var direction = common ?? .bidirectional
            // A layer's own direction goes before the common one.
            if let name = element["syncDirection"]?.stringValue {
                guard let own = SyncDirection(rawValue: name) else {
                    throw .invalidParameter("'syncLayers': the direction '\(name.prefix(40))' is not known.")
                }
                direction = own
            }
            let generation =
                element["serverGen"]?.integerValue ?? element["serverGen"]?.stringValue.flatMap { Int64($0) }
            guard generation != nil || direction == .upload || direction == .snapshot else {
                throw .invalidParameter("'syncLayers': the layer \(id) has no 'serverGen'.")
            }
            layers.append(try checked(Layer(layerID: id, direction: direction, generation: generation), replica))
        }
        return layers
    }

    /// A replica that was made for one direction keeps to it.
    private static func checked(_ layer: Layer, _ replica: ReplicaDefinition) throws(ServiceError) -> Layer {
        let isAllowed =
            switch replica.direction {
            case .bidirectional: true
            case .download, .snapshot: layer.direction == .download || layer.direction == .snapshot
            case .upload: layer.direction == .upload
            }
        guard isAllowed else {
            throw .invalidParameter("The replica was made for \(replica.direction.rawValue) only.")
        }
        return layer
    }
}
