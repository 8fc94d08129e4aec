import ArgumentParser
import FieldworkGeometry
import Foundation

/// `fieldwork replicas`.
struct ReplicasCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replicas", abstract: "List what clients have taken offline, or end a replica.",
        discussion: """
            EXAMPLES
              fieldwork replicas http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer
              fieldwork replicas http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer --end 41f5…
            """)

    @Argument(help: "The address of a feature service.")
    var address: String

    @Option(help: ArgumentHelp("End this replica. Its client may still hand in its edits.", valueName: "id"))
    var end: String?

    func run() async throws {
        try await runVerb {
            let reader = try ServiceReader(address)
            if let end {
                _ = try await reader.get("unRegisterReplica", [("replicaID", end)])
                return Terminal.output("Replica \(end) has ended; its client may still hand in its edits")
            }
            for entry in try await reader.get("replicas").arrayValue ?? [] {
                guard let id = entry["replicaID"]?.stringValue else { continue }
                let info = try await reader.get("replicas/\(id)")
                let layers = (info["layers"]?.arrayValue ?? []).compactMap { $0["id"]?.integerValue }
                let text = [
                    id, info["replicaName"]?.stringValue ?? "", info["state"]?.stringValue ?? "",
                    "layers \(layers.map(String.init).joined(separator: ","))",
                    "last sync \(MomentText.text(info["lastSyncDate"]))",
                ]
                Terminal.output(text.joined(separator: "  "))
            }
        }
    }
}
