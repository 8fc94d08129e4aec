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
        var compiler = SearchCompiler(organisation: try await id())
        var condition = compiler.condition(try SearchParser.parse(text))
        if let filter { condition += " AND " + compiler.condition(try SearchParser.parse(filter)) }
        condition += " AND " + compiler.readable(by: principal)
        let direction = isDescending ? "DESC" : "ASC"
        let limit = min(max(0, count), Limits.resultsPerPage)
        return try await records.read { [condition, arguments = compiler.arguments] records in
            let total =
                try records.row("SELECT count(*) FROM {items} AS i WHERE \(condition)", arguments)?.integer(0) ?? 0
            guard limit > 0, total > 0 else { return SearchResult(total: Int(total), items: []) }
            let rows = try records.rows(
                """
                SELECT \(Self.itemColumns) FROM \(Self.itemTables) WHERE \(condition)
                ORDER BY \(order.column) \(direction), i.id \(direction) LIMIT \(limit) OFFSET \(max(0, start))
                """, arguments)
            let items = try rows.map { row in
                var item = Self.item(row)
                item.sharing.groups = try Self.groups(of: item.id, records)
                return item
            }
            return SearchResult(total: Int(total), items: items)
        }
    }

    /// Checks a search without running it.
    package static func check(search text: String) throws(PortalError) { _ = try SearchParser.parse(text) }
}
