/// What a person may do as a member of the organisation: one of the four roles that are always there, or a set of privileges
/// that the organisation has put together.
package struct Role: Sendable, Hashable {
    /// As the protocol names it.
    package var id: String
    package var name: String
    package var description: String
    package var privileges: Set<Privilege>

    package static let viewer = Role(
        id: "iAAAAAAAAAAAAAAA", name: "Viewer", description: "Sees what is shared with the person.",
        privileges: [.viewOrganisationUsers, .viewOrganisationItems, .viewOrganisationGroups, .joinGroup])

    package static let editor = Role(
        id: "iBBBBBBBBBBBBBBB", name: "Data Editor", description: "Edits features of services that the person sees.",
        privileges: viewer.privileges.union([.edit]))

    package static let publisher = Role(
        id: "org_publisher", name: "Publisher", description: "Makes maps, groups and services, and shares them.",
        privileges: editor.privileges.union([
            .createGroup, .createItem, .shareToGroup, .shareToOrganisation, .shareToEveryone, .shareGroupToEveryone,
            .publishFeatures, .publishTiles,
        ]))

    package static let administrator = Role(
        id: "org_admin", name: "Administrator", description: "Manages people, and everything that belongs to them.",
        privileges: Set(Privilege.allCases))

    /// The protocol's role between an editor and a publisher.
    package static let user = Role(
        id: "org_user", name: "User", description: "Makes maps and groups, and shares them.",
        privileges: publisher.privileges.subtracting([.publishFeatures, .publishTiles]))

    package static let all = [viewer, editor, user, publisher, administrator]

    /// A role by the word that the command line has for it, or by its id.
    package init?(word: String) {
        switch word.lowercased() {
        case "viewer": self = .viewer
        case "editor": self = .editor
        case "user": self = .user
        case "publisher": self = .publisher
        case "administrator", "admin": self = .administrator
        default:
            guard let role = Self.all.first(where: { $0.id == word }) else { return nil }
            self = role
        }
    }

    package init(id: String, name: String, description: String, privileges: Set<Privilege>) {
        self.id = id
        self.name = name
        self.description = description
        self.privileges = privileges
    }

    /// The word that the command line has for it.
    package var word: String {
        switch id {
        case Self.viewer.id: "viewer"
        case Self.editor.id: "editor"
        case Self.publisher.id: "publisher"
        case Self.administrator.id: "administrator"
        case Self.user.id: "user"
        default: name
        }
    }

    package var isCustom: Bool { !Self.all.contains { $0.id == id } }
}
