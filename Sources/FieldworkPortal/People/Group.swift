package import FieldworkGeometry

/// People who share items.
package struct Group: Sendable, Hashable {
    package var id: String
    package var title: String
    package var owner: String
    /// Who sees the group: `private` its members, `org` the organisation, `public` everyone.
    package var access: String
    /// Whether members may change items that are shared with the group.
    package var isUpdating: Bool
    package var created: Int64
    package var modified: Int64
    /// The protocol's other members that clients may change: snippet, description, tags, isInvitationOnly, and so on.
    package var details: JSONObject

    package static let accesses = ["private", "org", "public"]
}

/// The members of a group by their parts.
package struct GroupMembers: Sendable, Hashable {
    package var owner: String
    package var managers: [String]
    package var members: [String]
}
