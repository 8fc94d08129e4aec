package import FieldworkGeometry

/// One thing that is wrong with a definition document, and where.
package struct DefinitionProblem: Sendable, Hashable, CustomStringConvertible {
    /// The place in the document, as in `layers[0].fields[2].domain`; `$` for the document itself.
    package var path: String
    package var message: String

    package init(path: String, message: String) {
        self.path = path.isEmpty ? "$" : path
        self.message = message
    }

    package var description: String { "\(path): \(message)" }
}

/// All that is wrong with a definition document.
package struct DefinitionProblems: Error, Sendable, Hashable {
    package var problems: [DefinitionProblem]

    package init(_ problems: [DefinitionProblem]) { self.problems = problems }

    /// For a client of the protocol.
    package var serviceError: ServiceError {
        ServiceError(
            code: 400, message: "The definition is not valid. Nothing was changed.",
            details: problems.map(\.description))
    }
}

extension ServiceDefinition {
    /// Members of resources that the server counts or knows itself; in a document they say nothing.
    private static let derivedMembers: Set<String> = [
        "currentVersion", "hasVersionedData", "supportsDisconnectedEditing", "syncEnabled", "syncCapabilities",
        "supportsReturnDeleteResults", "supportsRelationshipsResource", "supportsAppend",
        "supportsApplyEditsWithGlobalIds", "supportsTrueCurve", "hasStaticData", "allowGeometryUpdates",
        "supportedQueryFormats", "supportsDatumTransformation",
        "supportsQueryContingentValues", EditTurn.ability, "units", "relationships", "name", "folder", "revision",
    ]

    /// Tells one definition from another: a document that was written carries it, so that a change that somebody else made
    /// in between is noticed. FNV-1a over the document.
    package var revision: String {
        let hash = document.text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }

    /// The whole definition as one document, in the members that the service's and its layers' resources have. What is
    /// written here can be changed and read again by `init(document:name:)`.
    package var document: JSONValue {
        var object = storageJSON.objectValue ?? JSONObject()
        for key in ["folder", "name", "layerDefinitions", "unknownMembers"] { object[key] = nil }
        object.merge(unknownMembers)
        object["layers"] = .array(layers.filter { !$0.isTable }.map(\.storageJSON))
        object["tables"] = .array(layers.filter(\.isTable).map(\.storageJSON))
        return .object(object)
    }

    /// Reads a document. Throws every problem that it has, each with its place.
    /// - Parameter old: the definition that the new one takes the place of. A problem that this has too is none of the
    ///   change: services that were made elsewhere may name what they don't have, and can be changed all the same.
    package init(
        document: JSONValue, name: ServiceName, replacing old: ServiceDefinition? = nil
    ) throws(DefinitionProblems) {
        var check = DefinitionCheck()
        check.run(document)
        if !check.problems.isEmpty, let old {
            var known = DefinitionCheck()
            known.run(old.document)
            check.forgive(Set(known.problems))
        }
        guard check.problems.isEmpty, let object = document.objectValue else {
            throw DefinitionProblems(check.problems)
        }
        do {
            var layers: [LayerDefinition] = []
            for layer in object.array("layers") { layers.append(try Self.layer(layer, type: "Feature Layer")) }
            for table in object.array("tables") { layers.append(try Self.layer(table, type: "Table")) }
            try self.init(name: name, json: .object(object.without(Self.derivedMembers)), layers: layers)
        } catch {
            throw DefinitionProblems([
                DefinitionProblem(path: "", message: ([error.message] + error.details).joined(separator: " "))
            ])
        }
        if object["capabilities"] == nil { capabilities = [.query] }
    }

    private static func layer(_ json: JSONValue, type: String) throws(ServiceError) -> LayerDefinition {
        var derived = Set(LayerAbilities.members(isTable: false, hasAttachments: true).keys)
        derived.formUnion([
            "currentVersion", "parentLayer", "subLayers", "editingInfo", "adminLayerInfo", "maxRecordCountFactor",
            "archivingInfo",
        ])
        // It tells something of the author's, not only of the server.
        derived.remove("htmlPopupType")
        var object = (json.objectValue ?? JSONObject()).without(derived)
        object["type"] = .string(type)
        return try LayerDefinition(json: .object(object))
    }
}
