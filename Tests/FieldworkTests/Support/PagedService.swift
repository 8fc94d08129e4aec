import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

/// A service of numbered rows that gives few at a time and knows as much of paging as a test wants.
struct PagedService: Sendable {
    /// What a service of its age and make can do.
    enum Make: CaseIterable, CustomTestStringConvertible {
        case modern, withoutOrder, withoutPages, old

        var testDescription: String {
            switch self {
            case .modern: "pages and order"
            case .withoutOrder: "pages without order"
            case .withoutPages: "order without pages"
            case .old: "neither, and it does not tell what is cut"
            }
        }

        var paginates: Bool { self == .modern || self == .withoutOrder }
        var orders: Bool { self == .modern || self == .withoutPages }
    }

    let make: Make
    let ids: [Int64]
    var pageSize = 7

    /// The value of a row: in another order than the ids, with equal ones among them.
    static func value(_ id: Int64) -> Int64 { id &* 31 % 11 }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        guard request.path.hasSuffix("/query") else {
            return request.path.hasSuffix("/0")
                ? .json(layer.text) : .json(#"{"layers":[],"tables":[{"id":0,"name":"Rows"}]}"#)
        }
        let parameters = request.parameters
        var rows = chosen(parameters)
        if parameters["returnCountOnly"] == "true" { return .json("{\"count\":\(rows.count)}") }
        if parameters["returnIdsOnly"] == "true" {
            return .json(
                "{\"objectIdFieldName\":\"ID\",\"objectIds\":[\(rows.map(String.init).joined(separator: ","))]}")
        }
        if make.orders { rows = ordered(rows, parameters["orderByFields"] ?? "") }
        var count = pageSize
        if make.paginates {
            rows = Array(rows.dropFirst(parameters["resultOffset"].flatMap { Int($0) } ?? 0))
            count = min(count, parameters["resultRecordCount"].flatMap { Int($0) } ?? count)
        }
        let features = rows.prefix(count).map { "{\"attributes\":{\"ID\":\($0),\"Value\":\(Self.value($0))}}" }
        let isCut = make == .old || rows.count <= count ? "" : ",\"exceededTransferLimit\":true"
        return .json("{\"features\":[\(features.joined(separator: ","))]\(isCut)}")
    }

    private var layer: JSONValue {
        [
            "id": 0, "name": "Rows", "type": "Table", "currentVersion": make == .old ? 10.0 : 11.1,
            "maxRecordCount": JSONValue(pageSize),
            "advancedQueryCapabilities": make == .old
                ? .null : ["supportsPagination": .bool(make.paginates), "supportsOrderBy": .bool(make.orders)],
            "fields": [
                ["name": "ID", "type": "esriFieldTypeOID"], ["name": "Value", "type": "esriFieldTypeInteger"],
            ],
        ]
    }

    /// The rows that a query means, in the order in which they lie.
    private func chosen(_ parameters: [String: String]) -> [Int64] {
        var rows = ids
        if let list = parameters["objectIds"] {
            let named = Set(list.split(separator: ",").compactMap { Int64($0) })
            rows = rows.filter(named.contains)
        }
        guard let text = parameters["where"], let condition = try? SQLParser.parse(where: text) else { return rows }
        return rows.filter { id in Self.holds(condition, id) }
    }

    private static func holds(_ condition: SQLExpression, _ id: Int64) -> Bool {
        func value(_ expression: SQLExpression) -> Int64 {
            switch expression {
            case .field(let name): name == "ID" ? id : Self.value(id)
            case .literal(.integer(let number)): number
            case .negate(let inner): -value(inner)
            default: 0
            }
        }
        return switch condition {
        case .binary(.and, let one, let other): holds(one, id) && holds(other, id)
        case .binary(.equal, let one, let other): value(one) == value(other)
        case .binary(.greater, let one, let other): value(one) > value(other)
        case .binary(.greaterOrEqual, let one, let other): value(one) >= value(other)
        case .binary(.lessOrEqual, let one, let other): value(one) <= value(other)
        case .between(let one, let lower, let upper, _): value(one) >= value(lower) && value(one) <= value(upper)
        default: false
        }
    }

    private func ordered(_ rows: [Int64], _ text: String) -> [Int64] {
        let keys = text.split(separator: ",").map { $0.split(separator: " ").map(String.init) }
        return rows.sorted { one, other in
            for key in keys {
                let isID = key[0] == "ID"
                let (first, second) = (isID ? one : Self.value(one), isID ? other : Self.value(other))
                if first != second { return (first < second) != (key.last == "DESC") }
            }
            return false
        }
    }
}
