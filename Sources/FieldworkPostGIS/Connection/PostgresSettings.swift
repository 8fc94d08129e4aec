import CPostgres

/// Where a database is and how long to wait for it. Made from the address that an administrator gives
/// (`postgres://user@host:port/database?…`, or libpq's `key=value` pairs); the password never shows in a description.
package struct PostgresSettings: Sendable, CustomStringConvertible {
    private let options: [(keyword: String, value: String)]

    /// Milliseconds that a statement may take.
    package var statementMilliseconds = Limits.statementMilliseconds
    /// Milliseconds to wait for a lock.
    package var lockMilliseconds = Limits.lockMilliseconds

    /// The schemas where unqualified names are looked for, before the one of PostGIS; none leaves it to the server.
    package var searchPath: [String] = []
    /// Whether transactions may write.
    package var writes = true

    /// Throws `PostgresError` of kind `invalidStatement` for what is no address.
    package init(_ address: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        guard let parsed = PQconninfoParse(address, &message) else {
            defer { PQfreemem(message) }
            let reason = message.map { String(cString: $0) } ?? "it can't be read"
            throw PostgresError(
                .invalidStatement, "That is no address of a database: \(reason.split(separator: "\n").joined()).")
        }
        defer { PQconninfoFree(parsed) }
        var options: [(String, String)] = []
        var option = parsed
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { options.append((String(cString: keyword), String(cString: value))) }
            option += 1
        }
        self.options = options
    }

    func value(of keyword: String) -> String? { options.last { $0.keyword == keyword }?.value }

    /// Host and database, nothing secret.
    package var description: String {
        let host = value(of: "host") ?? value(of: "hostaddr") ?? "local"
        let port = value(of: "port").map { ":\($0)" } ?? ""
        return "\(host)\(port)/\(value(of: "dbname") ?? value(of: "user") ?? "")"
    }

    /// What the address says, after what Fieldwork wants where it says nothing.
    var keywordsAndValues: [(keyword: String, value: String)] {
        [
            ("connect_timeout", String(Limits.connectSeconds)), ("keepalives", "1"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", String(Limits.silenceMilliseconds)), ("fallback_application_name", "fieldwork"),
        ] + options + [("client_encoding", "UTF8")]
    }

    /// The session's settings; the numbers are ours.
    var sessionStatements: String {
        """
        SET statement_timeout = \(statementMilliseconds); SET lock_timeout = \(lockMilliseconds);
        SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
        SET standard_conforming_strings = on; SET idle_in_transaction_session_timeout = \(statementMilliseconds);
        SET default_transaction_isolation = 'read committed';
        SET default_transaction_read_only = \(writes ? "off" : "on")\(searchPathStatement)
        """
    }

    private var searchPathStatement: String {
        guard !searchPath.isEmpty else { return "" }
        let path = searchPath.map(quoted).joined(separator: ", ").replacing("'", with: "''")
        return """
            ; SELECT set_config('search_path', '\(path)' || coalesce((
                SELECT ', ' || quote_ident(n.nspname) FROM pg_catalog.pg_extension AS e
                JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'postgis'), ''), false)
            """
    }
}
