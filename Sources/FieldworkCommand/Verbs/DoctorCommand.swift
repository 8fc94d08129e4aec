import ArgumentParser
import FieldworkStore
import Foundation

/// `fieldwork doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look whether the services of a folder are sound.",
        discussion: """
            Checks each file's integrity, its spatial index, its counts and its history. Changes nothing.

            EXAMPLES
              fieldwork doctor
              fieldwork doctor --data ~/fieldwork-demo
            """)

    @OptionGroup var data: DataOption

    func run() async throws {
        try await runVerb {
            guard FileManager.default.fileExists(atPath: data.url.path) else {
                throw CommandFailure(.noInput, "\(data.url.path) is not there.")
            }
            let store = try await GeoPackageStore.open(at: data.url)
            let names = try await store.serviceNames()
            let findings = try await store.check()
            try await store.close()
            for finding in findings { Terminal.output(finding) }
            guard findings.isEmpty else {
                throw CommandFailure(.badData, "\(findings.count) findings in \(names.count) services.")
            }
            Terminal.output("\(names.count) services are sound")
        }
    }
}
