package import Foundation

/// Files that were made for clients. Each is there whole or not at all.
extension SharedWork {
    static let resultTables = [
        """
        CREATE TABLE IF NOT EXISTS fieldwork.results (
            name text COLLATE "C" PRIMARY KEY, size bigint NOT NULL,
            made timestamptz NOT NULL DEFAULT clock_timestamp(),
            file bigint NOT NULL REFERENCES fieldwork.work_files)
        """
    ]

    /// Gives a file of this machine a name that any process knows. What had the name goes.
    /// - Parameter isPrepared: whether it never grows too old, until it is released.
    package func keepResult(_ name: String, at url: URL, isPrepared: Bool = false) async throws {
        let kept = try await keepFile(at: url)
        try await transaction { connection in
            let former = try connection.integer("SELECT file FROM fieldwork.results WHERE name = ? FOR UPDATE") {
                try $0.bind(name, at: 1)
            }
            try connection.run(
                """
                INSERT INTO fieldwork.results (name, size, file, made)
                VALUES (?, ?, ?, \(isPrepared ? "'infinity'" : "clock_timestamp()"))
                ON CONFLICT (name) DO UPDATE
                SET size = excluded.size, file = excluded.file, made = excluded.made
                """
            ) {
                try $0.bind(name, at: 1)
                try $0.bind(kept.size, at: 2)
                try $0.bind(kept.file, at: 3)
            }
            guard let former else { return }
            try connection.run("DELETE FROM fieldwork.work_files WHERE id = ?") { try $0.bind(former, at: 1) }
        }
    }

    /// Gives a file of this machine a name that another process may be giving to its own at the same time: the first stays, since somebody
    /// may be reading it already.
    package func keepFirstResult(_ name: String, at url: URL) async throws {
        let kept = try await keepFile(at: url)
        try await transaction { connection in
            var isFirst = false
            try connection.run(
                """
                INSERT INTO fieldwork.results (name, size, file) VALUES (?, ?, ?)
                ON CONFLICT (name) DO NOTHING RETURNING name
                """
            ) {
                try $0.bind(name, at: 1)
                try $0.bind(kept.size, at: 2)
                try $0.bind(kept.file, at: 3)
            } row: { _ in
                isFirst = true
            }
            if isFirst { return }
            try connection.run("DELETE FROM fieldwork.work_files WHERE id = ?") { try $0.bind(kept.file, at: 1) }
        }
    }

    /// The names of the results that never grow too old.
    package func preparedResults() async throws -> [String] {
        try await read { connection in
            var names: [String] = []
            try connection.run(
                "SELECT name FROM fieldwork.results WHERE made = 'infinity' ORDER BY name",
                row: { names.append($0.text(0)) })
            return names
        }
    }

    /// From now on a result grows old like any other.
    package func releasePrepared(_ name: String) async throws {
        try await read { connection in
            try connection.run(
                "UPDATE fieldwork.results SET made = clock_timestamp() WHERE name = ? AND made = 'infinity'"
            ) { try $0.bind(name, at: 1) }
        }
    }

    package func result(_ name: String) async throws -> (file: Int64, size: Int64)? {
        try await read { connection in
            var found: (Int64, Int64)?
            try connection.run("SELECT file, size FROM fieldwork.results WHERE name = ?") {
                try $0.bind(name, at: 1)
            } row: { row in
                found = (row.integer(0), row.integer(1))
            }
            return found
        }
    }

    /// Removes results and finished jobs that are older than so many seconds by the clock of the database.
    package func sweepResults(olderThan seconds: Double) async throws {
        try await read { connection in
            for statement in [
                "DELETE FROM fieldwork.results WHERE made < clock_timestamp() - make_interval(secs => ?)",
                """
                DELETE FROM fieldwork.jobs
                WHERE is_final = 1 AND changed < clock_timestamp() - make_interval(secs => ?)
                """,
            ] {
                try connection.run(statement) { try $0.bind(seconds, at: 1) }
            }
        }
        try await sweepFiles()
    }

    /// Removes files that nothing names, once their writers must have ended.
    func sweepFiles() async throws {
        try await read { connection in
            try connection.run(
                """
                DELETE FROM fieldwork.work_files WHERE id IN (
                    SELECT f.id FROM fieldwork.work_files AS f
                    WHERE f.made < clock_timestamp() - make_interval(secs => ?)
                        AND NOT EXISTS (SELECT 1 FROM fieldwork.upload_parts AS p WHERE p.file = f.id)
                        AND NOT EXISTS (SELECT 1 FROM fieldwork.uploads AS u WHERE u.content = f.id)
                        AND NOT EXISTS (SELECT 1 FROM fieldwork.results AS r WHERE r.file = f.id)
                    LIMIT \(Limits.filesPerSweep) FOR UPDATE OF f SKIP LOCKED)
                """
            ) { try $0.bind(Double(Limits.unnamedFileSeconds), at: 1) }
        }
    }
}
