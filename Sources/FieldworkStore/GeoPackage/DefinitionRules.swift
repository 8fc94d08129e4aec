import FieldworkREST

/// What a definition must be for a GeoPackage to hold it.
enum DefinitionRules {
    static func check(_ service: ServiceDefinition) throws {
        try check(service.name)
        guard service.layers.count <= Limits.layersPerService else {
            throw invalid("A service holds at most \(Limits.layersPerService) layers and tables.")
        }
        var ids: Set<Int> = []
        for layer in service.layers {
            guard layer.id >= 0, ids.insert(layer.id).inserted else {
                throw invalid("Layer ids must be unique and not negative: \(layer.id).")
            }
            try check(layer)
        }
        if let problem = service.scriptProblems.first { throw invalid("\(problem)") }
        try RelationshipDefinitionRules(service: service).check()
    }

    /// Names become file names: nothing in them may lead elsewhere.
    static func check(_ name: ServiceName) throws {
        for part in [name.folder, name.name].compactMap(\.self) {
            let isClean = part.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || "_-. ".unicodeScalars.contains($0)
            }
            guard isClean, !part.isEmpty, !part.hasPrefix("."), !part.hasPrefix(" "), !part.hasSuffix(" "),
                part.utf8.count <= Limits.serviceNameLength
            else {
                throw invalid(
                    "\"\(part)\" is no name for a service or folder: use letters, digits, space, _, - and . (not first)."
                )
            }
        }
    }

    private static func check(_ layer: LayerDefinition) throws {
        guard layer.fields.count <= Limits.fieldsPerLayer else {
            throw invalid("Layer \(layer.id) has more than \(Limits.fieldsPerLayer) fields.")
        }
        var names: Set<String> = []
        for field in layer.fields {
            guard !field.name.isEmpty, !field.name.unicodeScalars.contains(where: { $0.value == 0 }),
                names.insert(field.name.lowercased()).inserted
            else { throw invalid("Layer \(layer.id): field names must be unique and not empty: \"\(field.name)\".") }
            guard !field.name.lowercased().hasPrefix("fieldwork_") else {
                throw invalid("Layer \(layer.id): names that start with fieldwork_ are taken: \(field.name).")
            }
            guard field.length >= 0 else { throw invalid("Layer \(layer.id): \(field.name) has a negative length.") }
        }
        guard layer.field(named: layer.objectIDField)?.type == .oid else {
            throw invalid("Layer \(layer.id) has no object id field \(layer.objectIDField).")
        }
        guard layer.fields.filter({ $0.type == .oid }).count == 1 else {
            throw invalid("Layer \(layer.id) has more than one object id field.")
        }
        if let globalID = layer.globalIDField, layer.field(named: globalID).map({ $0.type.isText }) != true {
            throw invalid("Layer \(layer.id) has no global id field \(globalID).")
        }
        if !layer.isTable, layer.spatialReference == nil {
            throw invalid("Layer \(layer.id) has a geometry but no spatial reference.")
        }
    }

    private static func invalid(_ message: String) -> StoreError { StoreError(.invalidDefinition, message) }
}
