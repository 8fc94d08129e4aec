package import FieldworkGeometry

/// What a layer or table is: everything its resource shows that is not counted from the data.
package struct LayerDefinition: Sendable, Hashable {
    package var id: Int
    package var name: String
    package var description: String
    /// nil for a table.
    package var geometryType: LayerGeometryType?
    package var hasZ: Bool
    package var hasM: Bool
    /// The reference of the stored geometries; nil for a table.
    package var spatialReference: SpatialReference?
    package var fields: [FieldDefinition]
    package var objectIDField: String
    package var globalIDField: String?
    package var displayField: String?
    package var typeIDField: String?
    package var types: [FeatureTypeDefinition]
    package var templates: [FeatureTemplateDefinition]
    /// The field that tells a feature's subtype; nil without subtypes.
    package var subtypeField: String?
    package var subtypes: [SubtypeDefinition]
    /// The subtype of a new feature that doesn't name one.
    package var defaultSubtypeCode: AttributeValue
    package var fieldGroups: [FieldGroupDefinition]
    /// Scripts that give fields their values and say which edits may be made.
    package var attributeRules: [AttributeRuleDefinition] = []
    package var relationships: [RelationshipDefinition]
    package var editFields: EditFieldsDefinition?
    /// nil: everybody may do with every feature what the layer allows.
    package var ownershipAccess: OwnershipAccess?
    package var hasAttachments: Bool
    /// What the layer allows; never more than the service.
    package var capabilities: Set<Capability>
    package var allowsGeometryUpdates: Bool
    package var maxRecordCount: Int
    package var minScale: Double
    package var maxScale: Double
    package var isVisibleByDefault: Bool
    /// Renderer, labels and transparency as the protocol's JSON.
    package var drawingInfo: JSONValue?
    /// The layer's extent as last counted; answers use the store's own count where it is cheap.
    package var extent: Envelope?
    /// Members of the layer's JSON that this type does not know; written back unchanged.
    package var unknownMembers: JSONObject
    /// Which features there are for whoever asks; nil for all. No part of what is stored or shown: whoever serves a request
    /// sets it, and `FeatureQuery(filter:layer:)` adds it to every condition.
    package var restriction: SQLExpression?

    package var isTable: Bool { geometryType == nil }

    package init(
        id: Int, name: String, description: String = "", geometryType: LayerGeometryType? = nil, hasZ: Bool = false,
        hasM: Bool = false, spatialReference: SpatialReference? = nil, fields: [FieldDefinition],
        objectIDField: String = "OBJECTID", globalIDField: String? = nil, displayField: String? = nil,
        typeIDField: String? = nil, types: [FeatureTypeDefinition] = [], templates: [FeatureTemplateDefinition] = [],
        subtypeField: String? = nil, subtypes: [SubtypeDefinition] = [], defaultSubtypeCode: AttributeValue = .null,
        fieldGroups: [FieldGroupDefinition] = [], relationships: [RelationshipDefinition] = [],
        editFields: EditFieldsDefinition? = nil, ownershipAccess: OwnershipAccess? = nil,
        hasAttachments: Bool = false, capabilities: Set<Capability> = [.query, .create, .update, .delete, .editing],
        allowsGeometryUpdates: Bool = true, maxRecordCount: Int = 2_000, minScale: Double = 0, maxScale: Double = 0,
        isVisibleByDefault: Bool = true, drawingInfo: JSONValue? = nil, extent: Envelope? = nil,
        unknownMembers: JSONObject = JSONObject()
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.geometryType = geometryType
        self.hasZ = hasZ
        self.hasM = hasM
        self.spatialReference = spatialReference
        self.fields = fields
        self.objectIDField = objectIDField
        self.globalIDField = globalIDField
        self.displayField = displayField
        self.typeIDField = typeIDField
        self.types = types
        self.templates = templates
        self.subtypeField = subtypeField
        self.subtypes = subtypes
        self.defaultSubtypeCode = defaultSubtypeCode
        self.fieldGroups = fieldGroups
        self.relationships = relationships
        self.editFields = editFields
        self.ownershipAccess = ownershipAccess
        self.hasAttachments = hasAttachments
        self.capabilities = capabilities
        self.allowsGeometryUpdates = allowsGeometryUpdates
        self.maxRecordCount = maxRecordCount
        self.minScale = minScale
        self.maxScale = maxScale
        self.isVisibleByDefault = isVisibleByDefault
        self.drawingInfo = drawingInfo
        self.extent = extent
        self.unknownMembers = unknownMembers
    }

    /// The field of a name, without regard to case.
    package func field(named name: String) -> FieldDefinition? {
        if let field = fields.first(where: { $0.name == name }) { return field }
        let name = name.lowercased()
        return fields.first { $0.name.lowercased() == name }
    }
}

/// The geometry types of layers, named as the protocol names them.
package enum LayerGeometryType: String, Sendable, Hashable, CaseIterable {
    case point = "esriGeometryPoint"
    case multipoint = "esriGeometryMultipoint"
    case polyline = "esriGeometryPolyline"
    case polygon = "esriGeometryPolygon"
    case envelope = "esriGeometryEnvelope"
}

/// What a service or layer allows, as listed in its `capabilities`.
package enum Capability: String, Sendable, Hashable, CaseIterable {
    case query = "Query"
    case create = "Create"
    case update = "Update"
    case delete = "Delete"
    case editing = "Editing"
    case sync = "Sync"
    case extract = "Extract"
    case uploads = "Uploads"
    case changeTracking = "ChangeTracking"
}

/// A kind of feature within a layer, with the domains and templates of its own.
package struct FeatureTypeDefinition: Sendable, Hashable {
    package var id: AttributeValue
    package var name: String
    /// Domains by field name.
    package var domains: [String: DomainDefinition]
    package var templates: [FeatureTemplateDefinition]
    /// Members of the type's JSON that this type does not know; written back unchanged.
    package var unknownMembers: JSONObject

    package init(
        id: AttributeValue, name: String, domains: [String: DomainDefinition] = [:],
        templates: [FeatureTemplateDefinition] = [], unknownMembers: JSONObject = JSONObject()
    ) {
        self.id = id
        self.name = name
        self.domains = domains
        self.templates = templates
        self.unknownMembers = unknownMembers
    }
}

/// What a new feature starts from.
package struct FeatureTemplateDefinition: Sendable, Hashable {
    package var name: String
    package var description: String
    /// For example `esriFeatureEditToolPoint`.
    package var drawingTool: String?
    /// Attribute values of the prototype by field name.
    package var attributes: [String: AttributeValue]
    /// Members of the template's JSON and of its prototype that this type does not know; written back unchanged.
    package var unknownMembers: JSONObject
    package var unknownPrototypeMembers: JSONObject

    package init(
        name: String, description: String = "", drawingTool: String? = nil, attributes: [String: AttributeValue] = [:],
        unknownMembers: JSONObject = JSONObject(), unknownPrototypeMembers: JSONObject = JSONObject()
    ) {
        self.name = name
        self.description = description
        self.drawingTool = drawingTool
        self.attributes = attributes
        self.unknownMembers = unknownMembers
        self.unknownPrototypeMembers = unknownPrototypeMembers
    }
}

/// One end of a relationship between two layers or tables of a service.
package struct RelationshipDefinition: Sendable, Hashable {
    package enum Cardinality: String, Sendable, Hashable {
        case oneToOne = "esriRelCardinalityOneToOne"
        case oneToMany = "esriRelCardinalityOneToMany"
        case manyToMany = "esriRelCardinalityManyToMany"
    }

    package enum Role: String, Sendable, Hashable {
        case origin = "esriRelRoleOrigin"
        case destination = "esriRelRoleDestination"
    }

    /// What deleting an origin does to the destinations that name it.
    package enum OriginDeletion: String, Sendable, Hashable {
        /// They are deleted with it: the rule of composite relationships.
        case cascade
        /// Their key is emptied: the rule of simple relationships. Where it must not be null, nothing is deleted.
        case clear
        /// The origin can't be deleted while there are any.
        case refuse
    }

    package var id: Int
    package var name: String
    package var relatedTableID: Int
    package var cardinality: Cardinality
    package var role: Role
    /// The key on this side.
    package var keyField: String
    package var isComposite: Bool
    /// The table between both sides of an attributed or many-to-many relationship.
    package var relationshipTableID: Int?
    package var keyFieldInRelationshipTable: String?
    /// Told by the origin's end.
    package var originDeletion: OriginDeletion
    /// Members of the relationship's JSON that this type does not know; written back unchanged.
    package var unknownMembers: JSONObject

    package init(
        id: Int, name: String, relatedTableID: Int, cardinality: Cardinality, role: Role, keyField: String,
        isComposite: Bool = false, relationshipTableID: Int? = nil, keyFieldInRelationshipTable: String? = nil,
        originDeletion: OriginDeletion? = nil, unknownMembers: JSONObject = JSONObject()
    ) {
        self.id = id
        self.name = name
        self.relatedTableID = relatedTableID
        self.cardinality = cardinality
        self.role = role
        self.keyField = keyField
        self.isComposite = isComposite
        self.relationshipTableID = relationshipTableID
        self.keyFieldInRelationshipTable = keyFieldInRelationshipTable
        self.originDeletion = originDeletion ?? Self.usualDeletion(isComposite: isComposite)
        self.unknownMembers = unknownMembers
    }

    package static func usualDeletion(isComposite: Bool) -> OriginDeletion { isComposite ? .cascade : .clear }
}

/// The fields that the server fills with who and when.
package struct EditFieldsDefinition: Sendable, Hashable {
    package var creationDateField: String?
    package var creatorField: String?
    package var editDateField: String?
    package var editorField: String?
    /// Follows the user's name in the fields of creator and editor, after an `@`.
    package var realm: String?

    package init(
        creationDateField: String? = "CreationDate", creatorField: String? = "Creator",
        editDateField: String? = "EditDate", editorField: String? = "Editor", realm: String? = nil
    ) {
        self.creationDateField = creationDateField
        self.creatorField = creatorField
        self.editDateField = editDateField
        self.editorField = editorField
        self.realm = realm
    }
}

extension LayerDefinition {
    /// The fields that say who edited when.
    package var trackedFields: [String] {
        [editFields?.creatorField, editFields?.creationDateField, editFields?.editorField, editFields?.editDateField]
            .compactMap(\.self)
    }
}
