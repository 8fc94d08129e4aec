import Fieldwork
import Foundation

/// The maps and feature services of a portal that whoever is signed in may see.
struct PortalMaps: Sendable {
    struct Entry: Sendable, Hashable {
        let id: String
        let title: String
        /// The owner and the date, in words.
        let about: String
        let snippet: String
        /// What the app opens.
        let url: URL
        let isService: Bool
        let hasPicture: Bool
    }

    /// The portal's root, `http://maps.example/arcgis`.
    let server: URL
    let isSignedIn: Bool

    private var portal: Portal { Portal(url: server, connection: isSignedIn ? .authenticated : .anonymous) }

    /// The newest first.
    /// - Parameter search: words as somebody typed them.
    func find(_ search: String, from start: Int = 1, count: Int) async throws -> (
        entries: [Entry], total: Int, next: Int?
    ) {
        let words = Self.grammar(search)
        let query = PortalQueryParameters.items(
            ofKinds: [.webMap, .featureService], searchText: words.isEmpty ? nil : words
        ).query
        let found = try await portal.findItems(
            queryParameters: PortalQueryParameters(
                query: query, limit: count, startIndex: start, sortField: "modified", sortOrder: .descending))
        return (
            found.results.compactMap(entry), found.totalResultsCount, found.nextQueryParameters?.startIndex
        )
    }

    /// Whether an address is a portal's.
    static func isPortal(_ server: URL) async throws -> Bool {
        do {
            try await Portal(url: server, connection: .anonymous).load()
            return true
        } catch let error as ServiceError {
            if case .connectionFailed = error { throw error }
            return false
        }
    }

    private func entry(_ item: PortalItem) -> Entry? {
        guard let id = item.id, let url = Self.mapURL(item) else { return nil }
        let date = item.modificationDate.map { FieldText.date($0, now: Date()) }
        return Entry(
            id: id.rawValue, title: item.title, about: [item.owner, date].compactMap { $0 }.joined(separator: " · "),
            snippet: item.snippet, url: url, isService: item.kind == .featureService,
            hasPicture: item.thumbnail != nil)
    }

    /// What the app opens of an item: a web map's document, a service. nil for other kinds.
    static func mapURL(_ item: PortalItem) -> URL? {
        switch item.kind {
        case .webMap: item.itemURL.appending(path: "data")
        case .featureService: item.url
        default: nil
        }
    }

    /// The picture of an item; nil for an item without one.
    func picture(of text: String) async throws -> Data? {
        guard let id = PortalItem.ID(text) else { return nil }
        let item = PortalItem(portal: portal, id: id)
        try await item.load()
        guard let thumbnail = item.thumbnail else { return nil }
        try await thumbnail.load()
        return thumbnail.data.flatMap { $0.count <= Limits.pictureBytes ? $0 : nil }
    }

    /// Words as the portal's grammar has them: each must be there, as a whole or as a beginning. Nothing else of what was typed
    /// means anything.
    static func grammar(_ typed: String) -> String {
        typed.split { !$0.isLetter && !$0.isNumber }.prefix(Limits.searchWords)
            .map { "\($0.prefix(Limits.searchWordLength).lowercased())*" }.joined(separator: " AND ")
    }
}
