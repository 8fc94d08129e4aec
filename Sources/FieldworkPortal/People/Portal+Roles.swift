import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// Roles that the organisation has put together.
extension Portal {
    private static func role(_ row: Record) -> Role {
        Role(
            id: row.text(0) ?? "", name: row.text(1) ?? "", description: row.text(2) ?? "",
            privileges: Set(row.texts(3).compactMap(Privilege.init(rawValue:))))
    }

    package func customRoles() async throws -> [Role] {
        try await records.read { records in
            try records.rows("SELECT id, name, description, privileges FROM {roles} ORDER BY name").map(Self.role)
        }
    }

    /// A role by its id, by the command line's word or by its name.
    package func role(_ word: String) async throws -> Role {
        if let role = Role(word: word) { return role }
        guard let role = try await customRoles().first(where: { $0.id == word || $0.name == word }) else {
            throw PortalError(.notFound, "There is no role '\(word)'. viewer, editor, publisher and administrator are.")
        }
        return role
    }

    /// A role by its id alone: what decides over rights is never found by a name that somebody has given.
    package func role(id: String) async throws -> Role {
        guard let role = try await records.read({ try Self.role(id: id, $0) }) else {
            throw PortalError(.notFound, "There is no role '\(id)'.")
        }
        return role
    }

    static func role(id: String, _ records: Records) throws -> Role? {
        if let role = Role.all.first(where: { $0.id == id }) { return role }
        return try records.row(
            "SELECT id, name, description, privileges FROM {roles} WHERE id = ?", [.text(id)]
        ).map(role)
    }

    static func requireRole(_ id: String, _ records: Records) throws {
        guard try role(id: id, records) != nil else { throw PortalError(.notFound, "There is no role '\(id)'.") }
    }

    /// Makes a role, or changes the privileges of one.
    package func setRole(
        id: String?, name: String, description: String, privileges: Set<Privilege>, by author: Author
    ) async throws -> Role {
        let isNamed = !name.isEmpty && name.count <= Limits.nameLength
        guard isNamed, description.utf8.count <= Limits.textBytes else {
            throw PortalError(.invalid, "A role has a name of 1 to \(Limits.nameLength) characters.")
        }
        let role = Role(
            id: id ?? "i" + Secret.id().prefix(16), name: name, description: description, privileges: privileges)
        let moment = now
        try await change { records in
            let namesakes = try records.row(
                "SELECT count(*) FROM {roles} WHERE (name = ? OR id = ?) AND id <> ?",
                [.text(name), .text(name), .text(role.id)])
            guard Role(word: name) == nil, namesakes?.integer(0) == 0 else {
                throw PortalError(.exists, "There is a role '\(name)' already.")
            }
            if id != nil {
                guard role.isCustom, try Self.role(id: role.id, records) != nil else {
                    throw PortalError(.notFound, "There is no role '\(role.id)' that can be changed.")
                }
            } else {
                let count = try records.row("SELECT count(*) FROM {roles}")?.integer(0) ?? 0
                guard count < Int64(Limits.roles) else {
                    throw PortalError(.overLimit, "An organisation has at most \(Limits.roles) roles of its own.")
                }
            }
            try records.run(
                """
                INSERT INTO {roles} (id, name, description, privileges) VALUES (?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
                    privileges = excluded.privileges
                """,
                [
                    .text(role.id), .text(name), .text(description),
                    .text(JSONValue.texts(privileges.map(\.rawValue).sorted()).compactText),
                ])
            try Self.note("role.set", name, "\(privileges.count) privileges", author, moment, records)
        }
        return role
    }
}
