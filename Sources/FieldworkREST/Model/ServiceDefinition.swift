package import FieldworkGeometry

/// The name of a service within its folder, as in `…/rest/services/<folder>/<name>/FeatureServer`.
package struct ServiceName: Sendable, Hashable {
    package var folder: String?
    package var name: String

    package init(folder: String? = nil, name: String) {
        self.folder = folder
        self.name = name
    }

    /// `folder/name`, or the name alone.
    package var path: String { folder.map { "\($0)/\(name)" } ?? name }
}

/// What a feature service is: its layers and tables, and what it allows.
package struct ServiceDefinition: Sendable, Hashable {
    package var name: ServiceName
    package var description: String
    /// The other text that servers tell, where it is another one.
    package var serviceDescription: String?
    package var copyrightText: String
    package var capabilities: Set<Capability>
    package var maxRecordCount: Int
    package var spatialReference: SpatialReference?
    package var initialExtent: Envelope?
    package var fullExtent: Envelope?
    /// Layers and tables in the order in which they are listed; ids are unique among both.
    package var layers: [LayerDefinition]
    package var unknownMembers: JSONObject

    package init(
        name: ServiceName, description: String = "", copyrightText: String = "",
        capabilities: Set<Capability> = [.query, .create, .update, .delete, .editing], maxRecordCount: Int = 2_000,
        spatialReference: SpatialReference? = nil, initialExtent: Envelope? = nil, fullExtent: Envelope? = nil,
        layers: [LayerDefinition], unknownMembers: JSONObject = JSONObject()
    ) {
        self.name = name
        self.description = description
        self.copyrightText = copyrightText
        self.capabilities = capabilities
        self.maxRecordCount = maxRecordCount
        self.spatialReference = spatialReference
        self.initialExtent = initialExtent
        self.fullExtent = fullExtent
        self.layers = layers
        self.unknownMembers = unknownMembers
    }

    package func layer(id: Int) -> LayerDefinition? { layers.first { $0.id == id } }
}
