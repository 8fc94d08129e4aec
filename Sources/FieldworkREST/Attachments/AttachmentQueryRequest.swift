import FieldworkGeometry

/// A `queryAttachments` of a layer or table.
package struct AttachmentQueryRequest: Sendable {
    package var query: AttachmentQuery
    package var countsOnly: Bool
    /// Whether each attachment comes with its address.
    package var returnsURL: Bool

    package init(_ parameters: RequestParameters, layer: LayerDefinition) throws(ServiceError) {
        try parameters.refuse(["gdbVersion", "historicMoment", "sessionID"])
        var features = FeatureQuery()
        if let text = parameters["definitionExpression"] {
            features.condition = try FeatureQuery.condition(text, layer, parameter: "definitionExpression")
        }
        features.restrict(to: layer)
        features.objectIDs = try parameters.objectIDs("objectIds")
        features.globalIDs = try parameters.globalIDs("globalIds")
        if features.globalIDs != nil, layer.globalIDField == nil {
            throw .invalidParameter("'globalIds': the layer has no global ids.")
        }
        query = AttachmentQuery(features: features)
        if let text = parameters["attachmentsDefinitionExpression"] {
            query.condition = try FeatureQuery.condition(
                text, AttachmentFields.definition, parameter: "attachmentsDefinitionExpression")
        }
        query.contentTypes = try parameters.words("attachmentTypes")?.map(Self.contentType)
        query.sizes = try Self.sizes(parameters)
        if let keywords = try parameters.words("keywords"), !keywords.isEmpty { query.keywords = keywords }
        query.order = try Self.order(parameters)
        query.offset = try QueryRequest.nonNegative("resultOffset", parameters) ?? 0
        query.returnsExif = try parameters.bool("returnMetadata") ?? false
        // Each photo that is looked into is read.
        let most = query.returnsExif ? Limits.attachmentsWithMetadata : Limits.attachmentsPerAnswer
        query.limit = min(try QueryRequest.nonNegative("resultRecordCount", parameters) ?? most, most)
        countsOnly = try parameters.bool("returnCountOnly") ?? false
        returnsURL = try parameters.bool("returnUrl") ?? false
    }

    /// `image/png`, `png` and `image` are all understood.
    private static func contentType(_ word: String) -> String {
        AttachmentTypes.normalForm(word) ?? word.lowercased()
    }

    /// `least,most` in bytes; either may be absent.
    private static func sizes(_ parameters: RequestParameters) throws(ServiceError) -> ClosedRange<Int64>? {
        guard let text = try parameters.list("size") else { return nil }
        let words = text.filter { $0 != " " && $0 != "[" && $0 != "]" }
            .split(separator: ",", omittingEmptySubsequences: false)
        func bound(_ index: Int, _ otherwise: Int64) -> Int64? {
            guard words.indices.contains(index), !words[index].isEmpty else { return otherwise }
            return Int64(words[index])
        }
        guard words.count <= 2, let least = bound(0, 0), let most = bound(1, .max), 0 <= least, least <= most else {
            throw .invalidParameter("'size' must be the least and the greatest number of bytes: 1000,20000.")
        }
        return least...most
    }

    private static func order(_ parameters: RequestParameters) throws(ServiceError) -> [FeatureQuery.OrderTerm] {
        try (parameters.words("orderByFields") ?? []).map { word throws(ServiceError) in
            let parts = word.split(separator: " ")
            let direction = parts.count == 2 ? parts[1].uppercased() : "ASC"
            guard (1...2).contains(parts.count), ["ASC", "DESC"].contains(direction),
                let field = AttachmentFields.field(forProperty: String(parts[0]))
            else { throw .invalidParameter("'orderByFields': '\(word.prefix(64))' is no property of attachments.") }
            return FeatureQuery.OrderTerm(expression: .field(field), isDescending: direction == "DESC")
        }
    }
}
