import FieldworkStore

/// What somebody may do by the backup and may not do now, or the other way to sign in that comes back with it. Each as a sentence.
struct ReturningRights {
    let records: Records

    func all() throws -> [String] {
        try people() + groups() + items() + apps() + views()
    }

    private func sentences(_ sql: String, _ sentence: (Record) -> String) throws -> [String] {
        try records.rows(sql).map(sentence)
    }

    private func people() throws -> [String] {
        let pairs = "FROM other.{people} AS o JOIN {people} AS p ON p.name = o.name"
        return try sentences(
            """
            SELECT o.shown, o.role, o.is_disabled FROM other.{people} AS o
            WHERE NOT EXISTS (SELECT 1 FROM {people} AS p WHERE p.name = o.name) ORDER BY o.name
            """
        ) { "\(Self.name($0)) was removed, and comes back\(Self.role($0, 1))." }
            + sentences("SELECT o.shown \(pairs) WHERE p.is_disabled <> 0 AND o.is_disabled = 0 ORDER BY o.name") {
                "\(Self.name($0)) was disabled, and may sign in again."
            }
            + sentences("SELECT o.shown, o.role, p.role \(pairs) WHERE p.role <> o.role ORDER BY o.name") {
                "\(Self.name($0)) has another role now\(Self.role($0, 2)), and gets the former one\(Self.role($0, 1))."
            }
            + sentences("SELECT o.shown \(pairs) WHERE p.password <> o.password ORDER BY o.name") {
                "\(Self.name($0)) has a new password, and signs in with the former one again."
            }
            + sentences(
                """
                SELECT o.name FROM other.{roles} AS o LEFT JOIN {roles} AS p ON p.id = o.id
                WHERE p.id IS NULL OR p.privileges <> o.privileges ORDER BY o.name
                """
            ) { "The role \(Self.name($0)) gets its former privileges." }
    }

    private func groups() throws -> [String] {
        try sentences(
            """
            SELECT o.person, g.title, o.is_manager FROM other.{members} AS o
            JOIN other.{groups} AS g ON g.id = o.group_id
            LEFT JOIN {members} AS p ON p.group_id = o.group_id AND p.person = o.person
            WHERE p.person IS NULL OR p.is_manager < o.is_manager ORDER BY g.title, o.person
            """
        ) { row in
            let part = row.integer(2) == 0 ? "member" : "manager"
            return "\(Self.name(row)) is a \(part) of the group \(row.text(1) ?? "") again."
        }
            + sentences(
                """
                SELECT o.title FROM other.{groups} AS o JOIN {groups} AS p ON p.id = o.id
                WHERE p.owner <> o.owner OR p.access <> o.access OR p.is_updating < o.is_updating ORDER BY o.title
                """
            ) { "The group \(Self.name($0)) has its former owner, visibility and sharing of updates again." }
    }

    private func items() throws -> [String] {
        let pairs = "FROM other.{items} AS o JOIN {items} AS p ON p.id = o.id"
        return try sentences(
            """
            SELECT o.title FROM other.{items} AS o WHERE NOT EXISTS (SELECT 1 FROM {items} AS p WHERE p.id = o.id)
            ORDER BY o.title
            """
        ) { "The item \(Self.name($0)) was removed, and comes back as it was shared." }
            + sentences("SELECT o.title, o.owner \(pairs) WHERE p.owner <> o.owner ORDER BY o.title") {
                "The item \(Self.name($0)) belongs to \($0.text(1) ?? "") again."
            }
            + sentences("SELECT o.title \(pairs) WHERE p.everyone < o.everyone ORDER BY o.title") {
                "The item \(Self.name($0)) is shared with everyone again."
            }
            + sentences("SELECT o.title \(pairs) WHERE p.organisation < o.organisation ORDER BY o.title") {
                "The item \(Self.name($0)) is shared with the organisation again."
            }
            + sentences(
                """
                SELECT o.title, g.title \(pairs) JOIN other.{item_groups} AS s ON s.item = o.id
                JOIN other.{groups} AS g ON g.id = s.group_id
                WHERE NOT EXISTS (SELECT 1 FROM {item_groups} AS n WHERE n.item = s.item AND n.group_id = s.group_id)
                ORDER BY o.title
                """
            ) { "The item \(Self.name($0)) is shared with the group \($0.text(1) ?? "") again." }
            + sentences(
                """
                SELECT o.title \(pairs) JOIN other.{open_items} AS s ON s.item = o.id
                WHERE NOT EXISTS (SELECT 1 FROM {open_items} AS n WHERE n.item = s.item) ORDER BY o.title
                """
            ) { "The service \(Self.name($0)) is open to edits by everyone again." }
    }

    private func apps() throws -> [String] {
        try sentences(
            """
            SELECT o.title FROM other.{clients} AS o LEFT JOIN {clients} AS p ON p.id = o.id
            WHERE p.id IS NULL OR p.redirects <> o.redirects OR p.secret IS NOT o.secret ORDER BY o.title
            """
        ) { "The application \(Self.name($0)) has its former registration again." }
    }

    private func views() throws -> [String] {
        try sentences(
            """
            SELECT o.path FROM other.{views} AS o LEFT JOIN {views} AS p ON p.path = o.path
            WHERE p.path IS NULL OR p.definition <> o.definition ORDER BY o.path
            """
        ) { "The view \(Self.name($0)) shows again what it showed." }
    }

    private static func name(_ row: Record) -> String { row.text(0) ?? "" }

    private static func role(_ row: Record, _ column: Int) -> String {
        let id = row.text(column) ?? ""
        return " (\(Role.all.first { $0.id == id }?.name ?? id))"
    }
}
