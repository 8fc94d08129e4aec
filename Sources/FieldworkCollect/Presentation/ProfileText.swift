import Fieldwork

/// What a person may do, in words that people know.
enum ProfileText {
    static func role(_ role: PortalUser.Role?) -> String {
        switch role {
        case .admin: "Administrator"
        case .publisher: "Publisher"
        case .user: "User"
        case .viewer: "Viewer"
        case .custom, nil: ""
        }
    }

    /// Sentences of what the portal's privileges allow, for those that matter in the field.
    static func abilities(_ privileges: [String]) -> [String] {
        let words: [(String, String)] = [
            ("features:user:edit", "Edit features, where the service allows it"),
            ("portal:user:createItem", "Make maps and other items"),
            ("portal:user:shareToOrg", "Share with the organisation"),
            ("portal:user:shareToPublic", "Share with everyone"),
            ("portal:publisher:publishFeatures", "Publish services"),
            ("portal:admin:viewUsers", "Manage people"),
        ]
        let held = Set(privileges)
        let found = words.filter { held.contains($0.0) }.map(\.1)
        return ["See what is shared with you"] + found
    }
}
