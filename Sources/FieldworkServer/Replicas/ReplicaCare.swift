import FieldworkREST
import FieldworkStore
import Foundation
import Logging

/// Keeps the change logs of a server's services short: at times it lets replicas expire that nobody has heard of for long,
/// and drops what no live replica needs.
///
/// No unsent edit is stranded by it: an expired replica hands in its edits as before, each merged as one whose base is not
/// known any more (it wins, and what it replaces is kept as a conflict), gets its rows anew and lives again.
struct ReplicaCare: Sendable {
    let store: any ReplicaStore
    let policy: ReplicaPolicy
    let logger: Logger
    /// Where the files of prepared replicas are.
    var keeper: (any WorkKeeper)?

    /// Looks after all services until its task is cancelled.
    func run(now: @Sendable () -> Date = { Date() }) async {
        while !Task.isCancelled {
            await round(now())
            do { try await Task.sleep(for: .seconds(Limits.careSeconds)) } catch { return }
        }
    }

    /// - Returns: the number of log entries dropped.
    @discardableResult
    func round(_ moment: Date) async -> Int {
        var dropped = 0
        let (silence, age) = (
            moment.addingTimeInterval(-policy.replicaSilence), moment.addingTimeInterval(-policy.logAge)
        )
        let names: [ServiceName]
        do {
            names = try await store.serviceNames()
        } catch {
            logger.warning("The services could not be listed", metadata: ["error": "\(error)"])
            return 0
        }
        for name in names {
            if Task.isCancelled { return dropped }
            do {
                dropped += try await store.compactLog(of: name, silentSince: silence, olderThan: age)
            } catch {
                // Busy or broken: the next round tries again, and requests tell what is wrong. The others have their turn.
                logger.warning(
                    "A change log could not be shortened",
                    metadata: ["service": "\(name.path)", "error": "\(error)"])
            }
        }
        await releasePrepared(names)
        return dropped
    }

    /// Lets the files go whose replicas have ended, or whose services are gone.
    private func releasePrepared(_ names: [ServiceName]) async {
        guard let keeper else { return }
        do {
            // The files first: a replica is there before its file.
            var ended = Set(try await keeper.prepared())
            for name in names where !ended.isEmpty {
                for replica in try await store.replicas(of: name) where replica.state != .retired {
                    ended.remove(replica.definition.id)
                }
            }
            for id in ended { try await keeper.releasePrepared(id) }
        } catch {
            // A service that can't be read may have the replica: the next round looks again.
            logger.warning("Prepared files could not be looked after", metadata: ["error": "\(error)"])
        }
    }
}

/// When replicas expire, and how long changes are kept that no replica needs.
package struct ReplicaPolicy: Sendable, Hashable {
    /// Seconds without a synchronisation after which a replica no longer holds the change log back.
    package var replicaSilence: Double
    /// Seconds for which changes stay in the log though every live replica has them: for clients of `extractChanges`.
    package var logAge: Double

    package init(
        replicaSilence: Double = Limits.replicaSilenceSeconds, logAge: Double = Limits.changeLogSeconds
    ) {
        self.replicaSilence = replicaSilence
        self.logAge = logAge
    }
}
