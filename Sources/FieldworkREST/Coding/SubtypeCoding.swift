package import FieldworkGeometry

extension SubtypeDefinition {
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let code = object["code"], !code.isNull else {
            throw .invalidParameter("A subtype needs a code.")
        }
        var defaults: [String: AttributeValue] = [:]
        for member in object["defaultValues"]?.objectValue?.members ?? [] {
            defaults[member.key] = AttributeValue(json: member.value)
        }
        var domains: [String: DomainDefinition] = [:]
        for member in object["domains"]?.objectValue?.members ?? [] where !member.value.isNull {
            domains[member.key] = try DomainDefinition(json: member.value)
        }
        self.init(
            code: AttributeValue(json: code), name: object.string("name") ?? "", defaultValues: defaults,
            domains: domains)
    }

    package var json: JSONValue {
        var defaults = JSONObject()
        for (field, value) in defaultValues.sorted(by: { $0.key < $1.key }) { defaults.append(field, value.json) }
        var domains = JSONObject()
        for (field, domain) in self.domains.sorted(by: { $0.key < $1.key }) { domains.append(field, domain.json) }
        return [
            "code": code.json, "name": .string(name), "defaultValues": .object(defaults), "domains": .object(domains),
        ]
    }

    /// The subtype as one of the layer's types: what clients read that don't know subtypes.
    var type: FeatureTypeDefinition { FeatureTypeDefinition(id: code, name: name, domains: domains) }
}

extension FieldGroupDefinition {
    /// Reads the form in which definitions keep a group: `{name, restrictive, fields, contingencies}`.
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let name = object.string("name") else {
            throw .invalidParameter("A field group needs a name.")
        }
        let fields = object.array("fields").compactMap(\.stringValue)
        var contingencies: [ContingencyDefinition] = []
        for contingency in object.array("contingencies") {
            let read = try ContingencyDefinition(json: contingency)
            guard read.values.count == fields.count else {
                throw .invalidParameter("A contingency of the field group \(name) needs a value for each field.")
            }
            contingencies.append(read)
        }
        self.init(
            name: name, isRestrictive: object.bool("restrictive") ?? true, fields: fields, contingencies: contingencies)
    }

    package var json: JSONValue {
        var object = summaryJSON
        object.append("contingencies", .array(contingencies.map(\.json)))
        return .object(object)
    }

    /// The group without its contingencies, as the resource `fieldGroups` lists it.
    var summaryJSON: JSONObject {
        JSONObject([
            "name": .string(name), "restrictive": .bool(isRestrictive), "fields": .array(fields.map(JSONValue.string)),
        ])
    }
}

extension ContingencyDefinition {
    init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue else { throw .invalidParameter("A contingency is a JSON object.") }
        var values: [Value] = []
        for value in object.array("values") {
            switch value["type"]?.stringValue {
            case "any": values.append(.any)
            case "null": values.append(.null)
            case "code": values.append(.code(AttributeValue(json: value["code"] ?? .null)))
            case "range":
                guard let limits = value["range"]?.arrayValue, limits.count == 2 else {
                    throw .invalidParameter("The range of a contingency needs two limits.")
                }
                values.append(
                    .range(minimum: AttributeValue(json: limits[0]), maximum: AttributeValue(json: limits[1])))
            default: throw .invalidParameter("A contingent value is any, null, a code or a range.")
            }
        }
        self.init(
            id: object.integer("id") ?? 0, subtypeCode: object["subtypeCode"].map(AttributeValue.init(json:)) ?? .null,
            values: values, isRetired: object.bool("retired") ?? false)
    }

    var json: JSONValue {
        var object = JSONObject()
        object.append("id", JSONValue(id))
        if !subtypeCode.isNull { object.append("subtypeCode", subtypeCode.json) }
        object.append("values", .array(values.map(\.json)))
        if isRetired { object.append("retired", true) }
        return .object(object)
    }
}

extension ContingencyDefinition.Value {
    var json: JSONValue {
        switch self {
        case .any: ["type": "any"]
        case .null: ["type": "null"]
        case .code(let code): ["type": "code", "code": code.json]
        case .range(let minimum, let maximum): ["type": "range", "range": [minimum.json, maximum.json]]
        }
    }
}
