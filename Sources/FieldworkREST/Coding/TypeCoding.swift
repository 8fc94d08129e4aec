package import FieldworkGeometry

extension FeatureTypeDefinition {
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue else { throw .invalidParameter("A feature type is a JSON object.") }
        var domains: [String: DomainDefinition] = [:]
        for member in object["domains"]?.objectValue?.members ?? [] where !member.value.isNull {
            domains[member.key] = try DomainDefinition(json: member.value)
        }
        var templates: [FeatureTemplateDefinition] = []
        for template in object.array("templates") { templates.append(try FeatureTemplateDefinition(json: template)) }
        self.init(
            id: AttributeValue(json: object["id"] ?? .null), name: object.string("name") ?? "", domains: domains,
            templates: templates, unknownMembers: object.without(["id", "name", "domains", "templates"]))
    }

    package var json: JSONValue {
        var domains = JSONObject()
        for (field, domain) in self.domains.sorted(by: { $0.key < $1.key }) { domains.append(field, domain.json) }
        var object: JSONObject = JSONObject([
            "id": id.json, "name": .string(name), "domains": .object(domains),
            "templates": .array(templates.map(\.json)),
        ])
        object.merge(unknownMembers)
        return .object(object)
    }
}

extension FeatureTemplateDefinition {
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue else { throw .invalidParameter("A feature template is a JSON object.") }
        var attributes: [String: AttributeValue] = [:]
        for member in object["prototype"]?["attributes"]?.objectValue?.members ?? [] {
            attributes[member.key] = AttributeValue(json: member.value)
        }
        self.init(
            name: object.string("name") ?? "", description: object.string("description") ?? "",
            drawingTool: object.string("drawingTool"), attributes: attributes,
            unknownMembers: object.without(["name", "description", "drawingTool", "prototype"]),
            unknownPrototypeMembers: object["prototype"]?.objectValue?.without(["attributes"]) ?? JSONObject())
    }

    package var json: JSONValue {
        var attributes = JSONObject()
        for (field, value) in self.attributes.sorted(by: { $0.key < $1.key }) { attributes.append(field, value.json) }
        var object = JSONObject()
        object.append("name", .string(name))
        object.append("description", .string(description))
        if let drawingTool { object.append("drawingTool", .string(drawingTool)) }
        var prototype = JSONObject(["attributes": .object(attributes)])
        prototype.merge(unknownPrototypeMembers)
        object.append("prototype", .object(prototype))
        object.merge(unknownMembers)
        return .object(object)
    }
}

extension RelationshipDefinition {
    private static let knownMembers: Set<String> = [
        "id", "name", "relatedTableId", "cardinality", "role", "keyField", "composite", "relationshipTableId",
        "keyFieldInRelationshipTable", "originDeleteRule",
    ]

    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let id = object.integer("id"),
            let related = object.integer("relatedTableId"),
            let cardinality = object.string("cardinality").flatMap(Cardinality.init(rawValue:))
        else { throw .invalidParameter("A relationship needs an id, a related table and a cardinality.") }
        self.init(
            id: id, name: object.string("name") ?? "", relatedTableID: related, cardinality: cardinality,
            role: object.string("role").flatMap(Role.init(rawValue:)) ?? .origin,
            keyField: object.string("keyField") ?? "", isComposite: object.bool("composite") ?? false,
            relationshipTableID: object.integer("relationshipTableId").flatMap { $0 >= 0 ? $0 : nil },
            keyFieldInRelationshipTable: object.string("keyFieldInRelationshipTable"),
            originDeletion: object.string("originDeleteRule").flatMap(OriginDeletion.init(rawValue:)),
            unknownMembers: object.without(Self.knownMembers))
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.append("id", JSONValue(id))
        object.append("name", .string(name))
        object.append("relatedTableId", JSONValue(relatedTableID))
        object.append("cardinality", .string(cardinality.rawValue))
        object.append("role", .string(role.rawValue))
        object.append("keyField", .string(keyField))
        object.append("composite", .bool(isComposite))
        if let relationshipTableID { object.append("relationshipTableId", JSONValue(relationshipTableID)) }
        if let keyFieldInRelationshipTable {
            object.append("keyFieldInRelationshipTable", .string(keyFieldInRelationshipTable))
        }
        // The protocol has no word for it: only what differs from its rule is told.
        if originDeletion != Self.usualDeletion(isComposite: isComposite) {
            object.append("originDeleteRule", .string(originDeletion.rawValue))
        }
        object.merge(unknownMembers)
        return .object(object)
    }
}

extension EditFieldsDefinition {
    package init?(json: JSONValue?) {
        guard let object = json?.objectValue else { return nil }
        func name(_ key: String) -> String? { object.string(key).flatMap { $0.isEmpty ? nil : $0 } }
        self.init(
            creationDateField: name("creationDateField"), creatorField: name("creatorField"),
            editDateField: name("editDateField"), editorField: name("editorField"), realm: name("realm"))
    }

    package var json: JSONValue {
        var object = JSONObject()
        if let creationDateField { object.append("creationDateField", .string(creationDateField)) }
        if let creatorField { object.append("creatorField", .string(creatorField)) }
        if let editDateField { object.append("editDateField", .string(editDateField)) }
        if let editorField { object.append("editorField", .string(editorField)) }
        object.append("realm", .string(realm ?? ""))
        object.append("dateFieldsTimeReference", ["timeZone": "UTC", "respectsDaylightSaving": false])
        return .object(object)
    }
}

extension Set<Capability> {
    /// The words of a `capabilities` text; unknown words are passed over.
    package init(text: String) { self = Set(Self.words(of: text).compactMap(Self.known)) }

    private static func words(of text: String) -> [Substring] {
        text.split(separator: ",").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }

    private static func known(_ word: Substring) -> Capability? {
        let word = word.filter { $0 != " " }.lowercased()
        return Capability.allCases.first { $0.rawValue.lowercased() == word }
    }

    /// The words of a `capabilities` text that are not known.
    static func unknownWords(in text: String) -> [Substring] { words(of: text).filter { known($0) == nil } }

    /// The words, and those that were told and not known.
    func text(with unknown: JSONValue?) -> String {
        ([text] + Self.unknownWords(in: unknown?.stringValue ?? "").map(String.init)).filter { !$0.isEmpty }
            .joined(separator: ",")
    }

    /// The words in the order in which the protocol's servers list them.
    package var text: String {
        [.create, .delete, .query, .update, .editing, .sync, .extract, .changeTracking, .uploads]
            .filter { contains($0) }.map(\.rawValue).joined(separator: ",")
    }
}
