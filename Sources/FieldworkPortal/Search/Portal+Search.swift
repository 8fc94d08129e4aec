import FieldworkREST
import FieldworkStore

/// One page of what a search found.
package struct SearchResult: Sendable, Hashable {
    package var total: Int
    package var items: [Item]
}

/// How results are sorted.
package enum SearchOrder: String, Sendable, Hashable {
    case title, created, modified, owner, type, size
    case views = "numviews"

    package init?(word: String) {
        switch word.lowercased() {
        case "uploaded": self = .created
        case "views", "avgrating", "numratings", "numcomments", "popularity": self = .views
        case "relevance", "": self = .modified
        case "name": self = .title
        case let word:
            guard let order = SearchOrder(rawValue: word) else { return nil }
            self = order
        }
    }

    /// Whether the items can be walked in this order.
    var isIndexed: Bool { self == .title || self == .modified }

    var column: String {
        switch self {
        case .title: "i.sort_title"
        case .created: "i.created"
        case .modified: "i.modified"
        case .owner: "i.owner"
        case .type: "i.type"
        case .size: "i.size"
        case .views: "i.views"
        }
    }
}

extension Portal {
    /// Finds items that the caller may read.
    /// - Parameters:
    ///   - filter: a second search that results must meet.
    ///   - start: how many results come before the first.
    package func search(
        _ text: String, filter: String? = nil, from start: Int = 0, count: Int = 10, order: SearchOrder = .modified,
        isDescending: Bool = true, for principal: Principal
    ) async throws -> SearchResult {
        let parts = try ([text] + (filter.map { [$0] } ?? [])).map { text throws(PortalError) in
            try SearchParser.parse(text)
        }
        let query = parts.count > 1 ? SearchQuery.and(parts) : parts[0]
        let organisation = try await id()
        // The few that a rare word has are listed and sorted; of many, the first in the order are met soon on a walk along it.
        let (listed, walked) = (
            Self.condition(query, organisation, for: principal, probing: false),
            Self.condition(query, organisation, for: principal, probing: true)
        )
        let direction = isDescending ? "DESC" : "ASC"
        let limit = min(max(0, count), Limits.resultsPerPage)
        return try await records.read { records in
            let total =
                try records.row("SELECT count(*) FROM {items} AS i WHERE \(listed.sql)", listed.arguments)?.integer(0)
                ?? 0
            guard limit > 0, total > 0 else { return SearchResult(total: Int(total), items: []) }
            let condition = total > Limits.sortedResults && order.isIndexed ? walked : listed
            let rows = try records.rows(
                """
                SELECT \(Self.itemColumns) FROM \(Self.itemTables) WHERE \(condition.sql)
                ORDER BY \(order.column) \(direction), i.id \(direction) LIMIT \(limit) OFFSET \(max(0, start))
                """, condition.arguments)
            let items = try rows.map { row in
                var item = Self.item(row)
                item.sharing.groups = try Self.groups(of: item.id, records)
                return item
            }
            return SearchResult(total: Int(total), items: items)
        }
    }

    private static func condition(
        _ query: SearchQuery, _ organisation: String, for principal: Principal, probing: Bool
    ) -> (sql: String, arguments: [AttributeValue]) {
        var compiler = SearchCompiler(organisation: organisation, probing: probing)
        var sql = compiler.condition(query)
        sql += " AND " + compiler.readable(by: principal)
        return (sql, compiler.arguments)
    }

    /// Checks a search without running it.
    package static func check(search text: String) throws(PortalError) { _ = try SearchParser.parse(text) }
}
