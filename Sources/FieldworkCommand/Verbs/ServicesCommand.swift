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
            """)

    @Argument(help: "The address of a services directory; without one the services of the folder are listed.")
    var address: String?

    @OptionGroup var data: DataOption

    func run() async throws {
        try await runVerb {
            if let address { try await listRemote(try ServiceReader(address)) } else { try await listLocal() }
        }
    }

    private func listLocal() async throws {
        guard FileManager.default.fileExists(atPath: data.url.path) else {
            throw CommandFailure(
                .noInput, "\(data.url.path) is not there. fieldwork publish or fieldwork demo makes it.")
        }
        let store = try await GeoPackageStore.open(at: data.url)
        var broken = 0
        for name in try await store.serviceNames() {
            Terminal.output(name.path)
            do {
                try await list(name, of: store)
            } catch let error as StoreError {
                broken += 1
                Terminal.error("  \(name.path) can't be read: \(error.message)")
            }
        }
        try await store.close()
        guard broken == 0 else {
            throw CommandFailure(.badData, "Services that can't be read: \(broken). fieldwork doctor says more.")
        }
    }

    private func list(_ name: ServiceName, of store: GeoPackageStore) async throws {
        for layer in try await store.service(name).layers {
            let count = try await store.count(FeatureQuery(), in: LayerAddress(service: name, layerID: layer.id))
            Terminal.output("  \(layer.id)  \(layer.name)  \(kind(layer.geometryType))  \(count)")
        }
    }

    private func listRemote(_ reader: ServiceReader) async throws {
        for entry in try await reader.get()["services"]?.arrayValue ?? []
        where entry["type"]?.stringValue == "FeatureServer" {
            guard let path = entry["name"]?.stringValue else { continue }
            Terminal.output(path)
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let root = try await reader.get("\(name)/FeatureServer")
            for layer in (root["layers"]?.arrayValue ?? []) + (root["tables"]?.arrayValue ?? []) {
                guard let id = layer["id"]?.integerValue else { continue }
                let count = try await reader.get(
                    "\(name)/FeatureServer/\(id)/query", [("where", "1=1"), ("returnCountOnly", "true")])
                let type = layer["geometryType"]?.stringValue.flatMap(LayerGeometryType.init(rawValue:))
                Terminal.output(
                    "  \(id)  \(layer["name"]?.stringValue ?? "")  \(kind(type))  \(count["count"]?.integerValue ?? 0)")
            }
        }
    }

    private func kind(_ type: LayerGeometryType?) -> String {
        type.map { String($0.rawValue.dropFirst("esriGeometry".count)).lowercased() } ?? "table"
    }
}
