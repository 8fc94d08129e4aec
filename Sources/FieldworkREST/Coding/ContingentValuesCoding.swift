package import FieldworkGeometry

/// The resources `fieldGroups` and `contingentValues` of a layer. The second is packed: a contingency has a
/// type for each field of its group, and a value only for codes and ranges; codes of text fields are positions in the
/// dictionary of their domain.
package enum ContingentValuesCoding {
    private static let typeCodes = ["Unknown", "Any", "Null", "Code", "Range"]

    package static func fieldGroups(of layer: LayerDefinition) -> JSONValue {
        ["fieldGroups": .array(layer.fieldGroups.map { .object($0.summaryJSON) })]
    }

    // MARK: Writing

    package static func contingentValues(of layer: LayerDefinition) -> JSONValue {
        var packer = Packer(layer: layer)
        let groups = layer.fieldGroups.map { packer.group($0) }
        return [
            "typeCodes": .array(typeCodes.map(JSONValue.string)), "stringDicts": packer.dictionariesJSON,
            "contingentValuesDefinition": ["fieldGroups": .array(groups)],
        ]
    }

    private struct Packer {
        let layer: LayerDefinition
        private var dictionaries: [(domain: String, entries: [String], positions: [String: Int])] = []

        init(layer: LayerDefinition) { self.layer = layer }

        var dictionariesJSON: JSONValue {
            .array(
                dictionaries.map {
                    ["entries": .array($0.entries.map(JSONValue.string)), "domain": .string($0.domain)]
                })
        }

        mutating func group(_ group: FieldGroupDefinition) -> JSONValue {
            var object = JSONObject()
            object.append("name", .string(group.name))
            object.append("restrictive", .bool(group.isRestrictive))
            let common = group.contingencies.filter(\.subtypeCode.isNull)
            if !common.isEmpty || layer.subtypes.isEmpty {
                object.append("contingentValues", .array(common.map { packed($0, group, nil) }))
            }
            guard !layer.subtypes.isEmpty else { return .object(object) }
            var subtypes: [JSONValue] = []
            for subtype in layer.subtypes {
                let own = group.contingencies.filter { $0.subtypeCode == subtype.code }
                guard !own.isEmpty else { continue }
                subtypes.append([
                    "code": subtype.code.json, "name": .string(subtype.name),
                    "contingentValues": .array(own.map { packed($0, group, subtype) }),
                ])
            }
            object.append("subTypes", .array(subtypes))
            return .object(object)
        }

        private mutating func packed(
            _ contingency: ContingencyDefinition, _ group: FieldGroupDefinition, _ subtype: SubtypeDefinition?
        ) -> JSONValue {
            var types: [JSONValue] = []
            var values: [JSONValue] = []
            for (name, value) in zip(group.fields, contingency.values) {
                switch value {
                case .any: types.append(1)
                case .null: types.append(2)
                case .code(let code):
                    types.append(3)
                    values.append(packed(code, domain: layer.domain(of: name, in: subtype)?.name))
                case .range(let minimum, let maximum):
                    types.append(4)
                    values.append(["range": [minimum.json, maximum.json]])
                }
            }
            var object = JSONObject()
            object.append("id", JSONValue(contingency.id))
            object.append("types", .array(types))
            object.append("values", .array(values))
            if contingency.isRetired { object.append("retired", 1) }
            return .object(object)
        }

        private mutating func packed(_ code: AttributeValue, domain: String?) -> JSONValue {
            guard case .text(let text) = code, let domain else { return code.json }
            let index: Int
            if let known = dictionaries.firstIndex(where: { $0.domain == domain }) {
                index = known
            } else {
                index = dictionaries.count
                dictionaries.append((domain, [], [:]))
            }
            if let position = dictionaries[index].positions[text] { return JSONValue(position) }
            let position = dictionaries[index].entries.count
            dictionaries[index].entries.append(text)
            dictionaries[index].positions[text] = position
            return JSONValue(position)
        }
    }

    // MARK: Reading

    /// The field groups of a layer from both resources of a service.
    package static func read(
        fieldGroups: JSONValue, contingentValues: JSONValue, layer: LayerDefinition
    ) throws(ServiceError) -> [FieldGroupDefinition] {
        var groups: [FieldGroupDefinition] = []
        for json in fieldGroups["fieldGroups"]?.arrayValue ?? [] { groups.append(try FieldGroupDefinition(json: json)) }
        let unpacker = Unpacker(layer: layer, document: contingentValues)
        for packed in contingentValues["contingentValuesDefinition"]?["fieldGroups"]?.arrayValue ?? [] {
            guard let index = groups.firstIndex(where: { $0.name == packed["name"]?.stringValue }) else { continue }
            let common = packed["contingentValues"]?.arrayValue ?? []
            groups[index].contingencies = try unpacker.contingencies(common, of: groups[index], nil)
            for subtype in packed["subTypes"]?.arrayValue ?? [] {
                let code = AttributeValue(json: subtype["code"] ?? .null)
                let known =
                    layer.subtypes.first { $0.code == code }
                    ?? SubtypeDefinition(code: code, name: subtype["name"]?.stringValue ?? "")
                groups[index].contingencies += try unpacker.contingencies(
                    subtype["contingentValues"]?.arrayValue ?? [], of: groups[index], known)
            }
        }
        return groups
    }

    private struct Unpacker {
        let layer: LayerDefinition
        let typeCodes: [String]
        let dictionaries: [String: [String]]

        init(layer: LayerDefinition, document: JSONValue) {
            self.layer = layer
            typeCodes = document["typeCodes"]?.arrayValue?.map { $0.stringValue ?? "" } ?? []
            var dictionaries: [String: [String]] = [:]
            for dictionary in document["stringDicts"]?.arrayValue ?? [] {
                guard let domain = dictionary["domain"]?.stringValue else { continue }
                dictionaries[domain] = dictionary["entries"]?.arrayValue?.map { $0.stringValue ?? "" } ?? []
            }
            self.dictionaries = dictionaries
        }

        func contingencies(
            _ packed: [JSONValue], of group: FieldGroupDefinition, _ subtype: SubtypeDefinition?
        ) throws(ServiceError) -> [ContingencyDefinition] {
            var result: [ContingencyDefinition] = []
            for json in packed {
                result.append(
                    ContingencyDefinition(
                        id: json["id"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0,
                        subtypeCode: subtype?.code ?? .null, values: try values(json, group, subtype),
                        isRetired: json["retired"]?.integerValue == 1 || json["retired"]?.boolValue == true))
            }
            return result
        }

        private func values(
            _ json: JSONValue, _ group: FieldGroupDefinition, _ subtype: SubtypeDefinition?
        ) throws(ServiceError) -> [ContingencyDefinition.Value] {
            let malformed = ServiceError.invalidParameter("The contingent values of \(group.name) are malformed.")
            let types = json["types"]?.arrayValue ?? []
            guard types.count == group.fields.count else { throw malformed }
            var rest = (json["values"]?.arrayValue ?? [])[...]
            var values: [ContingencyDefinition.Value] = []
            for (field, type) in zip(group.fields, types) {
                guard let number = type.integerValue, let index = Int(exactly: number),
                    typeCodes.indices.contains(index)
                else { throw malformed }
                switch typeCodes[index] {
                case "Any": values.append(.any)
                case "Null": values.append(.null)
                case "Code":
                    guard let code = rest.popFirst() else { throw malformed }
                    values.append(.code(try unpacked(code, field, subtype, malformed)))
                case "Range":
                    guard let limits = rest.popFirst()?["range"]?.arrayValue, limits.count == 2 else { throw malformed }
                    values.append(
                        .range(minimum: AttributeValue(json: limits[0]), maximum: AttributeValue(json: limits[1])))
                default: throw malformed
                }
            }
            return values
        }

        private func unpacked(
            _ code: JSONValue, _ field: String, _ subtype: SubtypeDefinition?, _ malformed: ServiceError
        ) throws(ServiceError) -> AttributeValue {
            guard layer.field(named: field)?.type == .string, let domain = layer.domain(of: field, in: subtype)?.name,
                let entries = dictionaries[domain]
            else { return AttributeValue(json: code) }
            guard let position = code.integerValue, let index = Int(exactly: position), entries.indices.contains(index)
            else { throw malformed }
            return .text(entries[index])
        }
    }
}

extension LayerDefinition {
    /// The domain of a field in a subtype: the subtype's own, else the field's.
    package func domain(of name: String, in subtype: SubtypeDefinition?) -> DomainDefinition? {
        let own = subtype?.domains.first { $0.key == name || $0.key.lowercased() == name.lowercased() }?.value
        if let own, own.kind != .inherited { return own }
        return field(named: name)?.domain
    }
}
