public import FieldworkGeometry
import Foundation

/// What to find in a portal, and which page of it.
public final class PortalQueryParameters: Sendable {
    /// How results are ordered.
    public enum SortOrder: String, Sendable, Hashable {
        /// The smallest first.
        case ascending = "asc"
        /// The largest first.
        case descending = "desc"
    }

    /// The question, in the portal's grammar: words, `field:value`, phrases, `AND`, `OR`, `NOT`, ranges.
    public let query: String
    /// The most results of a page, 1 to 100.
    public let limit: Int
    /// The number of the first result of the page, from 1.
    public let startIndex: Int
    /// The field by which results are ordered, such as `modified`; nil for the portal's own order.
    public let sortField: String?
    /// How they are ordered.
    public let sortOrder: SortOrder
    /// Where items have to lie; nil for everywhere.
    public let boundingBox: Envelope?

    /// A question in the portal's grammar.
    public init(
        query: String, limit: Int = 10, startIndex: Int = 1, sortField: String? = nil,
        sortOrder: SortOrder = .ascending, boundingBox: Envelope? = nil
    ) {
        self.query = query
        self.limit = min(max(limit, 1), Limits.portalPage)
        self.startIndex = max(startIndex, 1)
        self.sortField = sortField
        self.sortOrder = sortOrder
        self.boundingBox = boundingBox
    }

    // MARK: Makers

    /// Items of some kinds, of one person, in one group, with words; what is left out does not matter.
    public static func items(
        ofKinds kinds: [PortalItem.Kind] = [], owner: String? = nil, groupID: PortalGroup.ID? = nil,
        searchText: String? = nil
    ) -> PortalQueryParameters {
        var parts: [String] = []
        let names = kinds.filter { $0 != .unknown }.map { "type:\(phrase($0.rawValue))" }
        if !names.isEmpty { parts.append("(\(names.joined(separator: " OR ")))") }
        if let owner { parts.append("owner:\(phrase(owner))") }
        if let groupID { parts.append("group:\(phrase(groupID.rawValue))") }
        if let searchText, !searchText.isEmpty { parts.append("(\(searchText))") }
        return PortalQueryParameters(query: parts.joined(separator: " AND "))
    }

    /// The item of an id.
    public static func item(withID id: PortalItem.ID) -> PortalQueryParameters {
        PortalQueryParameters(query: "id:\(phrase(id.rawValue))")
    }

    /// The items of a group.
    public static func items(inGroupWithID id: PortalGroup.ID) -> PortalQueryParameters { items(groupID: id) }

    /// Groups by words of their titles.
    public static func groups(titled title: String) -> PortalQueryParameters {
        PortalQueryParameters(query: "title:\(phrase(title))")
    }

    /// A text as one phrase, whatever is in it.
    private static func phrase(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    // MARK: Protocol

    var form: [(name: String, value: String)] {
        var form: [(name: String, value: String)] = [
            ("q", query), ("start", String(startIndex)), ("num", String(limit)),
        ]
        if let sortField { form += [("sortField", sortField), ("sortOrder", sortOrder.rawValue)] }
        if let box = boundingBox.flatMap({ GeometryEngine.project($0, into: .wgs84) }) {
            form.append(("bbox", "\(box.xMin),\(box.yMin),\(box.xMax),\(box.yMax)"))
        }
        return form
    }

    /// The same question, from another result on.
    func starting(at start: Int) -> PortalQueryParameters {
        PortalQueryParameters(
            query: query, limit: limit, startIndex: start, sortField: sortField, sortOrder: sortOrder,
            boundingBox: boundingBox)
    }
}

/// One page of what a portal found.
public final class PortalQueryResultSet<Item: Sendable>: Sendable {
    /// What was found, on this page.
    public let results: [Item]
    /// How many there are on all pages.
    public let totalResultsCount: Int
    /// What was asked.
    public let queryParameters: PortalQueryParameters
    /// What to ask for the next page; nil on the last one.
    public let nextQueryParameters: PortalQueryParameters?

    init(results: [Item], totalResultsCount: Int, queryParameters: PortalQueryParameters, nextStart: Int) {
        self.results = results
        self.totalResultsCount = totalResultsCount
        self.queryParameters = queryParameters
        // A portal that says the same page again would never end.
        nextQueryParameters =
            nextStart > queryParameters.startIndex ? queryParameters.starting(at: nextStart) : nil
    }
}
