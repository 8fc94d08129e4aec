/// Whoever sends a request, with everything that decides what the request may do.
package struct Principal: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Nobody has signed in.
        case nobody
        case person
        /// A registered application, for itself.
        case application
        /// The server has no people: every request may do what the services allow.
        case everybody
    }

    package var kind: Kind
    /// The person's name as it was registered; nil for who is none.
    package var name: String?
    package var privileges: Set<Privilege> = []
    package var role: Role?
    package var groups: Set<String> = []
    /// Groups that the person owns or manages.
    package var managedGroups: Set<String> = []

    package static let nobody = Principal(kind: .nobody)
    package static let everybody = Principal(kind: .everybody, privileges: Set(Privilege.allCases))

    package init(
        kind: Kind, name: String? = nil, privileges: Set<Privilege> = [], role: Role? = nil,
        groups: Set<String> = [], managedGroups: Set<String> = []
    ) {
        self.kind = kind
        self.name = name
        self.privileges = privileges
        self.role = role
        self.groups = groups
        self.managedGroups = managedGroups
    }

    package var isSignedIn: Bool { kind == .person || kind == .application }
    package var isAdministrator: Bool { privileges.contains(.manageServers) }

    package func has(_ privilege: Privilege) -> Bool { privileges.contains(privilege) }

    package func require(_ privilege: Privilege) throws(PortalError) {
        guard has(privilege) else { throw .notAllowed }
    }

    /// Names are compared without regard to case.
    package func isNamed(_ other: String) -> Bool { name.map(Person.key) == Person.key(other) }
}
