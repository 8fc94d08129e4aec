package import FieldworkGeometry

/// What a resource shows that is no part of its definition.
package struct ResourceContext: Sendable {
    /// The features' extent now; nil to show the definition's.
    package var extent: Envelope?
    /// Milliseconds since 1970 of the last edit; nil when there was none.
    package var lastEditMilliseconds: Int64?
    /// Capabilities and count of the service, which a layer can't exceed.
    package var serviceCapabilities: Set<Capability>?
    package var serviceMaxRecordCount: Int?
    /// What the service says of its source, for a layer that says nothing itself.
    package var serviceCopyrightText: String
    /// Milliseconds since 1970 of the first moment that the layer's history reaches; nil when it has none.
    package var historyStart: Int64?
    /// The first and the last moment of the features, in milliseconds since 1970; nil to show the definition's.
    package var timeExtent: ClosedRange<Int64>?

    package init(
        extent: Envelope? = nil, lastEditMilliseconds: Int64? = nil, serviceCapabilities: Set<Capability>? = nil,
        serviceMaxRecordCount: Int? = nil, serviceCopyrightText: String = "", historyStart: Int64? = nil,
        timeExtent: ClosedRange<Int64>? = nil
    ) {
        self.extent = extent
        self.lastEditMilliseconds = lastEditMilliseconds
        self.serviceCapabilities = serviceCapabilities
        self.serviceMaxRecordCount = serviceMaxRecordCount
        self.serviceCopyrightText = serviceCopyrightText
        self.historyStart = historyStart
        self.timeExtent = timeExtent
    }
}

extension LayerDefinition {
    /// Members that are read into properties; all others of a resource are kept in `unknownMembers`.
    private static let readMembers: Set<String> = [
        "id", "name", "type", "description", "geometryType", "hasZ", "hasM", "fields", "objectIdField", "globalIdField",
        "displayField", "typeIdField", "types", "templates", "relationships", "editFieldsInfo", "hasAttachments",
        "capabilities", "allowGeometryUpdates", "maxRecordCount", "minScale", "maxScale", "defaultVisibility",
        "drawingInfo", "extent", "spatialReference", "subtypeField", "subtypes", "defaultSubtypeCode", "fieldGroups",
        "ownershipBasedAccessControlForFeatures", "attributeRules",
    ]

    /// Reads a layer or table resource. Tolerates what old servers leave out; throws for what is no layer at all.
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let id = object.integer("id"), let name = object.string("name") else {
            throw .invalidParameter("A layer needs an id and a name.")
        }
        var fields: [FieldDefinition] = []
        for field in object.array("fields") { fields.append(try FieldDefinition(json: field)) }
        var types: [FeatureTypeDefinition] = []
        for type in object.array("types") { types.append(try FeatureTypeDefinition(json: type)) }
        var templates: [FeatureTemplateDefinition] = []
        for template in object.array("templates") { templates.append(try FeatureTemplateDefinition(json: template)) }
        var relationships: [RelationshipDefinition] = []
        var unreadRelationships: [JSONValue] = []
        for relationship in object.array("relationships") {
            // Old map services list an end without its cardinality: it can't be followed, so it is only kept.
            if let read = try? RelationshipDefinition(json: relationship) {
                relationships.append(read)
            } else {
                unreadRelationships.append(relationship)
            }
        }
        var subtypes: [SubtypeDefinition] = []
        for subtype in object.array("subtypes") { subtypes.append(try SubtypeDefinition(json: subtype)) }
        var fieldGroups: [FieldGroupDefinition] = []
        for group in object.array("fieldGroups") { fieldGroups.append(try FieldGroupDefinition(json: group)) }
        let isTable = object.string("type") == "Table"
        let extent = object["extent"].flatMap { try? GeoServicesJSON.geometry(from: $0) } ?? nil
        let ownReference = object["spatialReference"].flatMap { try? GeoServicesJSON.spatialReference(from: $0) }
        let objectIDField =
            object.string("objectIdField").flatMap { $0.isEmpty ? nil : $0 } ?? fields.first { $0.type == .oid }?.name
        func named(_ key: String) -> String? { object.string(key).flatMap { $0.isEmpty ? nil : $0 } }
        self.init(
            id: id, name: name, description: object.string("description") ?? "",
            geometryType: isTable ? nil : object.string("geometryType").flatMap(LayerGeometryType.init(rawValue:)),
            hasZ: object.bool("hasZ") ?? false, hasM: object.bool("hasM") ?? false,
            spatialReference: isTable ? nil : ownReference ?? extent?.spatialReference, fields: fields,
            objectIDField: objectIDField ?? "OBJECTID",
            globalIDField: named("globalIdField") ?? fields.first { $0.type == .globalID }?.name,
            displayField: named("displayField"), typeIDField: named("typeIdField"), types: types, templates: templates,
            subtypeField: named("subtypeField"), subtypes: subtypes,
            defaultSubtypeCode: object["defaultSubtypeCode"].map(AttributeValue.init(json:)) ?? .null,
            fieldGroups: fieldGroups, relationships: relationships,
            editFields: EditFieldsDefinition(json: object["editFieldsInfo"]),
            ownershipAccess: OwnershipAccess(json: object["ownershipBasedAccessControlForFeatures"]),
            hasAttachments: object.bool("hasAttachments") ?? false,
            capabilities: Set(text: object.string("capabilities") ?? "Query"),
            allowsGeometryUpdates: object.bool("allowGeometryUpdates") ?? true,
            maxRecordCount: object.integer("maxRecordCount") ?? 1_000, minScale: object.double("minScale") ?? 0,
            maxScale: object.double("maxScale") ?? 0, isVisibleByDefault: object.bool("defaultVisibility") ?? true,
            drawingInfo: object["drawingInfo"], extent: extent as? Envelope,
            unknownMembers: object.without(Self.readMembers))
        keep(unread: object, unreadRelationships)
        do {
            for rule in object.array("attributeRules") {
                attributeRules.append(try AttributeRuleDefinition(json: rule))
            }
        } catch {
            // Rules in a form that is not known are another server's to run.
            attributeRules = []
            unknownMembers["attributeRules"] = object["attributeRules"]
        }
    }

    /// Keeps what stands under a known name in a form that is not known, so that it is written back.
    private mutating func keep(unread object: JSONObject, _ unreadRelationships: [JSONValue]) {
        if !unreadRelationships.isEmpty { unknownMembers["relationships"] = .array(unreadRelationships) }
        let isRead = [
            "editFieldsInfo": editFields != nil, "ownershipBasedAccessControlForFeatures": ownershipAccess != nil,
        ]
        for (name, isRead) in isRead.sorted(by: { $0.key < $1.key }) where !isRead {
            if let value = object[name], !value.isNull { unknownMembers[name] = value }
        }
        let words = Set<Capability>.unknownWords(in: object.string("capabilities") ?? "")
        if !words.isEmpty { unknownMembers["capabilities"] = .string(words.joined(separator: ",")) }
    }

    /// The layer or table resource. What it advertises is what the server does.
    package func json(context: ResourceContext = ResourceContext()) -> JSONValue {
        let allowed = context.serviceCapabilities.map { capabilities.intersection($0) } ?? capabilities
        var object = definitionMembers
        object["relationships"] = .array(relationships.map(\.json))
        object["ownershipBasedAccessControlForFeatures"] = ownershipAccess?.json ?? .null
        object["currentVersion"] = .number(11.2)
        if object["copyrightText"] == nil { object["copyrightText"] = .string(context.serviceCopyrightText) }
        object["parentLayer"] = .null
        object["subLayers"] = []
        for count in RecordLimits(layer: self, serviceMaximum: context.serviceMaxRecordCount).json.members {
            object[count.key] = count.value
        }
        object["capabilities"] = .string(allowed.text)
        if types.isEmpty, let subtypeField {
            object["typeIdField"] = .string(subtypeField)
            object["types"] = .array(subtypes.map(\.type.json))
        }
        object["hasContingentValuesDefinition"] = .bool(!fieldGroups.isEmpty)
        if !fieldGroups.isEmpty { object["supportedContingentValuesFormats"] = "JSON" }
        object["editingInfo"] = ["lastEditDate": context.lastEditMilliseconds.map(JSONValue.integer) ?? .null]
        if !isTable { object["extent"] = extentJSON(context.extent) }
        // What the definition's author saw elsewhere doesn't tell what this server does.
        object["archivingInfo"] = nil
        // Clients take the mere presence of the member for a layer with times.
        var times = timeInfo
        if let counted = context.timeExtent { times?.timeExtent = counted }
        object["timeInfo"] = times?.json
        let abilities = LayerAbilities.members(of: self, historyStart: context.historyStart)
        for ability in abilities.members { object[ability.key] = ability.value }
        return .object(object)
    }

    /// The extent of the features; of an empty layer that of its reference, since clients can't read an empty one.
    private func extentJSON(_ counted: Envelope?) -> JSONValue {
        if let extent = [counted, extent].compactMap({ $0 }).first(where: { !$0.isEmpty }) {
            return GeoServicesJSON.json(for: extent)
        }
        let reference = spatialReference ?? .wgs84
        let world =
            reference.isGeographic
            ? Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90, spatialReference: reference)
            : Envelope(
                xMin: -20_037_508.342789, yMin: -20_037_508.342789, xMax: 20_037_508.342789, yMax: 20_037_508.342789,
                spatialReference: reference)
        return GeoServicesJSON.json(for: world)
    }

    /// The definition in a form that gives it back whole: what a store keeps.
    package var storageJSON: JSONValue {
        var object = definitionMembers
        object["extent"] = extent.map { GeoServicesJSON.json(for: $0) } ?? .null
        return .object(object)
    }

    /// Reads what `storageJSON` wrote.
    package init(storageJSON: JSONValue) throws(ServiceError) {
        try self.init(json: storageJSON)
    }

    private var definitionMembers: JSONObject {
        var object = JSONObject()
        object.append("id", JSONValue(id))
        object.append("name", .string(name))
        object.append("type", .string(isTable ? "Table" : "Feature Layer"))
        object.append("displayField", JSONValue(displayField ?? ""))
        object.append("description", .string(description))
        object.append("defaultVisibility", .bool(isVisibleByDefault))
        object.append("minScale", .number(minScale))
        object.append("maxScale", .number(maxScale))
        if let editFields { object.append("editFieldsInfo", editFields.json) }
        object.append(
            "ownershipBasedAccessControlForFeatures",
            ownershipAccess?.json ?? unknownMembers["ownershipBasedAccessControlForFeatures"] ?? .null)
        let unread = unknownMembers["relationships"]?.arrayValue ?? []
        object.append("relationships", .array(relationships.map(\.json) + unread))
        if let geometryType {
            object.append("geometryType", .string(geometryType.rawValue))
            if let spatialReference {
                object.append("spatialReference", GeoServicesJSON.json(for: spatialReference))
            }
            object.append("hasZ", .bool(hasZ))
            object.append("hasM", .bool(hasM))
        }
        object.append("allowGeometryUpdates", .bool(allowsGeometryUpdates))
        if let drawingInfo { object.append("drawingInfo", drawingInfo) }
        object.append("hasAttachments", .bool(hasAttachments))
        object.append("objectIdField", .string(objectIDField))
        object.append("globalIdField", .string(globalIDField ?? ""))
        object.append("typeIdField", .string(typeIDField ?? ""))
        object.append("fields", .array(fields.map(\.json)))
        object.append("types", .array(types.map(\.json)))
        object.append("templates", .array(templates.map(\.json)))
        object.append("subtypeField", .string(subtypeField ?? ""))
        object.append("subtypes", .array(subtypes.map(\.json)))
        object.append("defaultSubtypeCode", defaultSubtypeCode.json)
        if !fieldGroups.isEmpty { object.append("fieldGroups", .array(fieldGroups.map(\.json))) }
        if !attributeRules.isEmpty { object.append("attributeRules", .array(attributeRules.map(\.json))) }
        object.append("maxRecordCount", JSONValue(maxRecordCount))
        object.append("capabilities", .string(capabilities.text(with: unknownMembers["capabilities"])))
        object.merge(unknownMembers)
        return object
    }
}
