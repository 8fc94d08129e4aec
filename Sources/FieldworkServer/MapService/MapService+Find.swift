import FieldworkGeometry
import FieldworkREST
import FieldworkStore

extension MapService {
    /// `find`: features that have a text in one of their fields.
    func find(_ published: PublishedService, _ request: ServiceRequest) async throws -> Answer {
        let format = try request.format()
        let find = try FindRequest(request.parameters)
        var results = MapResults(maximum: published.definition.maxRecordCount)
        for layer in find.choice.layers(of: published.definition, scale: nil) {
            try Permissions(service: published.definition, layer: layer).require(.query)
            let fields = find.fields(of: layer)
            guard results.room > 0, let condition = find.condition(fields) else { continue }
            var query = try LayerConditions.query(layer, find.conditions)
            query.condition = query.condition.map { .binary(.and, $0, condition) } ?? condition
            find.output.apply(to: &query, layer: layer)
            let found = try await self.found(query, in: layer, of: published, room: results.room)
            let more = found.features.map { feature in
                find.output.result(feature, of: layer, found: find.field(of: feature, among: fields))
            }
            results.add(more, isCut: found.isCut)
        }
        return .json(results.json, format: format == .html ? .json : format)
    }
}

/// A `find` of a map service, read.
struct FindRequest: Sendable {
    /// Part of a value without regard to case, or the whole value as it is.
    enum Match: Sendable, Hashable {
        case part, whole
    }

    var text: String
    var match: Match
    /// Lower-case names; nil for every field.
    var fieldNames: Set<String>?
    var choice: MapLayerChoice
    var conditions: [Int: String]
    var output: MapFeatureOutput

    init(_ parameters: RequestParameters) throws(ServiceError) {
        try MapService.refuse(
            ["gdbVersion", "historicMoment", "dynamicLayers", "layerParameterValues", "time"], in: parameters)
        guard let text = parameters["searchText"], text.utf8.count <= Limits.searchTextBytes else {
            throw .invalidParameter("'searchText' must be the text to find.")
        }
        guard parameters["layers"] != nil else {
            throw .invalidParameter("'layers' must name the layers to search.")
        }
        self.text = text
        match = try parameters.bool("contains") ?? true ? .part : .whole
        fieldNames = try parameters.words("searchFields").map { Set($0.map { $0.lowercased() }) }
        choice = try MapLayerChoice(parameters.list("layers"))
        if choice.ids != nil || choice.mode == .top { choice.mode = .all }
        conditions = try LayerConditions.read(parameters)
        output = try MapFeatureOutput(parameters, reference: try parameters.spatialReference("sr"))
    }

    /// The fields of a layer that are searched.
    func fields(of layer: LayerDefinition) -> [FieldDefinition] {
        layer.fields.filter { field in
            guard field.type != .geometry, field.type != .blob, field.type != .raster, field.type != .date else {
                return false
            }
            guard let fieldNames else { return true }
            return fieldNames.contains(field.name.lowercased()) || fieldNames.contains(field.alias.lowercased())
        }
    }

    /// Whether one of the fields has the text: in its value, or in the name of its code. nil without a field.
    func condition(_ fields: [FieldDefinition]) -> SQLExpression? {
        fields.map(condition).reduce(nil) { either, next in either.map { .binary(.or, $0, next) } ?? next }
    }

    private func condition(_ field: FieldDefinition) -> SQLExpression {
        let codes = matchingCodes(of: field)
        let value = SQLExpression.field(field.name)
        let own = valueCondition(field.type.isText ? value : .cast(value, .text(length: nil)))
        return codes.isEmpty ? own : .binary(.or, own, .inList(value, codes, negated: false))
    }

    private func valueCondition(_ value: SQLExpression) -> SQLExpression {
        guard match == .part else { return .binary(.equal, value, .literal(.string(text))) }
        var pattern = "%"
        for character in Self.lowercased(text) {
            if character == "%" || character == "_" || character == "\\" { pattern.append("\\") }
            pattern.append(character)
        }
        return .like(
            .function(.lower, [value]), pattern: .literal(.string(pattern + "%")), escape: "\\", negated: false)
    }

    private func matchingCodes(of field: FieldDefinition) -> [SQLExpression] {
        guard case .codedValues(let codes)? = field.domain?.kind else { return [] }
        return codes.filter { matches($0.name) }.compactMap { code in
            switch code.code {
            case .integer(let number): .literal(.integer(number))
            case .real(let number): .literal(.real(number))
            case .text(let text): .literal(.string(text))
            case .null, .data: nil
            }
        }
    }

    /// The first field of a feature that has the text.
    func field(of feature: JSONValue, among fields: [FieldDefinition]) -> FieldDefinition? {
        fields.first { field in
            guard let value = feature["attributes"]?[field.name], !value.isNull else { return false }
            return matches(value.stringValue ?? value.text) || matches(MapFeatureOutput.text(value, of: field))
        } ?? fields.first
    }

    private func matches(_ value: String) -> Bool {
        match == .whole ? value == text : Self.lowercased(value).contains(Self.lowercased(text))
    }

    /// As the store's `LOWER` does.
    private static func lowercased(_ text: String) -> String { LetterCase.lower.of(text) }
}
