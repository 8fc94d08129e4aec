import ArgumentParser
import FieldworkGeometry
import FieldworkPostGIS
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

extension StoreCommand {
    /// `fieldwork store check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check the services in a database for damage.",
            discussion: """
                Compares counts, triggers, change log and history, and the contents of attachments with their hashes. Changes
                nothing. Warns of a standby that no COMMIT waits for. For a folder of services there is fieldwork doctor.

                EXAMPLES
                  fieldwork store check --store postgres://localhost/field
                  fieldwork store check --store postgres://localhost/field --format json
                """)

        @OptionGroup var database: StoreOption
        @OptionGroup var format: ListFormat

        func validate() throws {
            guard database.store != nil else { throw ValidationError("Give the address of the database: --store.") }
        }

        func run() async throws {
            try await runVerb {
                guard let address = database.store else { return }
                let store = try await Database.open(address)
                let (names, findings, advice) = try await closing(store) { store in
                    (try await store.serviceNames(), try await store.check(), try await store.advice())
                }
                for sentence in advice { Terminal.error(sentence) }
                try format.print(
                    [
                        "checked": JSONValue(names.count), "findings": .array(findings.map(JSONValue.string)),
                        "advice": .array(advice.map(JSONValue.string)),
                    ], findings)
                guard findings.isEmpty else {
                    throw CommandFailure(
                        .badData,
                        "\(Counted.text(findings.count, "finding")) in \(Counted.text(names.count, "service")).")
                }
                guard format.format == .text else { return }
                Terminal.output("\(Counted.text(names.count, "service")) \(names.count == 1 ? "is" : "are") sound")
            }
        }
    }

    /// `fieldwork store copy`.
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "copy", abstract: "Copy all services from a folder to a database, or back.",
            discussion: """
                Everything comes along: ids, history and change log, replicas, which go on syncing with the copy, conflicts,
                attachments. Each service is there whole or not at all and is read again and compared before it is seen. After an
                interruption the same command goes on with what is not there yet. Stop the server of FROM first: what is edited
                meanwhile stays behind, and the command says so.

                EXAMPLES
                  fieldwork store copy Fieldwork-data postgres://localhost/field
                  fieldwork store copy postgres://localhost/field Fieldwork-data
                """)

        @Argument(help: "The folder, or the address of the database, that has the services.")
        var from: String

        @Argument(help: "The folder, or the address of the prepared database, that gets them.")
        var to: String

        func run() async throws {
            try await runVerb {
                let count = try await Interruption.cancelling { [from, to] in
                    let source = try await Self.store(from, isThere: true)
                    return try await closing(source) { source in
                        let target = try await Self.store(to, isThere: false)
                        return try await closing(target) { target in
                            let report = CopyReport()
                            return try await StoreCopier(from: source, to: target).run { report.tell($0, $1) }
                        }
                    }
                }
                Terminal.output("\(Counted.text(count, "service")) \(count == 1 ? "is" : "are") copied")
            }
        }

        private static func store(_ place: String, isThere: Bool) async throws -> any ServiceStore {
            if TablePublisher.isAddress(place) { return try await Database.open(place) }
            let folder = URL(filePath: (place as NSString).expandingTildeInPath, directoryHint: .isDirectory)
            guard !isThere || FileManager.default.fileExists(atPath: folder.path) else {
                throw CommandFailure(.noInput, "\(folder.path) is not there.")
            }
            return try await GeoPackageStore.open(at: folder)
        }
    }
}

/// Closes a store also after a failure.
func closing<Store, Result>(_ store: Store, _ body: (Store) async throws -> Result) async throws -> Result {
    func close() async throws {
        if let store = store as? any FeatureStore { try await store.close() }
    }
    do {
        let result = try await body(store)
        try await close()
        return result
    } catch {
        try? await close()
        throw error
    }
}
