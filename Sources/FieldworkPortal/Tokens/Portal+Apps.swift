import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// An application that the organisation has registered. Its secret is kept as a hash alone.
package struct RegisteredApp: Sendable, Hashable {
    package var client: OAuthClient
    /// The id of the item that stands for it.
    package var item: String
    /// Milliseconds since 1970.
    package var registered: Int64
}

/// Applications that people of the organisation have registered: each has an item, an id and a secret, and the addresses that
/// people are sent back to.
extension Portal {
    /// The type of the item of an application that is registered without one.
    package static let appType = "Application"

    /// Adds an item for an application, and registers it.
    /// - Returns: the application, and its secret, which is kept nowhere.
    package func addApp(
        title: String, redirects: [String], owner: String, for principal: Principal, by author: Author
    ) async throws -> (app: RegisteredApp, secret: String) {
        try Self.check(redirects: redirects)
        var change = ItemChange()
        change.title = title
        change.type = Self.appType
        change.typeKeywords = [Self.appType, "Registered App"]
        let item = try await addItem(change, owner: owner, for: principal, by: author)
        return try await registerApp(item.id, redirects: redirects, for: principal, by: author)
    }

    /// Registers the application that an item stands for.
    /// - Returns: the application, and its secret, which is kept nowhere.
    package func registerApp(
        _ id: String, redirects: [String], for principal: Principal, by author: Author
    ) async throws -> (app: RegisteredApp, secret: String) {
        try Self.check(redirects: redirects)
        let (moment, secret) = (now, Secret.make())
        let clientID = String(Secret.make().filter { $0.isLetter || $0.isNumber }.prefix(16))
        let app = try await change { records in
            let item = try Self.ownItem(id, principal, records)
            guard item.type.hasSuffix(Self.appType) else {
                throw PortalError(.invalid, "'\(item.title)' is a \(item.type): only an Application is registered.")
            }
            guard try Self.app(ofItem: id, records) == nil else {
                throw PortalError(.exists, "'\(item.title)' is registered already.")
            }
            let count = try records.row("SELECT count(*) FROM {clients}")?.integer(0) ?? 0
            guard count < Int64(Limits.clients) else {
                throw PortalError(.overLimit, "An organisation has at most \(Limits.clients) applications.")
            }
            let client = OAuthClient(
                id: clientID, title: item.title, owner: Person.key(item.owner), redirects: redirects,
                isConfidential: true)
            try records.run(
                """
                INSERT INTO {clients} (id, title, owner, secret, redirects, created, item) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(client.id), .text(client.title), .text(client.owner), .text(Secret.hash(secret)),
                    .text(JSONValue.texts(redirects).compactText), .integer(moment), .text(id),
                ])
            try Self.note("client.add", client.id, client.title, author, moment, records)
            return RegisteredApp(client: client, item: id, registered: moment)
        }
        return (app, secret)
    }

    /// The applications of the caller, or all of them for who manages items, by their titles.
    package func apps(
        from start: Int = 0, count: Int = Limits.resultsPerPage, for principal: Principal
    ) async throws -> (total: Int, apps: [RegisteredApp]) {
        let own = principal.has(.updateItems) ? nil : Person.key(principal.name ?? "")
        let condition = own == nil ? "" : "WHERE owner = ?"
        let arguments = own.map { [AttributeValue.text($0)] } ?? []
        return try await records.read { records in
            let total = try records.row("SELECT count(*) FROM {clients} \(condition)", arguments)?.integer(0) ?? 0
            let rows = try records.rows(
                """
                SELECT \(Self.appColumns) FROM {clients} \(condition) ORDER BY title, id
                LIMIT \(min(max(0, count), Limits.resultsPerPage)) OFFSET \(max(0, start))
                """, arguments)
            return (Int(total), rows.map(Self.app))
        }
    }

    /// An application by its id, for its owner and who manages items.
    package func app(_ id: String, for principal: Principal) async throws -> RegisteredApp {
        try await records.read { try Self.app(id, principal, $0) }
    }

    /// The application that an item stands for, for its owner and who manages items.
    package func app(ofItem id: String, for principal: Principal) async throws -> RegisteredApp {
        try await records.read { records in
            _ = try Self.ownItem(id, principal, records)
            guard let app = try Self.app(ofItem: id, records) else { throw Self.appNotFound }
            return app
        }
    }

    /// Changes where people are sent back to.
    package func updateApp(
        _ id: String, redirects: [String], for principal: Principal, by author: Author
    ) async throws -> RegisteredApp {
        try Self.check(redirects: redirects)
        let moment = now
        return try await change { records in
            var app = try Self.app(id, principal, records)
            app.client.redirects = redirects
            try records.run(
                "UPDATE {clients} SET redirects = ? WHERE id = ?",
                [.text(JSONValue.texts(redirects).compactText), .text(id)])
            try Self.note("client.update", id, app.client.title, author, moment, records)
            return app
        }
    }

    /// Ends the registration of an application, with every token that it was given. Its item stays.
    package func unregisterApp(_ id: String, for principal: Principal, by author: Author) async throws {
        let moment = now
        try await change { records in
            let app = try Self.app(id, principal, records)
            try Self.removeApp(ofItem: app.item, records)
            try Self.note("client.remove", id, app.client.title, author, moment, records)
        }
    }

    /// Removes the application of an item, where it stands for one, and every token that it was given.
    static func removeApp(ofItem id: String, _ records: Records) throws {
        guard let app = try app(ofItem: id, records) else { return }
        try records.run("DELETE FROM {tokens} WHERE client = ?", [.text(app.client.id)])
        try records.run("DELETE FROM {clients} WHERE id = ?", [.text(app.client.id)])
    }

    // MARK: Rows

    static let appColumns = "id, title, owner, redirects, secret, item, created"
    private static let appNotFound = PortalError(.notFound, "Application does not exist or is inaccessible.")

    static func app(_ row: Record) -> RegisteredApp {
        RegisteredApp(
            client: OAuthClient(
                id: row.text(0) ?? "", title: row.text(1) ?? "", owner: row.text(2) ?? "", redirects: row.texts(3),
                isConfidential: !row.isNull(4)), item: row.text(5) ?? "", registered: row.integer(6))
    }

    private static func app(ofItem id: String, _ records: Records) throws -> RegisteredApp? {
        try records.row("SELECT \(appColumns) FROM {clients} WHERE item = ?", [.text(id)]).map(app)
    }

    /// What belongs to somebody else is not there.
    private static func app(_ id: String, _ principal: Principal, _ records: Records) throws -> RegisteredApp {
        guard let row = try records.row("SELECT \(appColumns) FROM {clients} WHERE id = ?", [.text(id)]) else {
            throw appNotFound
        }
        let app = app(row)
        guard principal.isNamed(app.client.owner) || principal.has(.updateItems) else { throw appNotFound }
        return app
    }

    /// Whoever may change an item in a group's name must not get at the secret of its application.
    private static func ownItem(_ id: String, _ principal: Principal, _ records: Records) throws -> Item {
        let (item, _) = try item(id, for: principal, records)
        guard principal.isNamed(item.owner) && principal.has(.createItem) || principal.has(.updateItems) else {
            throw PortalError.notAllowed
        }
        return item
    }

    private static func check(redirects: [String]) throws(PortalError) {
        guard redirects.count <= Limits.redirects else {
            throw PortalError(.overLimit, "An application has at most \(Limits.redirects) redirect addresses.")
        }
        for redirect in redirects { try OAuthClient.check(redirect: redirect) }
    }
}
