import FieldworkREST

/// What may be done with a layer: what its service and it both allow.
struct Permissions: Sendable, Hashable {
    private let service: Set<Capability>
    private let layer: Set<Capability>

    init(service: ServiceDefinition, layer: LayerDefinition) {
        self.service = service.capabilities
        self.layer = layer.capabilities
    }

    func require(_ capability: Capability) throws(ServiceError) {
        guard allow(capability) else { throw .notSupported }
    }

    func allow(_ capability: Capability) -> Bool {
        Self.allows(capability, service) && Self.allows(capability, layer)
    }

    /// What a batch of edits needs: a right for each kind of edit that is in it.
    func require(for edits: LayerEdits) throws(ServiceError) {
        if !edits.adds.isEmpty { try require(.create) }
        if !edits.updates.isEmpty { try require(.update) }
        switch edits.deletes {
        case .features(let features) where features.isEmpty: break
        case .features, .matching: try require(.delete)
        }
        try require(for: edits.attachments)
    }

    /// Attachments belong to their features: who may update these may change them, and who may only add features may add
    /// attachments.
    func require(for edits: AttachmentEdits) throws(ServiceError) {
        if !edits.updates.isEmpty || !edits.deletes.isEmpty { try require(.update) }
        if !edits.adds.isEmpty, !allow(.create) { try require(.update) }
    }

    /// `Editing` without any of the three verbs is how old services say that all of them are allowed.
    private static func allows(_ capability: Capability, _ allowed: Set<Capability>) -> Bool {
        let verbs: Set<Capability> = [.create, .update, .delete]
        if allowed.contains(capability) { return true }
        return verbs.contains(capability) && allowed.contains(.editing) && allowed.isDisjoint(with: verbs)
    }
}
