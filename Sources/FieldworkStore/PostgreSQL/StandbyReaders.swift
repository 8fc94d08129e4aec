import Synchronization

/// Readers on a standby of the database that a service lies in: a copy that PostgreSQL keeps by streaming, and that is a
/// moment behind.
///
/// Nobody reads an older state there than he would read on the primary, whoever wrote and through whichever process. Each
/// query first asks the primary for the service's generation: one row. The first time that a generation is seen, the place in
/// the primary's log is noted with it, which lies behind the COMMIT of that generation; the standby answers once it has
/// replayed its copy of the log as far. Another primary has another log, and may number generations again that were lost with
/// the one before: what was noted holds for one start of one server. When the standby is away, lags too long, breaks off a
/// query or has become the primary itself, the primary answers.
final class StandbyReaders: Sendable {
    /// A state of the service, as the primary tells of it.
    private struct Moment: Equatable {
        var primary: String
        var generation: Int64
    }

    private struct State {
        var moment: Moment?
        var place = ""
        var awayUntil: ContinuousClock.Instant?
        var answers = 0
    }

    private let pool: ReaderPool
    /// How long a standby that is away is left alone.
    private let rest: Duration
    private let state = Mutex(State())

    init(source: ConnectionSource, rest: Duration) {
        pool = ReaderPool(source: source, readers: Limits.sessionReaders, streams: Limits.sessionStreams)
        self.rest = rest
    }

    /// How many queries were answered here; for tests.
    var answers: Int { state.withLock { $0.answers } }

    /// Answers a query here, if it can be.
    /// - Parameter primary: the readers of the primary.
    /// - Returns: nil when the primary is to answer.
    func answer<Result>(
        behind primary: ReaderPool, _ body: (ReaderPool) async throws -> Result
    ) async throws -> Result? {
        guard isThere else { return nil }
        let place = try await currentPlace(on: primary)
        guard try await reaches(place) else { return nil }
        do {
            let result = try await body(pool)
            state.withLock { $0.answers += 1 }
            return result
        } catch let error as StoreError where error.code == .busy {
            // Broken off, because it stood in the way of the replay, or with its connection.
            return nil
        }
    }

    private var isThere: Bool {
        state.withLock { state in
            guard let moment = state.awayUntil else { return true }
            guard moment <= .now else { return false }
            state.awayUntil = nil
            return true
        }
    }

    /// A place in the primary's log behind all that the service has committed by now.
    private func currentPlace(on primary: ReaderPool) async throws -> String {
        let moment = try await primary.read { try Self.moment(on: $0) }
        if let known = state.withLock({ $0.moment == moment ? $0.place : nil }) { return known }
        // Asked for after the generation was seen: its COMMIT lies before it.
        let place = try await primary.read { try $0.text("SELECT pg_current_wal_insert_lsn()::text") } ?? ""
        state.withLock { ($0.moment, $0.place) = (moment, place) }
        return place
    }

    private static func moment(on connection: StoreConnection) throws -> Moment {
        var moment: Moment?
        try connection.run(
            "SELECT generation, pg_postmaster_start_time()::text FROM fieldwork_state WHERE id = 1",
            row: { moment = Moment(primary: $0.text(1), generation: $0.integer(0)) })
        guard let moment else { throw StoreError(.failure, "The service has no state.") }
        return moment
    }

    private func reaches(_ place: String) async throws -> Bool {
        let deadline = ContinuousClock.now + .milliseconds(Limits.standbyPatienceMilliseconds)
        while true {
            switch try await replay(of: place) {
            case .isDone: return true
            case .isUnderWay: break
            case .isNone:
                state.withLock { $0.awayUntil = .now + rest }
                return false
            }
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(Limits.standbyStepMilliseconds))
        }
    }

    private enum Replay: Int64 {
        case isUnderWay
        case isDone
        /// It is away, or was promoted and follows nobody any more.
        case isNone
    }

    private func replay(of place: String) async throws -> Replay {
        do {
            let known = try await pool.read { connection in
                try connection.integer(
                    """
                    SELECT CASE WHEN NOT pg_is_in_recovery() THEN \(Replay.isNone.rawValue)
                        WHEN pg_last_wal_replay_lsn() >= (?::text)::pg_lsn THEN \(Replay.isDone.rawValue)
                        ELSE \(Replay.isUnderWay.rawValue) END::bigint
                    """
                ) { try $0.bind(place, at: 1) }
            }
            return known.flatMap(Replay.init(rawValue:)) ?? .isNone
        } catch is StoreError {
            // A client that waits no more says nothing of the standby.
            return .isNone
        }
    }

    func close() async { await pool.close() }
}
