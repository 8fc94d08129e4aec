import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

extension PortalOperations {
    func selfDescription() async throws -> JSONValue {
        let locators = try await context.server.locatorNames(for: request)
        return .object(try await answers.organisationDescription(locators: locators))
    }

    /// The signed-in person.
    func ownDescription() async throws -> JSONValue {
        guard let name = principal.name else { throw ServiceError.tokenRequired }
        return try await user(name)
    }

    func userDescription() async throws -> JSONValue { try await user(try person) }

    private func user(_ name: String) async throws -> JSONValue {
        guard principal.isSignedIn || principal.kind == .everybody, let person = try await portal.person(named: name)
        else { throw PortalError(.notFound, "User does not exist or is inaccessible.") }
        let isOwn = principal.isNamed(name)
        guard isOwn || principal.has(.viewOrganisationUsers) || principal.has(.viewUsers) else {
            throw ServiceError.forbidden
        }
        let seesRole = isOwn || principal.has(.viewUsers)
        var json = answers.user(person, role: seesRole ? try await portal.role(id: person.roleID) : nil)
        let groups = try await portal.groups(for: principal, onlyOf: name)
        json["groups"] = .array(groups.map { .object(answers.group($0)) })
        if !seesRole { Self.withhold(&json) }
        return .object(json)
    }

    /// What only who manages people, and the person, learn.
    private static func withhold(_ json: inout JSONObject) {
        for member in ["email", "lastLogin", "disabled"] { json[member] = nil }
    }

    private func described(_ person: Person) -> JSONValue {
        var json = answers.user(person, role: nil)
        if !principal.has(.viewUsers), !principal.isNamed(person.name) { Self.withhold(&json) }
        return .object(json)
    }

    /// All people, for those who may see them.
    func users() async throws -> JSONValue {
        guard principal.has(.viewOrganisationUsers) || principal.has(.viewUsers) else { throw ServiceError.forbidden }
        let page = try page()
        let found = try await portal.people(from: page.start, count: page.count)
        var json = envelope(page, total: found.total)
        json["users"] = .array(found.people.map(described))
        return .object(json)
    }

    /// A search for people, by a part of a name.
    func searchUsers() async throws -> JSONValue {
        guard principal.has(.viewOrganisationUsers) || principal.has(.viewUsers) else { throw ServiceError.forbidden }
        let page = try page()
        let text = (request.parameters["q"] ?? "").lowercased()
        let wanted = text.split { $0.isWhitespace || "\"()*".contains($0) }.compactMap { word -> String? in
            let value = word.split(separator: ":").last.map(String.init) ?? ""
            return ["and", "or", "not"].contains(value) || word.hasPrefix("orgid:")
                || word.hasPrefix("accountid:") ? nil : value
        }
        let all = try await portal.people(count: 10_000).people.filter { person in
            let words = [person.name, person.fullName].joined(separator: " ").lowercased()
            return wanted.isEmpty || wanted.contains { words.contains($0) }
        }
        var json = envelope(page, total: all.count)
        json["results"] = .array(
            all.dropFirst(page.start).prefix(page.count).map(described))
        return .object(json)
    }

    func updateUser() async throws -> JSONValue {
        try requirePeople()
        let name = try person
        if !principal.isNamed(name) { try await requireManaging(name, .updateUsers) }
        var details = JSONObject()
        for key in ["description", "culture", "cultureFormat", "units", "region", "preferredView"] {
            if let text = request.parameters[key] { details[key] = .string(text) }
        }
        if request.parameters.names("tags") { details["tags"] = .array(try list("tags").map(JSONValue.string)) }
        if let password = request.parameters["password"] {
            // A session that was left open must not be enough to lock its person out.
            if principal.isNamed(name) {
                let former = try required("oldPassword")
                _ = try await portal.signIn(name, password: former, from: request.peer)
            }
            try await portal.setPassword(password, of: name, by: author)
        }
        try await portal.updatePerson(
            name, fullName: request.parameters["fullname"] ?? request.parameters["fullName"],
            email: request.parameters["email"], details: details, by: author)
        return ["success": true, "username": .string(name)]
    }

    func deleteUser() async throws -> JSONValue {
        try requirePeople()
        let name = try person
        try await requireManaging(name, .deleteUsers)
        try await portal.removePerson(name, leavingTo: nil, by: author)
        return ["success": true, "username": .string(name)]
    }

    // MARK: Administration

    /// A server without people gets its first one from its operator: whoever reached it could make himself its administrator.
    private func requirePeople() throws(ServiceError) {
        guard principal.kind != .everybody else {
            throw ServiceError(
                code: 403, message: "This server has no people.",
                details: ["fieldwork users add NAME --role administrator adds the first one."])
        }
    }

    func createUser() async throws -> JSONValue {
        try requirePeople()
        guard principal.has(.inviteUsers) else { throw ServiceError.forbidden }
        let role = try await portal.role(request.parameters["role"] ?? Role.viewer.id)
        try requireOwn(role.privileges)
        let words = [request.parameters["firstname"], request.parameters["lastname"]].compactMap { $0 }
        let name = try required("username")
        try await portal.addPerson(
            name, password: try required("password"), role: role,
            fullName: request.parameters["fullname"] ?? (words.isEmpty ? nil : words.joined(separator: " ")),
            email: request.parameters["email"] ?? "", by: author)
        return ["success": true, "username": .string(name)]
    }

    func setUsersDisabled(_ isDisabled: Bool) async throws -> JSONValue {
        try requirePeople()
        guard principal.has(.disableUsers) else { throw ServiceError.forbidden }
        var results: [JSONValue] = []
        for name in try list("users") {
            do {
                try await setDisabled(isDisabled, name)
                results.append(["username": .string(name), "status": true])
            } catch let error as PortalError {
                results.append(["username": .string(name), "status": false, "error": .string(error.message)])
            }
        }
        return ["results": .array(results)]
    }

    func setDisabled(_ isDisabled: Bool, _ name: String) async throws {
        try requirePeople()
        try await requireManaging(name, .disableUsers)
        try await portal.setDisabled(isDisabled, name, by: author)
    }

    func updateUserRole() async throws -> JSONValue {
        try await setRole(try required("role"), of: try request.parameters["user"] ?? required("username"))
        return Self.success
    }

    /// - Parameter word: the id, the word or the name of a role.
    func setRole(_ word: String, of name: String) async throws {
        try requirePeople()
        guard principal.has(.changeUserRoles) else { throw ServiceError.forbidden }
        let role = try await portal.role(word)
        try await requireManaging(name, .changeUserRoles)
        try requireOwn(role.privileges)
        try await portal.setRole(role, of: name, by: author)
    }

    /// Whoever manages people has power over those who may do no more than themselves: a password that can be set is an account
    /// that can be taken over.
    private func requireManaging(_ name: String, _ privilege: Privilege) async throws {
        guard principal.has(privilege) else { throw ServiceError.forbidden }
        guard let person = try await portal.person(named: name) else {
            throw PortalError(.notFound, "User does not exist or is inaccessible.")
        }
        try requireOwn(try await portal.role(id: person.roleID).privileges)
    }

    /// Nobody gives what they don't have.
    private func requireOwn(_ privileges: Set<Privilege>) throws(ServiceError) {
        guard privileges.isSubset(of: principal.privileges) else { throw .forbidden }
    }

    func roles() async throws -> JSONValue {
        guard principal.isSignedIn || principal.kind == .everybody else { throw ServiceError.tokenRequired }
        let page = try page(standard: 100)
        let roles = [Role.viewer, Role.editor] + (try await portal.customRoles())
        var json = envelope(page, total: roles.count)
        json["roles"] = .array(
            roles.dropFirst(page.start).prefix(page.count).map { role in
                [
                    "id": .string(role.id), "name": .string(role.name), "description": .string(role.description),
                    "created": 0, "modified": 0, "type": role.isCustom ? "custom" : "base",
                ]
            })
        return .object(json)
    }

    func createRole() async throws -> JSONValue {
        try requirePeople()
        guard principal.has(.manageRoles) else { throw ServiceError.forbidden }
        let privileges = try privileges()
        try requireOwn(privileges)
        let role = try await portal.setRole(
            id: nil, name: try required("name"), description: request.parameters["description"] ?? "",
            privileges: privileges, by: author)
        return ["success": true, "id": .string(role.id)]
    }

    func setRolePrivileges() async throws -> JSONValue {
        try requirePeople()
        guard principal.has(.manageRoles), let id = values.text else { throw ServiceError.forbidden }
        let role = try await portal.role(id: id)
        let privileges = try privileges()
        try requireOwn(privileges.union(role.privileges))
        _ = try await portal.setRole(
            id: id, name: role.name, description: role.description, privileges: privileges, by: author)
        return Self.success
    }

    func rolePrivileges() async throws -> JSONValue {
        guard principal.isSignedIn || principal.kind == .everybody, let id = values.text else {
            throw ServiceError.tokenRequired
        }
        let role = try await portal.role(id)
        return ["privileges": .array(role.privileges.map(\.rawValue).sorted().map(JSONValue.string))]
    }

    private func privileges() throws -> Set<Privilege> {
        let json = try request.parameters.json("privileges")
        let words = (json?["privileges"] ?? json)?.arrayValue?.compactMap(\.stringValue) ?? []
        var privileges: Set<Privilege> = []
        for word in words {
            guard let privilege = Privilege(rawValue: word) else {
                throw ServiceError.invalidParameter("There is no privilege '\(word.prefix(80))' here.")
            }
            privileges.insert(privilege)
        }
        return privileges
    }

    /// The audit log.
    func history() async throws -> JSONValue {
        try requirePeople()
        guard principal.has(.manageSecurity) else { throw ServiceError.forbidden }
        let before = try request.parameters.integer("before").map(Int64.init)
        let count = try request.parameters.integer("num") ?? 1_000
        let entries = try await portal.audit(before: before, count: count)
        return [
            "items": .array(
                entries.map { entry in
                    [
                        "id": .integer(entry.id), "created": .integer(entry.moment), "actor": .string(entry.actor),
                        "ip": .string(entry.address), "action": .string(entry.action),
                        "target": .string(entry.target), "details": .string(entry.details),
                    ]
                }),
            "nextKey": JSONValue(entries.last.map { String($0.id) }),
        ]
    }
}
