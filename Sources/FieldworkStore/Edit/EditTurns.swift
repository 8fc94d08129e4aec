import FieldworkREST
import Foundation

/// The last turn that each sender of edits has had, in the file that it edits: written in the transaction of the batch, so
/// that a batch and its turn are both there after a crash, or neither is.
struct EditTurns {
    static let table = "fieldwork_edit_turns"
    let connection: StoreConnection

    /// Gives a batch its turn. Throws `StoreError.turnPassed` when a batch of this or a later turn has been here.
    func take(_ turn: EditTurn, at moment: Date) throws {
        try prepare()
        try connection.run(
            """
            INSERT INTO \(Self.table) (sender, turn, moment) VALUES (?, ?, ?)
            ON CONFLICT (sender) DO UPDATE SET turn = excluded.turn, moment = excluded.moment
            WHERE \(Self.table).turn < excluded.turn
            """
        ) {
            try $0.bind(GUID.normalForm(turn.sender), at: 1)
            try $0.bind(turn.number, at: 2)
            try $0.bind(DateText.text(milliseconds: moment.milliseconds), at: 3)
        }
        guard connection.changedRows > 0 else {
            throw StoreError(
                .turnPassed, "The turn of these edits has passed: the service has had this request or a later one.")
        }
    }

    /// Forgets senders that were not heard of since a moment: what they sent before is no longer on its way.
    func forget(before moment: Date) throws {
        guard try exists() else { return }
        try connection.run("DELETE FROM \(Self.table) WHERE moment < ?") {
            try $0.bind(DateText.text(milliseconds: moment.milliseconds), at: 1)
        }
    }

    /// A file has the table from the first turn on, a schema of PostgreSQL from its beginning.
    func prepare() throws {
        if try exists() { return }
        try connection.execute(
            """
            CREATE TABLE \(Self.table) (
                sender TEXT PRIMARY KEY NOT NULL, turn INTEGER NOT NULL, moment TEXT NOT NULL) WITHOUT ROWID
            """)
        try GeoPackageSchema.registerOwn(Self.table, on: connection)
    }

    private func exists() throws -> Bool { try connection.hasTable(Self.table) }
}
