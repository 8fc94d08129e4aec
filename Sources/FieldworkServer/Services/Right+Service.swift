import FieldworkREST

extension Right {
    /// Checks the right with a service, and with the layer that the address names.
    /// - Parameter layer: nil for an operation of the whole service, which checks the layers that its parameters name.
    func require(of service: ServiceDefinition, _ layer: LayerDefinition?) throws(ServiceError) {
        switch self {
        case .query, .create, .update, .delete:
            guard let capability, let layer else { return }
            try Permissions(service: service, layer: layer).require(capability)
        case .upload: guard UploadService.isAllowed(service) else { throw .notSupported }
        case .sync: guard ReplicaAbilities.allowsSync(service) else { throw .notSupported }
        case .extractChanges: guard ReplicaAbilities.allowsExtract(service) else { throw .notSupported }
        case .nothing, .describe, .edit, .knowsName, .administer, .operate, .visit, .member, .prove: break
        }
    }

    private var capability: Capability? {
        switch self {
        case .query: .query
        case .create: .create
        case .update: .update
        case .delete: .delete
        default: nil
        }
    }
}
