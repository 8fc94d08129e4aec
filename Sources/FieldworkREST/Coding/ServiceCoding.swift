package import FieldworkGeometry

extension ServiceDefinition {
    private static let readMembers: Set<String> = [
        "serviceDescription", "description", "copyrightText", "capabilities", "maxRecordCount", "spatialReference",
        "initialExtent", "fullExtent", "layers", "tables",
    ]

    /// Reads the root resource of a feature service. Its layers are listed by id and name only; read them one by one.
    package init(name: ServiceName, json: JSONValue, layers: [LayerDefinition] = []) throws(ServiceError) {
        guard let object = json.objectValue else { throw .invalidParameter("A service is a JSON object.") }
        func envelope(_ key: String) -> Envelope? {
            (object[key].flatMap { try? GeoServicesJSON.geometry(from: $0) } ?? nil) as? Envelope
        }
        let (description, other) = (object.string("description"), object.string("serviceDescription"))
        self.init(
            name: name, description: description ?? other ?? "",
            copyrightText: object.string("copyrightText") ?? "",
            capabilities: Set(text: object.string("capabilities") ?? "Query"),
            maxRecordCount: object.integer("maxRecordCount") ?? 1_000,
            spatialReference: object["spatialReference"].flatMap { try? GeoServicesJSON.spatialReference(from: $0) },
            initialExtent: envelope("initialExtent"), fullExtent: envelope("fullExtent"), layers: layers,
            unknownMembers: object.without(Self.readMembers))
        serviceDescription = other == self.description ? nil : other
        keep(unread: object)
    }

    /// Keeps what stands under a known name in a form that is not known, so that it is written back.
    private mutating func keep(unread object: JSONObject) {
        let isRead = [
            ("spatialReference", spatialReference != nil), ("initialExtent", initialExtent != nil),
            ("fullExtent", fullExtent != nil),
        ]
        for (name, isRead) in isRead where !isRead {
            if let value = object[name], !value.isNull { unknownMembers[name] = value }
        }
        let words = Set<Capability>.unknownWords(in: object.string("capabilities") ?? "")
        if !words.isEmpty { unknownMembers["capabilities"] = .string(words.joined(separator: ",")) }
    }

    /// The root resource.
    package func json(context: ResourceContext = ResourceContext()) -> JSONValue {
        var object = JSONObject()
        object.append("currentVersion", .number(11.2))
        object.append("serviceDescription", .string(serviceDescription ?? description))
        object.append("description", .string(description))
        object.append("copyrightText", .string(copyrightText))
        for (name, isSupported) in [
            ("hasVersionedData", false), ("supportsDisconnectedEditing", false), ("syncEnabled", false),
            ("supportsReturnDeleteResults", true), ("supportsRelationshipsResource", true), ("supportsAppend", false),
            ("supportsQueryDomains", true),
            ("supportsQueryContingentValues", layers.contains { !$0.fieldGroups.isEmpty }),
            ("supportsDatumTransformation", true),
            ("supportsApplyEditsWithGlobalIds", true), (EditTurn.ability, true), ("supportsTrueCurve", false),
            ("hasStaticData", false),
            ("allowGeometryUpdates", layers.contains { $0.allowsGeometryUpdates }),
        ] {
            object.append(name, .bool(isSupported))
        }
        object.append("maxRecordCount", JSONValue(maxRecordCount))
        object.append("supportedQueryFormats", .string(LayerAbilities.queryFormats))
        object.append("capabilities", .string(capabilities.text))
        if let reference = spatialReference ?? layers.compactMap(\.spatialReference).first {
            object.append("spatialReference", GeoServicesJSON.json(for: reference))
            object.append("units", .string(Self.unit(of: reference)))
        }
        for (name, extent) in [("initialExtent", initialExtent), ("fullExtent", fullExtent)] {
            if let extent = extent ?? context.extent, !extent.isEmpty {
                object.append(name, GeoServicesJSON.json(for: extent))
            }
        }
        object.append("layers", .array(layers.filter { !$0.isTable }.map(Self.listing)))
        object.append("tables", .array(layers.filter(\.isTable).map(Self.listing)))
        object.append("relationships", .array(relationships))
        object.merge(unknownMembers)
        return .object(object)
    }

    /// The word for the unit of coordinates.
    private static func unit(of reference: SpatialReference) -> String {
        if reference.isGeographic { return "esriDecimalDegrees" }
        let meters = reference.unitFactor
        let known = [("esriMeters", 1), ("esriFeet", 0.3048), ("esriFeet", 1_200.0 / 3_937), ("esriKilometers", 1_000)]
        return known.first { abs($0.1 - meters) < 1e-9 * meters }?.0 ?? "esriUnknownUnits"
    }

    private static func listing(_ layer: LayerDefinition) -> JSONValue {
        var object = JSONObject()
        object.append("id", JSONValue(layer.id))
        object.append("name", .string(layer.name))
        object.append("parentLayerId", -1)
        object.append("defaultVisibility", .bool(layer.isVisibleByDefault))
        object.append("subLayerIds", .null)
        object.append("minScale", .number(layer.minScale))
        object.append("maxScale", .number(layer.maxScale))
        object.append("type", .string(layer.isTable ? "Table" : "Feature Layer"))
        if let geometryType = layer.geometryType { object.append("geometryType", .string(geometryType.rawValue)) }
        return .object(object)
    }

    /// Each relationship once, as seen from both its ends.
    package var relationships: [JSONValue] {
        layers.flatMap { origin in
            origin.relationships.filter { $0.role == .origin }.map { json(of: $0, origin: origin) }
        }
    }

    private func json(of end: RelationshipDefinition, origin: LayerDefinition) -> JSONValue {
        let related = layer(id: end.relatedTableID)
        let other = related?.relationships.first { $0.id == end.id && $0.role == .destination }
        var object = JSONObject()
        object.append("id", JSONValue(end.id))
        object.append("name", .string(end.name))
        object.append("backwardPathLabel", .string(origin.name))
        object.append("forwardPathLabel", .string(related?.name ?? ""))
        object.append("originLayerId", JSONValue(origin.id))
        object.append("originPrimaryKey", .string(end.keyField))
        object.append("destinationLayerId", JSONValue(end.relatedTableID))
        if end.relationshipTableID == nil {
            object.append("originForeignKey", .string(other?.keyField ?? ""))
        } else {
            // Both foreign keys stand in the table between the two.
            object.append("originForeignKey", .string(end.keyFieldInRelationshipTable ?? ""))
            object.append("destinationPrimaryKey", .string(other?.keyField ?? ""))
            object.append("destinationForeignKey", .string(other?.keyFieldInRelationshipTable ?? ""))
        }
        object.append("relationshipTableId", JSONValue(end.relationshipTableID ?? -1))
        object.append("cardinality", .string(end.cardinality.rawValue))
        object.append("attributed", .bool(end.relationshipTableID != nil))
        object.append("composite", .bool(end.isComposite))
        object.append("rules", [])
        return .object(object)
    }

    /// The definition in a form that gives it back whole, layers included: what a store keeps.
    package var storageJSON: JSONValue {
        var object = JSONObject()
        object.append("folder", JSONValue(name.folder))
        object.append("name", .string(name.name))
        object.append("description", .string(description))
        if let serviceDescription { object.append("serviceDescription", .string(serviceDescription)) }
        object.append("copyrightText", .string(copyrightText))
        object.append("capabilities", .string(capabilities.text(with: unknownMembers["capabilities"])))
        object.append("maxRecordCount", JSONValue(maxRecordCount))
        if let spatialReference { object.append("spatialReference", GeoServicesJSON.json(for: spatialReference)) }
        if let initialExtent { object.append("initialExtent", GeoServicesJSON.json(for: initialExtent)) }
        if let fullExtent { object.append("fullExtent", GeoServicesJSON.json(for: fullExtent)) }
        object.append("layerDefinitions", .array(layers.map(\.storageJSON)))
        object.append("unknownMembers", .object(unknownMembers))
        return .object(object)
    }

    /// Reads what `storageJSON` wrote.
    package init(storageJSON json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let name = object.string("name") else {
            throw .invalidParameter("The stored definition of a service is malformed.")
        }
        var layers: [LayerDefinition] = []
        for layer in object.array("layerDefinitions") { layers.append(try LayerDefinition(storageJSON: layer)) }
        try self.init(
            name: ServiceName(folder: object.string("folder"), name: name), json: json, layers: layers)
        unknownMembers = object["unknownMembers"]?.objectValue ?? JSONObject()
    }
}
