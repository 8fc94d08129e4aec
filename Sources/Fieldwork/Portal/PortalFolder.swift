import FieldworkGeometry
public import Foundation

/// A folder among a person's items.
public final class PortalFolder: Sendable {
    /// The id.
    public let id: String
    /// The title.
    public let title: String
    /// When it was made.
    public let creationDate: Date?

    init?(_ json: JSONObject) {
        guard let id = json["id"]?.stringValue, !id.isEmpty else { return nil }
        self.id = id
        title = json.text("title")
        creationDate = json.date("created")
    }
}

/// What a person keeps in a portal.
public final class PortalUserContent: Sendable {
    /// The items of the root, or of one folder.
    public let items: [PortalItem]
    /// The folders.
    public let folders: [PortalFolder]

    init(items: [PortalItem], folders: [PortalFolder]) {
        self.items = items
        self.folders = folders
    }
}
