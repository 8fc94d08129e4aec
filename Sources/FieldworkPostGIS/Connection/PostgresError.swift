import CPostgres
package import FieldworkStore

/// What PostgreSQL refused, or what went wrong on the way to it.
package struct PostgresError: Error, Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The connection broke, or could not be made. Whether a statement outside of a transaction was carried out is not
        /// known; a transaction is undone.
        case connectionLost
        /// A COMMIT was not confirmed: the transaction was committed, or undone.
        case inDoubt
        /// The name, the password or the database is not accepted.
        case accessDenied
        /// Cancelled by a caller, or by a limit of time.
        case cancelled
        /// Another transaction holds a lock for too long.
        case locked
        /// Two transactions stood in each other's way; the same again may succeed.
        case serializationFailure
        case notUnique
        /// By another constraint, or a value that its column can't hold.
        case refused
        case diskFull
        /// SQL that the server doesn't understand, or a table that isn't there.
        case invalidStatement
        /// The server goes down, or is a standby that takes no writes.
        case notAvailable
        case failure
    }

    package var kind: Kind
    /// The five characters of SQLSTATE; empty when the server said nothing.
    package var state: String
    /// The server's own words, without the statement: values may stand in it.
    package var message: String

    package init(_ kind: Kind, state: String = "", _ message: String) {
        self.kind = kind
        self.state = state
        self.message = message
    }

    /// The error of a result.
    init(result: OpaquePointer?, connection: OpaquePointer?) {
        let state = PQresultErrorField(result, Field.state).map { String(cString: $0) } ?? ""
        let primary = PQresultErrorField(result, Field.primaryMessage).map { String(cString: $0) }
        self.init(
            PQstatus(connection) == CONNECTION_BAD ? .connectionLost : Self.kind(of: state), state: state,
            primary ?? Self.message(of: connection))
    }

    /// The error of a connection that has no result. Of several hosts, one that may let us in later decides.
    init(connection: OpaquePointer?) {
        let message = Self.message(of: connection)
        let states = Self.refusals(in: message)
        let isDenied =
            PQstatus(connection) == CONNECTION_BAD && !states.isEmpty
            && states.allSatisfy { ["28", "3D", "42"].contains($0.prefix(2)) }
        self.init(isDenied ? .accessDenied : .connectionLost, state: states.last ?? "", message)
    }

    /// Whether a server answered that it makes no connection.
    static func isRefusal(_ connection: OpaquePointer?) -> Bool { message(of: connection).contains("FATAL:") }

    /// libpq gives no SQLSTATE for a connection that was refused, but writes it into the message of a verbose one, before the
    /// server's words.
    private static func refusals(in message: String) -> [String] {
        message.matches(of: #/FATAL: +([0-9A-Z]{5}): /#).map { String($0.output.1) }
    }

    private static func message(of connection: OpaquePointer?) -> String {
        let message = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        // Where in its source the server wrote it is of no use here.
        let lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
        // Further lines are indented.
        let words = lines.map { $0.drop(while: \.isWhitespace) }
        return words.isEmpty ? "PostgreSQL did not answer." : words.joined(separator: " ")
    }

    /// An extension refused a value: PostGIS has no code of its own for a geometry that is no point.
    var isOfForm: Bool { state == "XX000" }

    /// The server, or the connection, takes no writes.
    var isReadOnly: Bool { state == "25006" }

    /// Whether a COMMIT that failed with it was undone for sure: the server refused it and lives on.
    var leavesCommitUndone: Bool { ![.connectionLost, .notAvailable].contains(kind) && !state.isEmpty }

    /// By the classes of PostgreSQL's appendix A.
    private static func kind(of state: String) -> Kind {
        switch state {
        case "57014", "25P03", "57P05": return .cancelled
        case "55P03": return .locked
        case "40001", "40P01": return .serializationFailure
        case "23505": return .notUnique
        case "53100": return .diskFull
        case "57P01", "57P02", "57P03", "25006": return .notAvailable
        default: break
        }
        return switch state.prefix(2) {
        case "08": .connectionLost
        case "28", "3D": .accessDenied
        case "22", "23": .refused
        case "26", "42": .invalidStatement
        case "53": .notAvailable
        default: .failure
        }
    }

    /// The codes of `PQresultErrorField`: macros of characters, which Swift can't see.
    private enum Field {
        static let state = Int32(UInt8(ascii: "C"))
        static let primaryMessage = Int32(UInt8(ascii: "M"))
    }

    /// What a caller of the store is told.
    package var storeError: StoreError {
        let code: StoreError.Code =
            switch kind {
            case .connectionLost, .notAvailable, .locked, .serializationFailure, .cancelled: .busy
            case .inDoubt: .inDoubt
            case .diskFull: .full
            // A value that can't be reckoned with, or operands that don't go together: both come with the query.
            case .refused where state.hasPrefix("22"): .invalidQuery
            case .invalidStatement where ["42883", "42804", "42725", "42P10"].contains(state): .invalidQuery
            case .accessDenied, .notUnique, .refused, .invalidStatement, .failure: .failure
            }
        return StoreError(code, state.isEmpty ? message : "\(message) (SQLSTATE \(state)).")
    }
}
