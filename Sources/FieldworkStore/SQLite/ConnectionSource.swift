/// Where the connections of one service's data come from: a file, or a database that is no file.
package struct ConnectionSource: Sendable {
    let open: @Sendable (StoreConnection.Mode) throws -> StoreConnection

    static func file(_ path: String) -> ConnectionSource {
        ConnectionSource { try StoreConnection(path: path, mode: $0) }
    }

    /// - Parameter open: makes a session that only reads, or one that writes too.
    package static func sessions(
        _ open: @escaping @Sendable (_ writes: Bool) throws -> any DatabaseSession
    ) -> ConnectionSource {
        ConnectionSource { try StoreConnection(session: open($0 != .readOnly)) }
    }
}
