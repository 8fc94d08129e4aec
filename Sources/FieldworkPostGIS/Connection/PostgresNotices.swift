import CPostgres

/// Hears what a server tells besides its answers. It is told to nobody, for it would go to the process's standard error; one
/// notice changes what an answer means.
final class PostgresNotices {
    /// The last COMMIT is on the primary, but nobody knows whether it is on the standby that it waits for: somebody has broken
    /// off the waiting, and PostgreSQL calls that a success.
    private(set) var tellUnreplicatedCommit = false

    /// The connection must not outlive it.
    func receive(from connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { notices, result in
                guard let notices, let place = PQresultErrorField(result, PostgresNotices.sourceFunction) else {
                    return
                }
                // Its text is in the language of the server, and it has no SQLSTATE of its own.
                guard String(cString: place) == "SyncRepWaitForLSN" else { return }
                Unmanaged<PostgresNotices>.fromOpaque(notices).takeUnretainedValue().tellUnreplicatedCommit = true
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func clear() { tellUnreplicatedCommit = false }

    /// A macro of a character, which Swift can't see.
    private static let sourceFunction = Int32(UInt8(ascii: "R"))
}
