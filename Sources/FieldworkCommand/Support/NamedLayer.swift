import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation

/// A layer that a person names: by its address, or as `Service`, `Service/0` or `Folder/Service/Layer name` of the
/// folder of services.
struct NamedLayer: Sendable {
    var text: String
    var folder: URL

    /// Gives the body a reader of the layer. A service of the folder is read over the protocol too, from a server of its
    /// own for as long as that takes: it is then read exactly as from elsewhere, also while another server has it open.
    func read<Result: Sendable>(
        _ body: @Sendable (ServiceReader) async throws -> Result
    ) async throws -> Result {
        if text.contains("://") { return try await body(try ServiceReader(text)) }
        guard FileManager.default.fileExists(atPath: folder.path) else {
            throw CommandFailure(
                .noInput, "\(text) is no address, and \(folder.path) is not there. --data names the folder of services."
            )
        }
        let store = try await GeoPackageStore.open(at: folder)
        let server: RunningFeatureServer
        let path: String
        do {
            path = try await location(in: store)
            server = try await RunningFeatureServer.start(store: store)
        } catch {
            try? await store.close()
            throw error
        }
        do {
            let result = try await body(try ServiceReader("\(server.servicesAddress)/\(path)"))
            try await server.stop()
            return result
        } catch {
            try? await server.stop()
            throw error
        }
    }

    /// The layer below the root of the services, `Name/FeatureServer/0`.
    private func location(in store: GeoPackageStore) async throws -> String {
        let names = try await store.serviceNames().filter { text == $0.path || text.hasPrefix($0.path + "/") }
        // The longest: a folder and a service may have one name.
        guard let name = names.max(by: { $0.path.count < $1.path.count }) else {
            throw CommandFailure(
                .noInput, "There is no service \(text) in \(folder.path). fieldwork services lists them.")
        }
        let layers = try await store.service(name).layers
        let asked = text.dropFirst(name.path.count).drop { $0 == "/" }
        let found = asked.isEmpty ? layers : layers.filter { String($0.id) == asked || $0.name == asked }
        guard let layer = found.first, found.count == 1 else {
            let list = layers.map { "\(name.path)/\($0.id) (\($0.name))" }.joined(separator: ", ")
            throw CommandFailure(.noInput, "Say which layer of \(name.path): \(list).")
        }
        return "\(name.path)/FeatureServer/\(layer.id)"
    }
}
