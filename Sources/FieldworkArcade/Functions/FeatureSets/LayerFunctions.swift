import FieldworkGeometry

/// Functions that find layers.
enum LayerFunctions {
    static let all: [Builtin] = [
        .many("FeatureSetByName", 2...4, .dataAccess) { machine, arguments in
            let name = try Arguments.text(arguments[1], "The name of the layer", machine)
            let layer = try machine.source().layer(named: name, in: try collection(arguments[0]))
            return try featureSet(layer, "called “\(name)”", arguments, machine)
        },
        .many("FeatureSetById", 2...4, .dataAccess) { machine, arguments in
            let id = try Coercion.text(arguments[1], machine)
            let layer = try machine.source().layer(id: id, in: try collection(arguments[0]))
            return try featureSet(layer, "with the id “\(id)”", arguments, machine)
        },
        .many("FeatureSetByRelationshipName", 2...4, .dataAccess, related),
        .many("FeatureSetByRelationshipClass", 2...4, .dataAccess, related),
        .many("FeatureSetByPortalItem", 2...5, .portal) { _, _ in
            throw ArcadeError(.notSupported, "Layers of other items of a portal can't be read by scripts here.")
        },
        .many("FeatureSetByAssociation", 2...3, .dataAccess) { _, _ in
            throw ArcadeError(.notSupported, "Associations of utility networks can't be read here.")
        },
        .one("FeatureSet", .dataAccess) { machine, value in
            switch value {
            case .text(let text): return try written(try DictionaryFunctions.parse(text, machine), machine)
            case .dictionary: return try written(value, machine)
            case .featureSet: return value
            default: throw ArcadeError.runtime("FeatureSet needs JSON, and got \(value.kindName).")
            }
        },
        .two("GetFeatureSet", .dataAccess, optional: true, ofFeature),
        .one("GetFeatureSetInfo", .dataAccess) { machine, value in
            let features = try FeatureSetFunctions.featureSet(value, "GetFeatureSetInfo")
            guard let layer = features.query.layer else { return .null }
            return try machine.dictionary([
                ("layerId", .text(layer.id)), ("layerName", .text(layer.name)), ("itemId", .text("")),
                ("serviceLayerUrl", .text(layer.url)), ("webMapLayerId", .text(layer.id)),
                ("webMapLayerTitle", .text(layer.name)), ("className", .text(layer.name)), ("objectClassId", .text("")),
            ])
        },
    ]

    private static func collection(_ value: Value) throws -> ArcadeLayerCollection {
        switch value {
        case .collection(let collection): return collection
        case .portal(let address): return .portal(address)
        default: throw ArcadeError.runtime("Layers are found in $map or $datastore, and not in \(value.kindName).")
        }
    }

    /// Features of a layer, with the fields and the geometry that a script asks for.
    private static func featureSet(
        _ layer: ArcadeLayer?, _ description: String, _ arguments: [Value], _ machine: Machine
    ) throws -> Value {
        guard let layer else { throw ArcadeError(.dataAccess, "There is no layer \(description).") }
        return try machine.featureSet(
            try narrowed(ArcadeFeatureQuery(base: .layer(layer)), arguments, machine), parent: nil)
    }

    private static func narrowed(
        _ query: ArcadeFeatureQuery, _ arguments: [Value], _ machine: Machine
    ) throws -> ArcadeFeatureQuery {
        var query = query
        if case .array(let names) = arguments.value(2) {
            let fields = try names.elements.map { try Arguments.text($0, "A field", machine) }
            query.fields = fields.contains("*") ? nil : fields
        }
        if !arguments.value(3).isNull {
            query.includesGeometry = try Arguments.truth(arguments[3], "Whether geometries are needed")
        }
        return query
    }

    private static func related(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        guard case .feature(let feature) = arguments[0] else {
            throw ArcadeError.runtime("A relationship begins at a feature, and not at \(arguments[0].kindName).")
        }
        let name = try Arguments.text(arguments[1], "The name of the relationship", machine)
        guard let layer = try feature.layer ?? machine.source().layerOfFeature(),
            let other = try machine.source().layer(relatedBy: name, to: layer)
        else { throw ArcadeError(.dataAccess, "There is no relationship “\(name)”.") }
        let base = ArcadeFeatureQuery.Base.related(
            other, relationship: name, to: try ValueExport.feature(feature, machine))
        return try machine.featureSet(try narrowed(ArcadeFeatureQuery(base: base), arguments, machine), parent: nil)
    }

    private static func ofFeature(_ machine: Machine, _ value: Value, _ kind: Value) throws -> Value {
        guard case .feature(let feature) = value else {
            throw ArcadeError.runtime("GetFeatureSet needs a feature, and got \(value.kindName).")
        }
        let isParent = try !kind.isNull && Coercion.text(kind, machine).lowercased() == "parent"
        if let source = feature.source { return .featureSet(isParent ? source : source.root) }
        guard let layer = try feature.layer ?? machine.source().layerOfFeature() else { return .null }
        return try machine.featureSet(ArcadeFeatureQuery(base: .layer(layer)), parent: nil)
    }

    /// Features that a script writes down: `{fields, geometryType, features}`.
    private static func written(_ value: Value, _ machine: Machine) throws -> Value {
        guard case .dictionary(let dictionary) = value, case .array(let features)? = dictionary["features"] else {
            throw ArcadeError.runtime("A feature set is written as a dictionary with fields and features.")
        }
        var fields: [ArcadeField] = []
        if case .array(let given)? = dictionary["fields"] {
            for case .dictionary(let field) in given.elements {
                fields.append(
                    ArcadeField(
                        name: try Coercion.text(field["name"] ?? .null, machine),
                        alias: try Coercion.text(field["alias"] ?? field["name"] ?? .null, machine),
                        type: try Coercion.text(field["type"] ?? .text("esriFieldTypeString"), machine)))
            }
        }
        let schema = ArcadeSchema(
            fields: fields, geometryType: try Coercion.text(dictionary["geometryType"] ?? .null, machine),
            objectIDField: fields.first { $0.type == "esriFieldTypeOID" }?.name)
        let rows = try features.elements.map { element -> ArcadeFeature in
            guard case .dictionary(let row) = element else {
                throw ArcadeError.runtime("A feature is a dictionary with attributes.")
            }
            var values = [ArcadeValue](repeating: .null, count: fields.count)
            if case .dictionary(let attributes)? = row["attributes"] {
                for (index, field) in fields.enumerated() {
                    values[index] = try ValueExport.value(attributes[field.name] ?? .null, machine)
                }
            }
            try machine.chargeMemory(96 + fields.count * 40)
            let geometry = try GeometryArguments.optional(row["geometry"] ?? .null, machine)
            return ArcadeFeature(schema: schema, values: values, geometry: geometry)
        }
        let query = ArcadeFeatureQuery(base: .features(ArcadeTable(schema: schema, features: rows)))
        return try machine.featureSet(query, parent: nil)
    }
}
