package import FieldworkGeometry
import FieldworkREST
import FieldworkStore

extension Portal {
    private static let groupColumns = "id, title, owner, access, is_updating, created, modified, details"

    static func group(_ row: Record) -> Group {
        Group(
            id: row.text(0) ?? "", title: row.text(1) ?? "", owner: row.text(2) ?? "", access: row.text(3) ?? "",
            isUpdating: row.integer(4) != 0, created: row.integer(5), modified: row.integer(6), details: row.object(7))
    }

    static func group(_ id: String, _ records: Records) throws -> Group? {
        try records.row("SELECT \(groupColumns) FROM {groups} WHERE id = ?", [.text(id)]).map(group)
    }

    /// Whether the caller may know that a group is there.
    static func sees(_ principal: Principal, _ group: Group) -> Bool {
        group.access == "public" || principal.kind == .everybody || principal.groups.contains(group.id)
            || (group.access == "org" && principal.isSignedIn) || principal.has(.viewGroups)
    }

    /// A group by its id, as the caller sees it.
    package func group(_ id: String, for principal: Principal) async throws -> Group {
        guard let group = try await records.read({ try Self.group(id, $0) }), Self.sees(principal, group) else {
            throw PortalError.groupNotFound
        }
        return group
    }

    /// The groups that the caller sees, by their titles.
    package func groups(for principal: Principal, onlyOf person: String? = nil) async throws -> [Group] {
        try await records.read { records in
            let all = try records.rows("SELECT \(Self.groupColumns) FROM {groups} ORDER BY title, id").map(Self.group)
            let seen = all.filter { Self.sees(principal, $0) }
            guard let person else { return seen }
            let key = Person.key(person)
            let joined = Set(
                try records.rows("SELECT group_id FROM {members} WHERE person = ?", [.text(key)]).compactMap {
                    $0.text(0)
                })
            return seen.filter { $0.owner == key || joined.contains($0.id) }
        }
    }

    /// A group of a title or an id: what the command line takes.
    package func group(titled title: String) async throws -> Group {
        let found = try await groups(for: .everybody).filter { $0.id == title || $0.title == title }
        guard let group = found.first else { throw PortalError(.notFound, "There is no group '\(title)'.") }
        guard found.count == 1 else {
            throw PortalError(.invalid, "There are \(found.count) groups '\(title)'. Name one by its id.")
        }
        return group
    }

    package func addGroup(
        title: String, access: String = "private", isUpdating: Bool = false, details: JSONObject = JSONObject(),
        for principal: Principal, owner: String? = nil, by author: Author
    ) async throws -> Group {
        try principal.require(.createGroup)
        if isUpdating, !principal.has(.createUpdateCapableGroup), !principal.has(.createGroup) {
            throw PortalError.notAllowed
        }
        guard let owner = owner ?? principal.name else { throw PortalError.notAllowed }
        let moment = now
        let group = Group(
            id: Secret.id(), title: title, owner: Person.key(owner), access: access, isUpdating: isUpdating,
            created: moment, modified: moment, details: details)
        try Self.check(group)
        if access == "public" { try principal.require(.shareGroupToEveryone) }
        try await change { records in
            _ = try Self.existing(owner, records)
            let count = try records.row("SELECT count(*) FROM {groups}")?.integer(0) ?? 0
            guard count < Int64(Limits.groups) else {
                throw PortalError(.overLimit, "An organisation has at most \(Limits.groups) groups.")
            }
            try Self.write(group, records)
            try Self.note("group.add", group.id, title, author, moment, records)
        }
        return group
    }

    package func updateGroup(
        _ id: String, title: String?, access: String?, details: JSONObject, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        try await change { records in
            var group = try Self.managed(id, by: principal, .updateGroups, records)
            if let title { group.title = title }
            if let access {
                if access == "public", group.access != access { try principal.require(.shareGroupToEveryone) }
                group.access = access
            }
            for member in details.members { group.details[member.key] = member.value }
            group.modified = moment
            try Self.check(group)
            try Self.write(group, records)
            try Self.note("group.update", id, group.title, author, moment, records)
        }
    }

    /// Removes a group. Items stay with their owners; they are not shared with it any more.
    package func removeGroup(_ id: String, for principal: Principal, by author: Author) async throws {
        let moment = now
        try await change { records in
            guard let group = try Self.group(id, records), Self.sees(principal, group) else {
                throw PortalError.groupNotFound
            }
            guard principal.isNamed(group.owner) || principal.has(.deleteGroups) else { throw PortalError.notAllowed }
            let items = try records.rows("SELECT item FROM {item_groups} WHERE group_id = ?", [.text(id)])
            try records.run("DELETE FROM {item_groups} WHERE group_id = ?", [.text(id)])
            for item in items.compactMap({ $0.text(0) }) { try ItemChanges.note(item, records) }
            try records.run("DELETE FROM {members} WHERE group_id = ?", [.text(id)])
            try records.run("DELETE FROM {groups} WHERE id = ?", [.text(id)])
            try Self.note("group.remove", id, group.title, author, moment, records)
        }
    }

    package func members(of id: String, for principal: Principal) async throws -> GroupMembers {
        let group = try await group(id, for: principal)
        guard principal.isSignedIn || principal.kind == .everybody else { throw PortalError.notAllowed }
        return try await records.read { records in
            let rows = try records.rows(
                """
                SELECT p.shown, m.is_manager FROM {members} AS m JOIN {people} AS p ON p.name = m.person
                WHERE m.group_id = ? ORDER BY p.name
                """, [.text(id)])
            let owner = try Self.person(named: group.owner, records)?.name ?? group.owner
            return GroupMembers(
                owner: owner, managers: rows.filter { $0.integer(1) != 0 }.compactMap { $0.text(0) },
                members: rows.filter { $0.integer(1) == 0 }.compactMap { $0.text(0) })
        }
    }

    /// Adds people to a group; those that are members already become what is said.
    /// - Returns: the names of which there are no people.
    package func addMembers(
        _ names: [String], managers: [String] = [], to id: String, for principal: Principal, by author: Author
    ) async throws -> [String] {
        let moment = now
        return try await change { records in
            let group = try Self.managed(id, by: principal, .assignToGroups, records)
            var unknown: [String] = []
            for (name, isManager) in names.map({ ($0, false) }) + managers.map({ ($0, true) }) {
                guard let person = try Self.person(named: name, records) else {
                    unknown.append(name)
                    continue
                }
                guard Person.key(name) != group.owner else { continue }
                try records.run(
                    """
                    INSERT INTO {members} (group_id, person, is_manager) VALUES (?, ?, ?)
                    ON CONFLICT (group_id, person) DO UPDATE SET is_manager = excluded.is_manager
                    """, [.text(id), .text(Person.key(name)), .integer(isManager ? 1 : 0)])
                try Self.note(
                    "group.member", id, person.name + (isManager ? " (manager)" : ""), author, moment, records)
            }
            return unknown
        }
    }

    /// Takes people out of a group. Everyone may leave by themselves.
    /// - Returns: the names of those who were no members.
    package func removeMembers(
        _ names: [String], from id: String, for principal: Principal, by author: Author
    ) async throws -> [String] {
        let moment = now
        return try await change { records in
            if !(names.count == 1 && principal.isNamed(names[0])) {
                _ = try Self.managed(id, by: principal, .assignToGroups, records)
            }
            var unknown: [String] = []
            for name in names {
                let removed = try records.run(
                    "DELETE FROM {members} WHERE group_id = ? AND person = ?", [.text(id), .text(Person.key(name))])
                if removed == 0 { unknown.append(name) }
                try Self.note("group.removeMember", id, name, author, moment, records)
            }
            return unknown
        }
    }

    private static func managed(
        _ id: String, by principal: Principal, _ privilege: Privilege, _ records: Records
    ) throws -> Group {
        guard let group = try group(id, records), sees(principal, group) else { throw PortalError.groupNotFound }
        guard principal.managedGroups.contains(id) || principal.isNamed(group.owner) || principal.has(privilege) else {
            throw PortalError.notAllowed
        }
        return group
    }

    private static func check(_ group: Group) throws(PortalError) {
        guard !group.title.isEmpty, group.title.count <= Limits.titleLength else {
            throw PortalError(.invalid, "A group has a title of 1 to \(Limits.titleLength) characters.")
        }
        guard Group.accesses.contains(group.access) else {
            throw PortalError(.invalid, "A group's access is private, org or public.")
        }
        guard group.details.text.utf8.count <= Limits.textBytes else {
            throw PortalError(.overLimit, "A group's texts have at most \(Limits.textBytes) bytes together.")
        }
    }

    private static func write(_ group: Group, _ records: Records) throws {
        try records.run(
            """
            INSERT INTO {groups} (id, title, owner, access, is_updating, created, modified, details)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET title = excluded.title, access = excluded.access,
                modified = excluded.modified, details = excluded.details
            """,
            [
                .text(group.id), .text(group.title), .text(group.owner), .text(group.access),
                .integer(group.isUpdating ? 1 : 0), .integer(group.created), .integer(group.modified),
                .text(group.details.text),
            ])
    }
}
