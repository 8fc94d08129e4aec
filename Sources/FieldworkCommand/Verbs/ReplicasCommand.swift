import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork replicas`.
struct ReplicasCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replicas", abstract: "List what clients have taken offline, or end a replica.",
        discussion: """
            A line for each: its id, who made it and when, its last synchronisation, its layers, and its area in degrees (west,
            south, east, north). Those that have not synchronised for the longest come first.

            EXAMPLES
              fieldwork replicas http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer
              fieldwork replicas Trees
              fieldwork replicas Trees --store postgres://localhost/field --format json
              fieldwork replicas Trees --end 41f5…
            """)

    @Argument(help: "The address of a feature service, or the name of a service of the folder or the database.")
    var address: String

    @Option(help: ArgumentHelp("End this replica. Its client may still send the edits that it has.", valueName: "id"))
    var end: String?

    @OptionGroup var services: PlaceOption
    @OptionGroup var format: ListFormat

    func run() async throws {
        try await runVerb {
            let replicas = try await address.contains("://") ? remote(try ServiceReader(address)) : local()
            guard let replicas else { return }
            let sorted = replicas.sorted {
                $0["lastSyncDate"]?.integerValue ?? 0 < $1["lastSyncDate"]?.integerValue ?? 0
            }
            try format.print(
                .array(sorted), rows: sorted.map(Self.row),
                titles: ["id", "owner", "made", "last sync", "state", "layers", "area"])
        }
    }

    private static func row(_ info: JSONValue) -> [String] {
        let layers = (info["layers"]?.arrayValue ?? []).compactMap { $0["id"]?.integerValue }
        let owner = info["replicaOwner"]?.stringValue ?? ""
        return [
            info["replicaID"]?.stringValue ?? "", owner.isEmpty ? "-" : owner, MomentText.text(info["creationDate"]),
            MomentText.text(info["lastSyncDate"]), info["state"]?.stringValue ?? "",
            layers.map(String.init).joined(separator: ","), area(info["geometry"]),
        ]
    }

    private static func area(_ json: JSONValue?) -> String {
        guard let json, let geometry = (try? GeoServicesJSON.geometry(from: json)) ?? nil,
            let degrees = GeometryEngine.project(geometry.extent, into: .wgs84)
        else { return "everywhere" }
        return [degrees.xMin, degrees.yMin, degrees.xMax, degrees.yMax].map { String(format: "%.4f", $0) }
            .joined(separator: ",")
    }

    /// nil when a replica was ended.
    private func remote(_ reader: ServiceReader) async throws -> [JSONValue]? {
        if let end {
            _ = try await reader.get("unRegisterReplica", [("replicaID", end)])
            say(end)
            return nil
        }
        var replicas: [JSONValue] = []
        for entry in try await reader.get("replicas").arrayValue ?? [] {
            guard let id = entry["replicaID"]?.stringValue else { continue }
            replicas.append(try await reader.get("replicas/\(id)"))
        }
        return replicas
    }

    private func local() async throws -> [JSONValue]? {
        let name = try DefinitionFiles.name(address)
        let store = try await services.place.open()
        return try await closing(store) { store in
            guard let replicas = store as? any ReplicaStore else { return [] }
            if let end {
                guard let id = UUID(uuidString: end), try await replicas.retireReplica(id, of: name) else {
                    throw CommandFailure(.noInput, "\(name.path) has no replica \(end).")
                }
                say(end)
                return nil
            }
            return try await replicas.replicas(of: name).filter { $0.state != .retired }.map(ReplicaAnswer.info)
        }
    }

    private func say(_ id: String) {
        Terminal.output("Replica \(id) has ended; its client may still send the edits that it has")
    }
}
