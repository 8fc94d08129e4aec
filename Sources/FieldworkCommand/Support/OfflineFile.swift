import Fieldwork
import Foundation

/// A file that a verb is given. What it is is found out without changing it.
struct OfflineFile {
    let url: URL

    init(_ path: String) { url = URL(filePath: (path as NSString).expandingTildeInPath) }

    var name: String { url.lastPathComponent }

    func summary() async throws -> GeodatabaseSummary {
        do {
            return try await GeodatabaseSummary.read(url)
        } catch {
            switch error {
            case .notThere: throw CommandFailure(.noInput, "There is no file \(url.path).")
            case .notAGeoPackage: throw CommandFailure(.badData, "\(url.path) is no GeoPackage.")
            case .inUse: throw CommandFailure(.temporary, "Another program has locked \(url.path). Try again later.")
            case .unreadable(let reason): throw CommandFailure(.badData, "\(url.path) can't be read: \(reason)")
            }
        }
    }

    /// Throws for a file that another program made: Fieldwork has kept no log of its edits.
    func requirePrepared() async throws {
        guard try await !summary().isPrepared else { return }
        throw CommandFailure(
            .badData,
            """
            \(name) keeps no log of edits: another program made it. Nothing was changed. `fieldwork collect \(name)` opens it \
            for edits, which adds global ids and a change log to it.
            """)
    }

    /// Throws for a file that no sync can be made of.
    func requireReplica() async throws {
        guard try await summary().serviceURL != nil else {
            throw CommandFailure(
                .badData,
                """
                \(name) was not taken from a service: there is nothing to synchronize it with. Nothing was changed. \
                `fieldwork offline create` makes a file that can be synchronized.
                """)
        }
        guard FileManager.default.isWritableFile(atPath: url.path) else {
            throw CommandFailure(.inputOutput, "\(url.path) is read-only: a sync has to write what others changed.")
        }
    }
}
