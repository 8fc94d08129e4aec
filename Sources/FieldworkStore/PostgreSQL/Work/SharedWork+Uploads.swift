/// Uploads: what is known of each as its server writes it, the parts that have arrived, the content once it is complete.
extension SharedWork {
    static let uploadTables = [
        """
        CREATE TABLE IF NOT EXISTS fieldwork.uploads (
            id text COLLATE "C" PRIMARY KEY, item text NOT NULL,
            made timestamptz NOT NULL DEFAULT clock_timestamp(), content bigint REFERENCES fieldwork.work_files)
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork.upload_parts (
            file bigint PRIMARY KEY REFERENCES fieldwork.work_files ON DELETE CASCADE,
            upload text COLLATE "C" NOT NULL REFERENCES fieldwork.uploads ON DELETE CASCADE,
            is_stretch bigint NOT NULL, place bigint NOT NULL)
        """,
        "CREATE INDEX IF NOT EXISTS upload_parts_upload ON fieldwork.upload_parts (upload)",
    ]

    /// A part of an upload, as far as it has arrived.
    package struct Part: Sendable, Hashable {
        package var file: Int64
        /// Whether it comes at a place of the content; else it is one of numbered parts.
        package var isStretch: Bool
        /// Where it begins, or its number.
        package var place: Int64
        package var size: Int64
    }

    /// Bytes of a part that a content is made of.
    package struct Segment: Sendable, Hashable {
        package var file: Int64
        package var range: Range<Int64>

        package init(file: Int64, range: Range<Int64>) {
            self.file = file
            self.range = range
        }
    }

    // MARK: Items

    /// - Parameter content: the file of an upload that came in one piece.
    package func keepUpload(_ id: String, item: String, content: Int64?) async throws {
        try await transaction { connection in
            try connection.run("INSERT INTO fieldwork.uploads (id, item, content) VALUES (?, ?, ?)") {
                try $0.bind(id, at: 1)
                try $0.bind(item, at: 2)
                if let content { try $0.bind(content, at: 3) } else { try $0.bindNull(at: 3) }
            }
        }
    }

    package func upload(_ id: String) async throws -> (item: String, content: Int64?)? {
        try await read { connection in
            var found: (String, Int64?)?
            try connection.run("SELECT item, content FROM fieldwork.uploads WHERE id = ?") {
                try $0.bind(id, at: 1)
            } row: { row in
                found = (row.text(0), row.isNull(1) ? nil : row.integer(1))
            }
            return found
        }
    }

    package func uploadCount() async throws -> Int {
        try await read { Int(try $0.integer("SELECT count(*) FROM fieldwork.uploads") ?? 0) }
    }

    package func removeUpload(_ id: String) async throws {
        try await transaction { connection in
            try connection.run(
                "DELETE FROM fieldwork.work_files WHERE id IN (SELECT file FROM fieldwork.upload_parts WHERE upload = ?)"
            ) { try $0.bind(id, at: 1) }
            let content = try connection.integer("DELETE FROM fieldwork.uploads WHERE id = ? RETURNING content") {
                try $0.bind(id, at: 1)
            }
            guard let content else { return }
            try connection.run("DELETE FROM fieldwork.work_files WHERE id = ?") { try $0.bind(content, at: 1) }
        }
    }

    /// Removes uploads that were begun so many seconds ago by the clock of the database.
    package func sweepUploads(olderThan seconds: Double) async throws {
        try await read { connection in
            try connection.run(
                "DELETE FROM fieldwork.uploads WHERE made < clock_timestamp() - make_interval(secs => ?)"
            ) { try $0.bind(seconds, at: 1) }
        }
        try await sweepFiles()
    }

    // MARK: Parts

    /// What has arrived of an upload, in the order of the content.
    package func parts(of upload: String) async throws -> [Part] {
        try await read { connection in
            var parts: [Part] = []
            try connection.run(
                """
                SELECT p.file, p.is_stretch, p.place, coalesce((
                    SELECT sum(size)::bigint FROM fieldwork.work_pieces WHERE file = p.file), 0)
                FROM fieldwork.upload_parts AS p WHERE upload = ? ORDER BY place, file
                """
            ) {
                try $0.bind(upload, at: 1)
            } row: { row in
                parts.append(
                    Part(
                        file: row.integer(0), isStretch: row.integer(1) == 1, place: row.integer(2),
                        size: row.integer(3)))
            }
            return parts
        }
    }

    /// Adds a numbered part that has arrived whole. One of the same number goes.
    /// - Returns: false when the upload is gone or complete.
    package func addPart(_ number: Int64, file: Int64, to upload: String) async throws -> Bool {
        try await transaction { connection in
            guard try Self.lock(upload, on: connection) else { return false }
            try connection.run(
                """
                DELETE FROM fieldwork.work_files WHERE id IN (
                    SELECT file FROM fieldwork.upload_parts WHERE upload = ? AND is_stretch = 0 AND place = ?)
                """
            ) {
                try $0.bind(upload, at: 1)
                try $0.bind(number, at: 2)
            }
            try Self.insert(Part(file: file, isStretch: false, place: number, size: 0), upload, on: connection)
            return true
        }
    }

    /// Begins a part that comes at a place of the content; each piece of it counts when it is committed.
    /// - Returns: its file; nil when the upload is gone or complete.
    package func beginStretch(at offset: Int64, of upload: String) async throws -> Int64? {
        try await transaction { connection in
            guard try Self.lock(upload, on: connection) else { return nil }
            let file = try Self.newFile(on: connection)
            try Self.insert(Part(file: file, isStretch: true, place: offset, size: 0), upload, on: connection)
            return file
        }
    }

    package func removeStretches(of upload: String) async throws {
        try await read { connection in
            try connection.run(
                """
                DELETE FROM fieldwork.work_files WHERE id IN (
                    SELECT file FROM fieldwork.upload_parts WHERE upload = ? AND is_stretch = 1)
                """
            ) { try $0.bind(upload, at: 1) }
        }
    }

    private static func lock(_ upload: String, on connection: StoreConnection) throws -> Bool {
        try connection.integer("SELECT 1::bigint FROM fieldwork.uploads WHERE id = ? AND content IS NULL FOR UPDATE") {
            try $0.bind(upload, at: 1)
        } != nil
    }

    private static func insert(_ part: Part, _ upload: String, on connection: StoreConnection) throws {
        try connection.run(
            "INSERT INTO fieldwork.upload_parts (file, upload, is_stretch, place) VALUES (?, ?, ?, ?)"
        ) {
            try $0.bind(part.file, at: 1)
            try $0.bind(upload, at: 2)
            try $0.bind(Int64(part.isStretch ? 1 : 0), at: 3)
            try $0.bind(part.place, at: 4)
        }
    }

    // MARK: Completion

    /// Makes the content of an upload of segments whose bytes the caller has read, and forgets the parts. The pieces stay
    /// where they are and get another name; only one that is cut is written again.
    /// - Returns: false when the upload is complete or gone, or when a part has gone since it was read: nothing is done then.
    package func completeUpload(_ id: String, of segments: [Segment], item: String) async throws -> Bool {
        do {
            return try await transaction { try Self.complete(id, of: segments, item: item, on: $0) }
        } catch is PartGone {
            return false
        }
    }

    private struct PartGone: Error {}

    private static func complete(
        _ id: String, of segments: [Segment], item: String, on connection: StoreConnection
    ) throws -> Bool {
        guard try lock(id, on: connection) else { return false }
        let content = try newFile(on: connection)
        var place: Int64 = 0
        for segment in segments {
            try take(segment, into: content, at: place, on: connection)
            place += segment.range.upperBound - segment.range.lowerBound
        }
        let taken = try connection.integer(
            "SELECT coalesce(sum(size), 0)::bigint FROM fieldwork.work_pieces WHERE file = ?"
        ) { try $0.bind(content, at: 1) }
        guard taken == place else { throw PartGone() }
        try connection.run("UPDATE fieldwork.uploads SET item = ?, content = ? WHERE id = ?") {
            try $0.bind(item, at: 1)
            try $0.bind(content, at: 2)
            try $0.bind(id, at: 3)
        }
        try connection.run(
            "DELETE FROM fieldwork.work_files WHERE id IN (SELECT file FROM fieldwork.upload_parts WHERE upload = ?)"
        ) { try $0.bind(id, at: 1) }
        return true
    }

    private static func take(
        _ segment: Segment, into content: Int64, at place: Int64, on connection: StoreConnection
    ) throws {
        // The piece that an overlap cuts.
        try connection.run(
            """
            INSERT INTO fieldwork.work_pieces (file, start, size, bytes)
            SELECT ?1::bigint, ?2::bigint, start + size - ?4::bigint,
                substring(bytes FROM (?4::bigint - start + 1)::int)
            FROM fieldwork.work_pieces
            WHERE file = ?3::bigint AND start < ?4::bigint AND start + size > ?4::bigint
            """
        ) {
            try $0.bind(content, at: 1)
            try $0.bind(place, at: 2)
            try $0.bind(segment.file, at: 3)
            try $0.bind(segment.range.lowerBound, at: 4)
        }
        try connection.run(
            """
            UPDATE fieldwork.work_pieces SET file = ?1::bigint, start = start + ?2::bigint
            WHERE file = ?3::bigint AND start >= ?4::bigint AND start + size <= ?5::bigint
            """
        ) {
            try $0.bind(content, at: 1)
            try $0.bind(place - segment.range.lowerBound, at: 2)
            try $0.bind(segment.file, at: 3)
            try $0.bind(segment.range.lowerBound, at: 4)
            try $0.bind(segment.range.upperBound, at: 5)
        }
    }
}
