import FieldworkGeometry
public import Foundation

/// A group of a portal: people, and items that they share.
public final class PortalGroup: Sendable {
    /// What groups are told apart by.
    public struct ID: RawRepresentable, Hashable, Sendable, LosslessStringConvertible {
        /// The id as a text.
        public let rawValue: String

        /// nil for an empty text.
        public init?(rawValue: String) {
            guard !rawValue.isEmpty, rawValue.utf8.count <= Limits.itemIDLength else { return nil }
            self.rawValue = rawValue
        }

        /// nil for an empty text.
        public init?(_ description: String) { self.init(rawValue: description) }

        /// The id as a text.
        public var description: String { rawValue }
    }

    /// The id.
    public let id: ID
    /// The portal.
    public let portal: Portal
    /// The title.
    public let title: String
    /// What the group is, at length; may be HTML.
    public let description: String
    /// What the group is, in a line or two.
    public let snippet: String
    /// Who made it.
    public let owner: String
    /// Words by which it is found.
    public let tags: [String]
    /// Who sees it.
    public let access: PortalItem.Access
    /// When it was made.
    public let creationDate: Date?
    /// When it was changed last.
    public let modificationDate: Date?
    /// Whether members may change each other's items that are shared with the group.
    public let isSharedUpdate: Bool
    /// Whether people join by invitation alone.
    public let isInvitationOnly: Bool
    /// Its picture; nil for none.
    public let thumbnail: LoadableImage?

    init?(_ json: JSONObject, portal: Portal) {
        guard let id = ID(json.text("id")) else { return nil }
        self.id = id
        self.portal = portal
        title = json.text("title")
        description = json.text("description")
        snippet = json.text("snippet")
        owner = json.text("owner")
        tags = json.texts("tags")
        access = PortalItem.Access(rawValue: json.text("access")) ?? .private
        creationDate = json.date("created")
        modificationDate = json.date("modified")
        isSharedUpdate = json.texts("capabilities").contains("updateitemcontrol")
        isInvitationOnly = json["isInvitationOnly"]?.boolValue ?? false
        thumbnail = json["thumbnail"]?.stringValue.map { name in
            LoadableImage(
                url: portal.client.address(["community", "groups", id.rawValue, "info"]).appending(path: name),
                client: portal.environment.client)
        }
    }

    /// The names of its people. Throws `ServiceError`.
    public var members: [String] {
        get async throws {
            let json = try await portal.client.read(["community", "groups", id.rawValue, "users"])
            return ([json["owner"]?.stringValue].compactMap(\.self) + json.texts("admins") + json.texts("users"))
                .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }
    }

    /// A page of what is shared with it. Throws `ServiceError`.
    public func items(limit: Int = 100) async throws -> PortalQueryResultSet<PortalItem> {
        let all = PortalQueryParameters.items(inGroupWithID: id)
        return try await portal.findItems(queryParameters: PortalQueryParameters(query: all.query, limit: limit))
    }
}
