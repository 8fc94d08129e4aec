extension ServiceDefinition {
    /// The definition that a device keeps of some of the service's layers.
    /// - Parameter keepsAttachments: false where none go either way: then nobody may add one that would never arrive.
    package func takenOffline(layers ids: Set<Int>? = nil, keepsAttachments: Bool = true) -> ServiceDefinition {
        var service = self
        service.layers = layers.filter { ids?.contains($0.id) ?? true }.map { layer in
            var layer = layer
            // A device doesn't know who edits: whose features somebody may change, the service says when the edits arrive.
            layer.ownershipAccess = nil
            if !keepsAttachments { layer.hasAttachments = false }
            // Of its own rows.
            layer.extent = nil
            return layer
        }
        return service
    }
}
