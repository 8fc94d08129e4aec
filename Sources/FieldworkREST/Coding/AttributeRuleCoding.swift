package import FieldworkGeometry

extension AttributeRuleDefinition {
    private static let readMembers: Set<String> = [
        "name", "type", "fieldName", "scriptExpression", "triggeringEvents", "triggeringFields", "evaluationOrder",
        "isEnabled", "excludeFromClientEvaluation", "subtypeCode", "errorNumber", "errorMessage",
    ]

    /// Reads a rule in the members that data elements of the protocol have.
    package init(json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let name = object.string("name"), !name.isEmpty else {
            throw .invalidParameter("An attribute rule needs a name.")
        }
        guard let kind = object.string("type").flatMap(Kind.init(rawValue:)) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidParameter("The type of the attribute rule \(name) is one of \(kinds).")
        }
        guard let script = object.string("scriptExpression") else {
            throw .invalidParameter("The attribute rule \(name) needs a scriptExpression.")
        }
        var events: Set<Event> = []
        for word in object.array("triggeringEvents") {
            guard let event = word.stringValue.flatMap(Event.init(rawValue:)) else {
                throw .invalidParameter("A triggering event of the attribute rule \(name) is unknown.")
            }
            events.insert(event)
        }
        self.init(
            name: name, kind: kind, fieldName: object.string("fieldName").flatMap { $0.isEmpty ? nil : $0 },
            script: script, events: events,
            triggeringFields: object.array("triggeringFields").compactMap(\.stringValue),
            order: object.integer("evaluationOrder") ?? 1, isEnabled: object.bool("isEnabled") ?? true,
            excludesClients: object.bool("excludeFromClientEvaluation") ?? false,
            subtypeCode: object["subtypeCode"].map(AttributeValue.init(json:)) ?? .null,
            errorNumber: object.integer("errorNumber") ?? 0, errorMessage: object.string("errorMessage") ?? "",
            unknownMembers: object.without(Self.readMembers))
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.append("name", .string(name))
        object.append("type", .string(kind.rawValue))
        object.append("evaluationOrder", JSONValue(order))
        object.append("fieldName", fieldName.map(JSONValue.string) ?? .null)
        object.append("subtypeCode", subtypeCode.json)
        object.append("errorNumber", JSONValue(errorNumber))
        object.append("errorMessage", .string(errorMessage))
        object.append("isEnabled", .bool(isEnabled))
        object.append("excludeFromClientEvaluation", .bool(excludesClients))
        object.append("scriptExpression", .string(script))
        let events = Event.allCases.filter(self.events.contains).map { JSONValue.string($0.rawValue) }
        object.append("triggeringEvents", .array(events))
        object.append("triggeringFields", .array(triggeringFields.map(JSONValue.string)))
        object.merge(unknownMembers)
        return .object(object)
    }
}
