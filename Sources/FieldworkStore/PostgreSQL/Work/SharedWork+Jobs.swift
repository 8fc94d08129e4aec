/// Jobs, each with what is needed to do it again, and whose it is: the process that does one says again and again that it
/// lives, and another takes over what has not been heard of. All times are the database's.
extension SharedWork {
    static let jobTables = [
        // The request is written once; what becomes of the job is short.
        """
        CREATE TABLE IF NOT EXISTS fieldwork.jobs (
            id text COLLATE "C" PRIMARY KEY, request text NOT NULL, state text, is_final bigint NOT NULL DEFAULT 0,
            owner text COLLATE "C" NOT NULL, alive_until timestamptz NOT NULL, attempts bigint NOT NULL DEFAULT 1,
            submitted timestamptz NOT NULL DEFAULT clock_timestamp(),
            changed timestamptz NOT NULL DEFAULT clock_timestamp())
        """,
        "CREATE INDEX IF NOT EXISTS jobs_open ON fieldwork.jobs (submitted) WHERE is_final = 0",
    ]

    /// A job that the caller is to do.
    package struct ClaimedJob: Sendable, Hashable {
        package var id: String
        package var request: String
        /// How often it was begun, this time included.
        package var attempts: Int
    }

    private static let lease = "clock_timestamp() + make_interval(secs => ?)"

    /// Keeps a job whose owner is about to begin it.
    /// - Returns: false when it is there already: nothing is done then.
    package func keepJob(_ id: String, request: String, owner: String, seconds: Double) async throws -> Bool {
        try await transaction { connection in
            try connection.integer(
                """
                INSERT INTO fieldwork.jobs (id, request, owner, alive_until) VALUES (?, ?, ?, \(Self.lease))
                ON CONFLICT (id) DO NOTHING RETURNING 1::bigint
                """
            ) {
                try $0.bind(id, at: 1)
                try $0.bind(request, at: 2)
                try $0.bind(owner, at: 3)
                try $0.bind(seconds, at: 4)
            } != nil
        }
    }

    /// What was last written down of a job: its state, or its request before there was one.
    package func job(_ id: String) async throws -> String? {
        try await read { connection in
            try connection.text("SELECT coalesce(state, request) FROM fieldwork.jobs WHERE id = ?") {
                try $0.bind(id, at: 1)
            }
        }
    }

    /// What a job was asked with.
    package func jobRequest(_ id: String) async throws -> String? {
        try await read { connection in
            try connection.text("SELECT request FROM fieldwork.jobs WHERE id = ?") { try $0.bind(id, at: 1) }
        }
    }

    package func openJobCount() async throws -> Int {
        try await read { Int(try $0.integer("SELECT count(*) FROM fieldwork.jobs WHERE is_final = 0") ?? 0) }
    }

    /// Writes down what became of a job.
    /// - Returns: false when somebody else has taken it over, who tells what becomes of it: nothing is written then.
    package func changeJob(_ id: String, state: String, isFinal: Bool, owner: String) async throws -> Bool {
        try await read { connection in
            try connection.integer(
                """
                UPDATE fieldwork.jobs SET state = ?, is_final = ?, changed = clock_timestamp()
                WHERE id = ? AND owner = ? AND is_final = 0 RETURNING 1::bigint
                """
            ) {
                try $0.bind(state, at: 1)
                try $0.bind(Int64(isFinal ? 1 : 0), at: 2)
                try $0.bind(id, at: 3)
                try $0.bind(owner, at: 4)
            } != nil
        }
    }

    /// Says that a process lives and does these jobs of its own.
    package func renewJobs(_ ids: [String], of owner: String, seconds: Double) async throws {
        try await read { connection in
            try connection.run(
                """
                UPDATE fieldwork.jobs SET alive_until = \(Self.lease)
                WHERE owner = ? AND is_final = 0 AND id = ANY (string_to_array(?, ','))
                """
            ) {
                try $0.bind(seconds, at: 1)
                try $0.bind(owner, at: 2)
                try $0.bind(ids.joined(separator: ","), at: 3)
            }
        }
    }

    /// Takes back once that jobs were begun, of those that were submitted lately.
    package func uncountJobs(_ ids: [String], youngerThan seconds: Double) async throws {
        try await read { connection in
            try connection.run(
                """
                UPDATE fieldwork.jobs SET attempts = greatest(attempts - 1, 0)
                WHERE is_final = 0 AND id = ANY (string_to_array(?, ','))
                  AND submitted > clock_timestamp() - make_interval(secs => ?)
                """
            ) {
                try $0.bind(ids.joined(separator: ","), at: 1)
                try $0.bind(seconds, at: 2)
            }
        }
    }

    /// Leaves the jobs of a process that stops to the others, at once.
    package func releaseJobs(of owner: String) async throws {
        try await read { connection in
            try connection.run(
                """
                UPDATE fieldwork.jobs SET alive_until = '-infinity', owner = '', attempts = attempts - 1
                WHERE owner = ? AND is_final = 0
                """
            ) { try $0.bind(owner, at: 1) }
        }
    }

    /// Takes over jobs whose owners have not been heard of, the oldest first. Of several processes that ask at a time, each
    /// gets others.
    package func claimJobs(for owner: String, seconds: Double, limit: Int) async throws -> [ClaimedJob] {
        try await read { connection in
            var claimed: [ClaimedJob] = []
            try connection.run(
                """
                WITH dead AS (
                    SELECT id FROM fieldwork.jobs WHERE is_final = 0 AND alive_until < clock_timestamp()
                    ORDER BY submitted LIMIT ?3::bigint FOR UPDATE SKIP LOCKED)
                UPDATE fieldwork.jobs AS j
                SET owner = ?1::text, alive_until = clock_timestamp() + make_interval(secs => ?2),
                    attempts = attempts + 1
                FROM dead WHERE j.id = dead.id RETURNING j.id, j.request, j.attempts
                """
            ) {
                try $0.bind(owner, at: 1)
                try $0.bind(seconds, at: 2)
                try $0.bind(Int64(limit), at: 3)
            } row: { row in
                claimed.append(ClaimedJob(id: row.text(0), request: row.text(1), attempts: Int(row.integer(2))))
            }
            return claimed
        }
    }
}
