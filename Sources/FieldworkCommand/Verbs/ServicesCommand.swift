import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork services`.
struct ServicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "services", abstract: "List services with their layers and numbers of features.",
        discussion: """
            EXAMPLES
              fieldwork services
              fieldwork services http://127.0.0.1:8080/arcgis/rest/services
              fieldwork services --store postgres://localhost/field
              fieldwork services --format json
            """)

    @Argument(help: "The address of a services directory; without one the services of the folder are listed.")
    var address: String?

    @OptionGroup var services: PlaceOption
    @OptionGroup var format: ListFormat

    /// A service, with its layers or with the reason why it can't be read.
    private struct Entry {
        var name: String
        var layers: [Layer] = []
        var problem: String?

        struct Layer {
            var id: Int
            var name: String
            var type: LayerGeometryType?
            var count: Int

            var kind: String {
                type.map { String($0.rawValue.dropFirst("esriGeometry".count)).lowercased() } ?? "table"
            }
        }
    }

    func validate() throws {
        guard let address else { return }
        guard services.database.store == nil else { throw ValidationError("Give an address or --store, not both.") }
        guard !TablePublisher.isAddress(address) else {
            throw ValidationError("A database is named with --store.")
        }
    }

    func run() async throws {
        try await runVerb {
            let entries: [Entry]
            if let address {
                entries = try await remote(try ServiceReader(address))
            } else {
                entries = try await local()
            }
            try format.print(Self.json(entries), Self.lines(entries))
            let broken = entries.filter { $0.problem != nil }
            for entry in broken { Terminal.error("\(entry.name) can't be read: \(entry.problem ?? "")") }
            guard broken.isEmpty else {
                throw CommandFailure(
                    .badData, "Services that can't be read: \(broken.count). fieldwork doctor says more.")
            }
        }
    }

    private static func json(_ entries: [Entry]) -> JSONValue {
        .array(
            entries.map { entry in
                var object = JSONObject()
                object.append("name", .string(entry.name))
                if let problem = entry.problem { object.append("problem", .string(problem)) }
                object.append(
                    "layers",
                    .array(
                        entry.layers.map {
                            [
                                "id": JSONValue($0.id), "name": .string($0.name), "kind": .string($0.kind),
                                "features": JSONValue($0.count),
                            ]
                        }))
                return .object(object)
            })
    }

    private static func lines(_ entries: [Entry]) -> [String] {
        entries.flatMap { entry in
            [entry.name] + TextColumns.lines(entry.layers.map { ["  \($0.id)", $0.name, $0.kind, "\($0.count)"] })
        }
    }

    private func local() async throws -> [Entry] {
        let store = try await services.place.open()
        return try await closing(store) { store in
            var entries: [Entry] = []
            for name in try await store.serviceNames() {
                var entry = Entry(name: name.path)
                do {
                    for layer in try await store.service(name).layers {
                        let count = try await store.count(
                            FeatureQuery(), in: LayerAddress(service: name, layerID: layer.id))
                        entry.layers.append(
                            Entry.Layer(id: layer.id, name: layer.name, type: layer.geometryType, count: count))
                    }
                } catch let error as StoreError {
                    entry.problem = error.message
                }
                entries.append(entry)
            }
            return entries
        }
    }

    private func remote(_ reader: ServiceReader) async throws -> [Entry] {
        let root = try await reader.get()
        guard root["services"] != nil || root["folders"] != nil else {
            throw CommandFailure(
                .noInput, "\(reader.url.absoluteString) is no directory of services: it ends in /rest/services.")
        }
        var entries: [Entry] = []
        for entry in root["services"]?.arrayValue ?? [] where entry["type"]?.stringValue == "FeatureServer" {
            guard let path = entry["name"]?.stringValue else { continue }
            entries.append(try await service(path, reader))
        }
        for folder in (root["folders"]?.arrayValue ?? []).compactMap(\.stringValue) {
            for entry in try await reader.get(folder)["services"]?.arrayValue ?? []
            where entry["type"]?.stringValue == "FeatureServer" {
                guard let path = entry["name"]?.stringValue else { continue }
                entries.append(try await service(path, reader))
            }
        }
        return entries
    }

    private func service(_ path: String, _ reader: ServiceReader) async throws -> Entry {
        var entry = Entry(name: path)
        // The address may be that of a folder already.
        let folder = path.split(separator: "/").count == 2 ? path.split(separator: "/").first.map(String.init) : nil
        let isInFolder = folder != nil && reader.url.lastPathComponent == folder
        let name = isInFolder ? path.split(separator: "/").last.map(String.init) ?? path : path
        let root = try await reader.get("\(name)/FeatureServer")
        for layer in (root["layers"]?.arrayValue ?? []) + (root["tables"]?.arrayValue ?? []) {
            guard let id = layer["id"]?.integerValue else { continue }
            let count = try await reader.get(
                "\(name)/FeatureServer/\(id)/query", [("where", "1=1"), ("returnCountOnly", "true")])
            entry.layers.append(
                Entry.Layer(
                    id: Int(id), name: layer["name"]?.stringValue ?? "",
                    type: layer["geometryType"]?.stringValue.flatMap(LayerGeometryType.init(rawValue:)),
                    count: Int(count["count"]?.integerValue ?? 0)))
        }
        return entry
    }
}
