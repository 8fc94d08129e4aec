package import Foundation

extension RecordDatabase {
    /// Changes the tables of a file with those of another one at hand, which stand under `other.{name}`: all that the body does, or
    /// nothing. Other processes may have the file open.
    package static func write<Result: Sendable>(
        in file: URL, beside other: URL, _ body: @escaping @Sendable (Records) throws -> Result
    ) async throws -> Result {
        try await OneTimeWorker().run {
            let connection = try StoreConnection(path: file.path, mode: .readWrite)
            defer { connection.forgetStatements() }
            try connection.prepareToWrite()
            try connection.run("ATTACH ? AS other") { try $0.bind(other.path, at: 1) }
            let result = try connection.transaction { try body(Records(connection: connection, prefix: "portal_")) }
            connection.forgetStatements()
            try connection.execute("DETACH other")
            return result
        }
    }
}
