import FieldworkGeometry

/// `time` of a query: a moment, or two of which one may be `null`, in milliseconds since 1970, both
/// included. A feature with a start and an end is found when its time overlaps; one without an end goes on.
package struct TimeFilter {
    private let from: Int64?
    private let to: Int64?

    private static let millisecondsPerDay: Int64 = 86_400_000
    /// A quarter of a million years from 1970, as far as dates of other systems reach.
    private static let farthest: Int64 = 8_640_000_000_000_000
    /// The only way to relate times that clients send.
    private static let relation = "esriTimeRelationOverlaps"

    /// nil when the request names no time.
    init?(_ parameters: RequestParameters) throws(ServiceError) {
        guard let text = try parameters.list("time"), !["null", "null,null"].contains(text) else { return nil }
        if let relation = parameters["timeRelation"], relation != Self.relation {
            throw .invalidQuery("'timeRelation' must be \(Self.relation).")
        }
        var words = text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            String(word.filter { $0 != " " && $0 != "[" && $0 != "]" })
        }
        if words.count == 1 { words.append(words[0]) }
        guard words.count == 2 else { throw Self.malformed }
        from = try Self.moment(words[0])
        to = try Self.moment(words[1])
        if let from, let to, from > to { throw .invalidParameter("'time' must name the earlier moment first.") }
        if from == nil, to == nil { return nil }
    }

    /// For a client, which names moments and no parameters. nil for all times.
    package init?(from: Int64?, to: Int64?) {
        if from == nil, to == nil { return nil }
        self.from = from
        self.to = to
    }

    private static let malformed = ServiceError.invalidParameter(
        "'time' must be one or two moments in milliseconds since 1970; one of two may be null.")

    private static func moment(_ word: String) throws(ServiceError) -> Int64? {
        if word.lowercased() == "null" { return nil }
        guard let moment = Int64(word), (-farthest...farthest).contains(moment) else { throw malformed }
        return moment
    }

    /// The condition on the fields that the layer names for it. Throws for a layer without times.
    package func condition(in layer: LayerDefinition) throws(ServiceError) -> SQLExpression {
        guard let info = layer.timeInfo, let start = layer.field(named: info.startTimeField) else {
            throw .invalidQuery("'time': the layer has no times.")
        }
        let end = info.endTimeField.flatMap { layer.field(named: $0) }
        var parts: [SQLExpression] = []
        if let to { parts.append(.binary(.lessOrEqual, .field(start.name), try Self.literal(to, for: start))) }
        if let from {
            let last = end ?? start
            let isLater = SQLExpression.binary(
                .greaterOrEqual, .field(last.name), try Self.literal(from, for: last))
            parts.append(end == nil ? isLater : .binary(.or, isLater, .isNull(.field(last.name), negated: false)))
        }
        // A feature whose time nobody knows is at no time.
        if end != nil, to == nil { parts.append(.isNull(.field(start.name), negated: true)) }
        let all = parts.dropFirst().reduce(parts[0]) { .binary(.and, $0, $1) }
        return try all.bound(to: layer)
    }

    private static func literal(_ moment: Int64, for field: FieldDefinition) throws(ServiceError) -> SQLExpression {
        switch field.type {
        case .date: return .literal(.timestamp(moment))
        // A day is there from its first moment to its last.
        case .dateOnly:
            let (days, rest) = moment.quotientAndRemainder(dividingBy: millisecondsPerDay)
            return .literal(.date((rest < 0 ? days - 1 : days) * millisecondsPerDay))
        default: throw .invalidQuery("'time': the field \(field.name) holds no moments that can be compared.")
        }
    }
}

extension FeatureQuery {
    /// Leaves out what was not there at the `time` of the request.
    package mutating func restrictToTime(_ parameters: RequestParameters, _ layer: LayerDefinition) throws(ServiceError)
    {
        guard let filter = try TimeFilter(parameters) else { return }
        let time = try filter.condition(in: layer)
        condition = condition.map { .binary(.and, time, $0) } ?? time
    }
}

extension RequestParameters {
    /// `historicMoment`: milliseconds since 1970; nil for the features as they are now.
    func historicMoment() throws(ServiceError) -> Int64? {
        guard let text = self["historicMoment"], text.lowercased() != "null" else { return nil }
        guard let moment = Int64(text.filter { $0 != " " }) else {
            throw .invalidParameter("'historicMoment' must be milliseconds since 1970.")
        }
        return moment
    }
}
