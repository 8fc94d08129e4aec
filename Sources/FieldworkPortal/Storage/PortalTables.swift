import FieldworkStore

/// The tables of the portal, in SQL that SQLite and PostgreSQL both read. Times are milliseconds since 1970, names of people
/// are kept in lower case where they are keys.
enum PortalTables {
    static let create: @Sendable (RecordDatabase.Words) -> [String] = { words in
        people(words) + items(words) + tokens(words) + care(words)
    }

    private static func people(_ words: RecordDatabase.Words) -> [String] {
        let text = words.text
        return [
            """
            CREATE TABLE IF NOT EXISTS {people} (
                name \(text) PRIMARY KEY, shown \(text) NOT NULL, id \(text) NOT NULL, full_name \(text) NOT NULL,
                email \(text) NOT NULL, role \(text) NOT NULL, is_disabled bigint NOT NULL, created bigint NOT NULL,
                modified bigint NOT NULL, last_sign_in bigint NOT NULL, details \(text) NOT NULL,
                password \(text) NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS {roles} (
                id \(text) PRIMARY KEY, name \(text) NOT NULL, description \(text) NOT NULL,
                privileges \(text) NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS {groups} (
                id \(text) PRIMARY KEY, title \(text) NOT NULL, owner \(text) NOT NULL, access \(text) NOT NULL,
                is_updating bigint NOT NULL, created bigint NOT NULL, modified bigint NOT NULL,
                details \(text) NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS {members} (
                group_id \(text) NOT NULL REFERENCES {groups} ON DELETE CASCADE, person \(text) NOT NULL,
                is_manager bigint NOT NULL, PRIMARY KEY (group_id, person))
            """,
            "CREATE INDEX IF NOT EXISTS portal_members_person ON {members} (person)",
            // How providers of sign-ins know people.
            """
            CREATE TABLE IF NOT EXISTS {identities} (
                issuer \(text) NOT NULL, subject \(text) NOT NULL, person \(text) NOT NULL, created bigint NOT NULL,
                PRIMARY KEY (issuer, subject))
            """,
            "CREATE INDEX IF NOT EXISTS portal_identities_person ON {identities} (person)",
        ]
    }

    private static func items(_ words: RecordDatabase.Words) -> [String] {
        let text = words.text
        return [
            """
            CREATE TABLE IF NOT EXISTS {folders} (
                id \(text) PRIMARY KEY, owner \(text) NOT NULL, title \(text) NOT NULL, created bigint NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS portal_folders_owner ON {folders} (owner)",
            """
            CREATE TABLE IF NOT EXISTS {items} (
                id \(text) PRIMARY KEY, owner \(text) NOT NULL, folder \(text) NOT NULL, title \(text) NOT NULL,
                type \(text) NOT NULL, name \(text) NOT NULL, url \(text) NOT NULL, service \(text) UNIQUE,
                everyone bigint NOT NULL, organisation bigint NOT NULL, is_protected bigint NOT NULL,
                created bigint NOT NULL, modified bigint NOT NULL, views bigint NOT NULL, size bigint NOT NULL,
                sort_title \(text) NOT NULL, fields \(text) NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS portal_items_owner ON {items} (owner, folder)",
            """
            CREATE TABLE IF NOT EXISTS {item_groups} (
                item \(text) NOT NULL, group_id \(text) NOT NULL, PRIMARY KEY (item, group_id))
            """,
            "CREATE INDEX IF NOT EXISTS portal_item_groups_group ON {item_groups} (group_id)",
            // Services that everyone may edit; a table of its own, so that portals of earlier versions get it by themselves.
            "CREATE TABLE IF NOT EXISTS {open_items} (item \(text) PRIMARY KEY)",
            // What views of services show, by their paths in lower case.
            "CREATE TABLE IF NOT EXISTS {views} (path \(text) PRIMARY KEY, definition \(text) NOT NULL)",
            """
            CREATE TABLE IF NOT EXISTS {contents} (
                item \(text) NOT NULL, name \(text) NOT NULL, type \(text) NOT NULL, file_name \(text) NOT NULL,
                size bigint NOT NULL, modified bigint NOT NULL, access \(text) NOT NULL,
                bytes \(words.bytes) NOT NULL, PRIMARY KEY (item, name))
            """,
            """
            CREATE TABLE IF NOT EXISTS {relations} (
                origin \(text) NOT NULL, destination \(text) NOT NULL, type \(text) NOT NULL,
                PRIMARY KEY (origin, destination, type))
            """,
            "CREATE INDEX IF NOT EXISTS portal_relations_destination ON {relations} (destination)",
            // Read by search indexes: which items they have to read anew.
            "CREATE TABLE IF NOT EXISTS {changed_items} (number \(words.countedKey), item \(text) NOT NULL)",
            // Of earlier versions, which searched by tables.
            "DROP TABLE IF EXISTS {terms}",
            "DROP TABLE IF EXISTS {texts}",
            "DROP INDEX IF EXISTS portal_items_modified",
            "DROP INDEX IF EXISTS portal_items_title",
            "DROP INDEX IF EXISTS portal_items_seen",
        ]
    }

    private static func tokens(_ words: RecordDatabase.Words) -> [String] {
        let text = words.text
        return [
            """
            CREATE TABLE IF NOT EXISTS {tokens} (
                hash \(text) PRIMARY KEY, kind \(text) NOT NULL, person \(text) NOT NULL, client \(text) NOT NULL,
                family \(text) NOT NULL, created bigint NOT NULL, expires bigint NOT NULL, referer \(text),
                address \(text), redirect \(text), challenge \(text), replaced bigint)
            """,
            "CREATE INDEX IF NOT EXISTS portal_tokens_person ON {tokens} (person, created)",
            "CREATE INDEX IF NOT EXISTS portal_tokens_family ON {tokens} (family)",
            "CREATE INDEX IF NOT EXISTS portal_tokens_expires ON {tokens} (expires)",
            """
            CREATE TABLE IF NOT EXISTS {clients} (
                id \(text) PRIMARY KEY, title \(text) NOT NULL, owner \(text) NOT NULL, secret \(text),
                redirects \(text) NOT NULL, created bigint NOT NULL, item \(text))
            """,
        ]
    }

    private static func care(_ words: RecordDatabase.Words) -> [String] {
        let text = words.text
        return [
            """
            CREATE TABLE IF NOT EXISTS {failures} (
                name \(text) PRIMARY KEY, count bigint NOT NULL, last bigint NOT NULL, until bigint NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS {audit} (
                id \(words.countedKey), moment bigint NOT NULL, actor \(text) NOT NULL, address \(text) NOT NULL,
                action \(text) NOT NULL, target \(text) NOT NULL, details \(text) NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS portal_audit_moment ON {audit} (moment)",
            "CREATE TABLE IF NOT EXISTS {state} (name \(text) PRIMARY KEY, value \(text) NOT NULL)",
        ]
    }
}
