package import FieldworkGeometry

extension FieldDefinition {
    private static let knownMembers: Set<String> = [
        "name", "type", "alias", "length", "nullable", "editable", "domain", "defaultValue",
    ]

    /// Reads a field of a layer resource. Throws for a field without a name or of a type that the protocol doesn't have.
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let name = object.string("name"), !name.isEmpty else {
            throw .invalidParameter("A field needs a name.")
        }
        guard let type = object.string("type").flatMap(FieldType.init(rawValue:)) else {
            throw .invalidParameter("The type of the field \(name) is unknown.")
        }
        let isMaintained = type == .oid || type == .globalID
        var unknownMembers = object.without(Self.knownMembers)
        // What is written for every field says nothing about this one.
        if unknownMembers["sqlType"] == Self.usualSQLType { unknownMembers["sqlType"] = nil }
        self.init(
            name: name, alias: object.string("alias"), type: type,
            length: type == .string ? Self.length(object.integer("length")) : 0,
            isNullable: object.bool("nullable") ?? !isMaintained, isEditable: object.bool("editable") ?? !isMaintained,
            defaultValue: object["defaultValue"].map(AttributeValue.init(json:)) ?? .null,
            domain: try object["domain"].flatMap { json throws(ServiceError) in
                json.isNull ? nil : try DomainDefinition(json: json)
            },
            unknownMembers: unknownMembers)
    }

    private static let usualSQLType: JSONValue = "sqlTypeOther"

    /// Services say the largest integer for a text of any length.
    private static func length(_ number: Int?) -> Int {
        guard let number, number > 0, number < Int(Int32.max) else { return 0 }
        return number
    }

    /// The field as the layer resource shows it.
    package var json: JSONValue {
        var object = JSONObject()
        object.append("name", .string(name))
        object.append("type", .string(type.rawValue))
        object.append("alias", .string(alias))
        object.append("sqlType", unknownMembers["sqlType"] ?? Self.usualSQLType)
        // Lengths of other types would be read as column widths by GDAL.
        switch type {
        case .string: object.append("length", JSONValue(length == 0 ? Int(Int32.max) : length))
        case .date: object.append("length", 8)
        case .guid, .globalID: object.append("length", 38)
        default: break
        }
        object.append("nullable", .bool(isNullable))
        object.append("editable", .bool(isEditable))
        object.append("domain", domain?.json ?? .null)
        object.append("defaultValue", defaultValue.json)
        object.merge(unknownMembers)
        return .object(object)
    }
}

extension DomainDefinition {
    private static let knownMembers: Set<String> = ["type", "name", "codedValues", "range"]

    /// Reads a domain.
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue else { throw .invalidParameter("A domain is a JSON object.") }
        let name = object.string("name") ?? ""
        let unknown = object.without(Self.knownMembers)
        switch object.string("type") {
        case "codedValue":
            let values = object.array("codedValues").map { value in
                CodedValue(
                    code: AttributeValue(json: value["code"] ?? .null), name: value["name"]?.stringValue ?? "")
            }
            self.init(name: name, kind: .codedValues(values), unknownMembers: unknown)
        case "range":
            let limits = object.array("range")
            guard limits.count == 2 else {
                throw .invalidParameter("The range of the domain \(name) needs two limits.")
            }
            self.init(
                name: name,
                kind: .range(minimum: AttributeValue(json: limits[0]), maximum: AttributeValue(json: limits[1])),
                unknownMembers: unknown)
        case "inherited": self.init(name: name, kind: .inherited, unknownMembers: unknown)
        default: throw .invalidParameter("The type of the domain \(name) is unknown.")
        }
    }

    package var json: JSONValue {
        var object = JSONObject()
        switch kind {
        case .codedValues(let values):
            object.append("type", "codedValue")
            object.append("name", .string(name))
            object.append(
                "codedValues", .array(values.map { ["name": .string($0.name), "code": $0.code.json] }))
        case .range(let minimum, let maximum):
            object.append("type", "range")
            object.append("name", .string(name))
            object.append("range", [minimum.json, maximum.json])
        case .inherited: object.append("type", "inherited")
        }
        object.merge(unknownMembers)
        return .object(object)
    }
}
