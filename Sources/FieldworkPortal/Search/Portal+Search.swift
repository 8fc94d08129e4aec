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
}

extension Portal {
    /// Reads the index of searches, so that the first search need not wait for that.
    package func prepareSearches() async throws {
        try await records.read { records in try searches.search(records) { _ in } }
    }

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
        let limit = min(max(0, count), Limits.resultsPerPage)
        return try await records.read { records in
            let groups = try Self.groups(of: principal, records)
            let (total, ids) = try searches.search(records) { index in
                var found = index.found(query, organisation: organisation)
                found.formIntersection(index.readable(by: principal, groups: groups))
                let page = index.page(
                    of: found, from: max(0, start), count: limit, by: order, isDescending: isDescending)
                return (found.count, page)
            }
            // Rights are looked at once more in the rows that are given: the index only finds.
            let items = try ids.compactMap { id -> Item? in
                guard let item = try Self.item(id, records),
                    Self.reads(principal, groups, item)
                else { return nil }
                return item
            }
            return SearchResult(total: total, items: items)
        }
    }

    /// The groups that a person belongs to or owns.
    private static func groups(of principal: Principal, _ records: Records) throws -> [String] {
        guard let name = principal.name else { return [] }
        let key = AttributeValue.text(Person.key(name))
        return try records.rows(
            "SELECT group_id FROM {members} WHERE person = ? UNION SELECT id FROM {groups} WHERE owner = ?", [key, key]
        ).compactMap { $0.text(0) }
    }

    private static func reads(_ principal: Principal, _ groups: [String], _ item: Item) -> Bool {
        var principal = principal
        principal.groups = Set(groups)
        return principal.kind == .everybody
            || ItemRights(of: principal, on: ItemFacts(id: item.id, owner: item.owner, sharing: item.sharing)).reads
    }

    /// Checks a search without running it.
    package static func check(search text: String) throws(PortalError) { _ = try SearchParser.parse(text) }
}
