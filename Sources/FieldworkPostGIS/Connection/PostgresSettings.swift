import CPostgres

/// Where a database is and how long to wait for it. Made from the address that an administrator gives
/// (`postgres://user@host:port/database?…`, or libpq's `key=value` pairs); the password never shows in a description.
package struct PostgresSettings: Sendable, CustomStringConvertible {
    private var options: [(keyword: String, value: String)]

    /// Milliseconds that a statement may take.
    package var statementMilliseconds = Limits.statementMilliseconds
    /// Milliseconds to wait for a lock.
    package var lockMilliseconds = Limits.lockMilliseconds

    /// The schemas where unqualified names are looked for, before the one of PostGIS; none leaves it to the server.
    package var searchPath: [String] = []
    /// Whether transactions may write.
    package var writes = true
    /// Whether a new connection first waits until all that the primary has committed is where a COMMIT of its own would have to
    /// be. After a crash a primary shows what it has committed without the standby that it waits for; who has seen that must
    /// not lose it to a change of the primary.
    package var awaitsReplication = false

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

    /// The same for each host of the address, in its order.
    package var hosts: [PostgresSettings] {
        let hosts = list("host"), addresses = list("hostaddr"), ports = list("port")
        let count = max(hosts.count, addresses.count)
        guard count > 1 else { return [self] }
        return (0..<count).map { index in
            var single = self
            single.set("host", hosts.indices.contains(index) ? hosts[index] : nil)
            single.set("hostaddr", addresses.indices.contains(index) ? addresses[index] : nil)
            single.set("port", ports.indices.contains(index) ? ports[index] : ports.first)
            return single
        }
    }

    private func list(_ keyword: String) -> [String] {
        value(of: keyword).map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
    }

    private mutating func set(_ keyword: String, _ value: String?) {
        options.removeAll { $0.keyword == keyword }
        if let value, !value.isEmpty { options.append((keyword, value)) }
    }

    /// What the address says, after what Fieldwork wants where it says nothing. Of several hosts it wants the one that may be
    /// written to: where each lies is the reason to name several.
    var keywordsAndValues: [(keyword: String, value: String)] {
        (hosts.count > 1 ? [("target_session_attrs", "read-write")] : []) + [
            ("connect_timeout", String(Limits.connectSeconds)), ("keepalives", "1"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", String(Limits.silenceMilliseconds)), ("fallback_application_name", "fieldwork"),
        ] + options + [("client_encoding", "UTF8")]
    }

    /// The session's settings; the numbers are ours. What is acknowledged has survived the loss of power, and is where the
    /// administrator wants it, whatever other sessions of the database make do with. A statement is not compiled: while PostgreSQL
    /// compiles a long condition, which can take minutes, neither a limit of time nor a cancellation ends it.
    var sessionStatements: String {
        """
        SET jit = off; \(clientCheckStatement);
        SET statement_timeout = \(statementMilliseconds); SET lock_timeout = \(lockMilliseconds);
        SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
        SET standard_conforming_strings = on; SET idle_in_transaction_session_timeout = \(statementMilliseconds);
        SET default_transaction_isolation = 'read committed'; SET client_min_messages = warning;
        SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')\(
            replicationStatement);
        SET default_transaction_read_only = \(writes ? "off" : "on")\(searchPathStatement)
        """
    }

    /// A statement whose client is gone ends. Servers before PostgreSQL 14 can't look, and neither can some systems.
    private var clientCheckStatement: String {
        """
        DO $do$ BEGIN PERFORM pg_catalog.set_config(
            'client_connection_check_interval', '\(Limits.clientCheckMilliseconds)', false);
        EXCEPTION WHEN undefined_object OR invalid_parameter_value THEN NULL; END $do$
        """
    }

    /// A COMMIT that writes something waits for what comes before it in the log, too.
    private var replicationStatement: String {
        awaitsReplication ? "; SELECT pg_logical_emit_message(true, 'fieldwork', '')" : ""
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
