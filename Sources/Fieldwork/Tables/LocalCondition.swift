import FieldworkGeometry
import FieldworkREST

/// Conditions as the client needs them: for rows on this device, and put together for the service.
enum LocalCondition {
    private static let all: Set<String> = ["", "1=1", "1 = 1"]

    static func isAll(_ text: String) -> Bool { all.contains(text) }

    /// The condition as a tree whose fields are the layer's; nil for all rows.
    static func expression(_ text: String, layer: LayerDefinition) throws -> SQLExpression? {
        if isAll(text) { return nil }
        do {
            return try SQLParser.parse(where: text).bound(to: layer)
        } catch let error as FieldworkREST.ServiceError {
            throw ServiceError(error)
        } catch {
            throw CommonError.invalidArgument(details: "The condition can't be read: \(error)")
        }
    }

    /// A value to order by: a field, or an expression over fields.
    static func value(_ text: String, layer: LayerDefinition) throws -> SQLExpression {
        do {
            return try SQLParser.parse(expression: text).bound(to: layer)
        } catch {
            throw CommonError.invalidArgument(details: "The order can't be read: \(error)")
        }
    }

    /// Two conditions that both have to hold. Each is read on its own first, so that neither can reach into the other.
    static func both(_ one: String, _ other: String) throws -> String {
        if isAll(one) { return other }
        if isAll(other) { return one }
        for text in [one, other] {
            do {
                _ = try SQLParser.parse(where: text)
            } catch {
                throw CommonError.invalidArgument(details: "The condition can't be read: \(error)")
            }
        }
        return "(\(one)) AND (\(other))"
    }
}

extension LayerQuery {
    /// The query as rows on this device are asked: without paging and output, which come after the merge.
    func local(_ layer: LayerDefinition, objectIDs ids: [Int64]?) throws -> FeatureQuery {
        var query = FeatureQuery(condition: try LocalCondition.expression(condition, layer: layer))
        query.objectIDs = ids
        if let time = try timeCondition(layer) {
            query.condition = query.condition.map { .binary(.and, time, $0) } ?? time
        }
        guard let geometry, let reference = layer.spatialReference else { return query }
        query.spatialFilter = SpatialFilter(
            geometry: try GeometryEngine.projected(geometry, into: reference), relation: relationship.filterRelation)
        return query
    }

    private func timeCondition(_ layer: LayerDefinition) throws -> SQLExpression? {
        guard let (from, to) = time?.milliseconds, let filter = TimeFilter(from: from, to: to) else { return nil }
        do {
            return try filter.condition(in: layer)
        } catch {
            throw ServiceError(error)
        }
    }

    /// Rows in the order of the query; the object id decides between equal ones. Features that have only a temporary id
    /// come last, in the order in which they were added.
    func sorted(_ records: [FeatureRecord]) -> [FeatureRecord] {
        records.sorted { one, other in
            for key in order {
                let (first, second) = (one.attributes[key.field] ?? .null, other.attributes[key.field] ?? .null)
                if let isLess = Self.isLess(first, second) { return isLess != key.isDescending }
            }
            if (one.objectID < 0) != (other.objectID < 0) { return one.objectID >= 0 }
            return one.objectID < 0 ? one.objectID > other.objectID : one.objectID < other.objectID
        }
    }

    /// nil when equal. Null comes first, as in the store.
    private static func isLess(_ one: AttributeValue, _ other: AttributeValue) -> Bool? {
        if one == other { return nil }
        if one.isNull || other.isNull { return one.isNull }
        if let first = one.doubleValue, let second = other.doubleValue { return first == second ? nil : first < second }
        if let first = one.textValue, let second = other.textValue {
            return first.unicodeScalars.lexicographicallyPrecedes(second.unicodeScalars)
        }
        return nil
    }
}
