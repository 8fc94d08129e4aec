import FieldworkREST

/// One thing that its user did to a file: an edit, or all edits of a transaction, as the generations that they were.
struct UndoStep: Sendable, Hashable {
    var first: Int64
    var last: Int64
}

/// What can be taken back in a file, and what can be done again; kept in the file itself, so that it outlives the process.
/// Taking a step back is a generation of its own, and doing it again takes that generation back.
struct UndoSteps {
    static let table = "fieldwork_undo_steps"
    static let barriers = "fieldwork_undo_barriers"
    static let attachmentBarriers = "fieldwork_undo_attachment_barriers"
    let connection: StoreConnection

    enum Direction: Int64 {
        case undo = 0
        case redo = 1
    }

    private func exists() throws -> Bool { try Self.exists(Self.table, on: connection) }

    private static func exists(_ table: String, on connection: StoreConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?") {
            try $0.bind(table, at: 1)
        } != nil
    }

    private static func barrierTable(_ name: String) -> String {
        """
        CREATE TABLE \(name) (
            layer_id INTEGER NOT NULL, object_id INTEGER NOT NULL, generation INTEGER NOT NULL,
            PRIMARY KEY (layer_id, object_id)) WITHOUT ROWID
        """
    }

    private func prepare() throws {
        if try exists() { return }
        try connection.execute(
            """
            CREATE TABLE \(Self.table) (
                step INTEGER PRIMARY KEY AUTOINCREMENT, is_redo INTEGER NOT NULL, first INTEGER NOT NULL,
                last INTEGER NOT NULL, UNIQUE (is_redo, first))
            """)
        try connection.execute(Self.barrierTable(Self.barriers))
        for table in [Self.table, Self.barriers] { try GeoPackageSchema.registerOwn(table, on: connection) }
    }

    // MARK: Recording

    /// Takes note of an edit; what was undone before can't be done again from here on.
    /// - Parameter first: the first generation of the transaction that the edit belongs to, else the edit's own.
    func record(_ generation: Int64, from first: Int64) throws {
        try prepare()
        try connection.run("DELETE FROM \(Self.table) WHERE is_redo = 1")
        try push(UndoStep(first: first, last: generation), on: .undo)
    }

    func push(_ step: UndoStep, on direction: Direction) throws {
        try connection.run(
            """
            INSERT INTO \(Self.table) (is_redo, first, last) VALUES (?1, ?2, ?3)
            ON CONFLICT (is_redo, first) DO UPDATE SET last = ?3
            """
        ) {
            try $0.bind(direction.rawValue, at: 1)
            try $0.bind(step.first, at: 2)
            try $0.bind(step.last, at: 3)
        }
        try connection.run(
            """
            DELETE FROM \(Self.table) WHERE is_redo = ?1 AND step <=
                (SELECT step FROM \(Self.table) WHERE is_redo = ?1 ORDER BY step DESC LIMIT 1 OFFSET ?2)
            """
        ) {
            try $0.bind(direction.rawValue, at: 1)
            try $0.bind(Int64(Limits.undoSteps), at: 2)
        }
    }

    /// Takes the newest step off; nil when there is none.
    func pop(_ direction: Direction) throws -> UndoStep? {
        guard try exists() else { return nil }
        var found: (id: Int64, step: UndoStep)?
        try connection.run(
            "SELECT step, first, last FROM \(Self.table) WHERE is_redo = ? ORDER BY step DESC LIMIT 1",
            bind: { try $0.bind(direction.rawValue, at: 1) },
            row: { found = ($0.integer(0), UndoStep(first: $0.integer(1), last: $0.integer(2))) })
        guard let found else { return nil }
        try connection.run("DELETE FROM \(Self.table) WHERE step = ?") { try $0.bind(found.id, at: 1) }
        return found.step
    }

    /// Whether there is something to take back and something to do again.
    func state() throws -> UndoState {
        guard try exists() else { return UndoState() }
        var state = UndoState()
        try connection.run(
            "SELECT DISTINCT is_redo FROM \(Self.table)",
            row: { row in
                if row.integer(0) == Direction.redo.rawValue { state.canRedo = true } else { state.canUndo = true }
            })
        return state
    }

    // MARK: Barriers

    /// Keeps features out of every step up to now: their service has given them another state, which an undo would
    /// overwrite.
    func bar(_ objectIDs: [Int64], in layerID: Int) throws { try bar(objectIDs, in: layerID, Self.barriers) }

    /// The same of attachments.
    func barAttachments(_ ids: [Int64], in layerID: Int) throws {
        guard try state() != UndoState() else { return }
        if try !Self.exists(Self.attachmentBarriers, on: connection) {
            try connection.execute(Self.barrierTable(Self.attachmentBarriers))
            try GeoPackageSchema.registerOwn(Self.attachmentBarriers, on: connection)
        }
        try bar(ids, in: layerID, Self.attachmentBarriers)
    }

    private func bar(_ ids: [Int64], in layerID: Int, _ table: String) throws {
        guard try state() != UndoState() else { return }
        let generation = try ChangeLog.generation(on: connection)
        for id in ids {
            try connection.run(
                """
                INSERT INTO \(table) (layer_id, object_id, generation) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET generation = ?3
                """
            ) {
                try $0.bind(Int64(layerID), at: 1)
                try $0.bind(id, at: 2)
                try $0.bind(generation, at: 3)
            }
        }
    }

    func isBarred(_ objectID: Int64, in layerID: Int, since generation: Int64) throws -> Bool {
        try isBarred(objectID, in: layerID, since: generation, Self.barriers)
    }

    func isAttachmentBarred(_ id: Int64, in layerID: Int, since generation: Int64) throws -> Bool {
        guard try Self.exists(Self.attachmentBarriers, on: connection) else { return false }
        return try isBarred(id, in: layerID, since: generation, Self.attachmentBarriers)
    }

    private func isBarred(_ id: Int64, in layerID: Int, since generation: Int64, _ table: String) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM \(table) WHERE layer_id = ? AND object_id = ? AND generation >= ?"
        ) {
            try $0.bind(Int64(layerID), at: 1)
            try $0.bind(id, at: 2)
            try $0.bind(generation, at: 3)
        } != nil
    }
}

/// Whether a file has something to undo and to redo.
package struct UndoState: Sendable, Hashable {
    package var canUndo = false
    package var canRedo = false

    package init(canUndo: Bool = false, canRedo: Bool = false) {
        self.canUndo = canUndo
        self.canRedo = canRedo
    }
}
