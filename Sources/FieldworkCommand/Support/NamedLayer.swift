import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation

/// A layer that a person names: by its address, or as `Service`, `Service/0` or `Folder/Service/Layer name` of a folder
/// or a database of services.
struct NamedLayer: Sendable {
    var text: String
    var place: ServicePlace

    /// Gives the body a reader of the layer.
    /// - Parameter orService: whether a service may be named as well: then it is read where no layer is named.
    func read<Result: Sendable>(
        orService: Bool = false, _ body: @Sendable (ServiceReader) async throws -> Result
    ) async throws -> Result {
        try await NamedService(text: text, place: place).read(
            at: { store in
                guard orService else { return try await location(in: store) }
                let name = try await NamedService(text: text, place: place).name(in: store)
                return name.path == text ? "\(name.path)/FeatureServer" : try await location(in: store)
            }, body)
    }

    /// The layer below the root of the services, `Name/FeatureServer/0`.
    private func location(in store: any FeatureStore) async throws -> String {
        let address = try await address(in: store)
        return "\(address.service.path)/FeatureServer/\(address.layerID)"
    }

    /// The layer in an open store.
    func address(in store: any FeatureStore) async throws -> LayerAddress {
        let name = try await NamedService(text: text, place: place).name(in: store)
        let layers = try await store.service(name).layers
        let asked = text.dropFirst(name.path.count).drop { $0 == "/" }
        let found = asked.isEmpty ? layers : layers.filter { String($0.id) == asked || $0.name == asked }
        guard let layer = found.first, found.count == 1 else {
            let list = layers.map { "\(name.path)/\($0.id) (\($0.name))" }.joined(separator: ", ")
            throw CommandFailure(
                .noInput,
                asked.isEmpty
                    ? "Say which layer of \(name.path): \(list)."
                    : "\(name.path) has no layer \(asked). It has \(list).")
        }
        return LayerAddress(service: name, layerID: layer.id)
    }
}

/// A feature service that a person names: by its address, or as `Service` or `Folder/Service`.
struct NamedService: Sendable {
    var text: String
    var place: ServicePlace

    /// Gives the body a reader of the service.
    func read<Result: Sendable>(
        _ body: @Sendable (ServiceReader) async throws -> Result
    ) async throws -> Result {
        try await read(
            at: { store in
                let name = try await name(in: store)
                guard name.path == text else {
                    throw CommandFailure(.noInput, "\(text) names a layer; the service is \(name.path).")
                }
                return "\(name.path)/FeatureServer"
            }, body)
    }

    /// A service of a folder or a database is read over the protocol too, from a server of its own for as long as that
    /// takes: it is then read exactly as from elsewhere, also while another server has it open.
    fileprivate func read<Result: Sendable>(
        at location: @Sendable (any FeatureStore) async throws -> String,
        _ body: @Sendable (ServiceReader) async throws -> Result
    ) async throws -> Result {
        if text.contains("://") { return try await body(try ServiceReader(text)) }
        let store = try await place.open()
        let server: RunningFeatureServer
        let path: String
        do {
            path = try await location(store)
            var configuration = ServerConfiguration(port: 0)
            // Jobs, and the care for replicas, are for the servers that stay.
            configuration.worksInBackground = false
            server = try await RunningFeatureServer.start(store: store, configuration: configuration)
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

    /// The service that the text names, or that has the layer that it names.
    fileprivate func name(in store: any FeatureStore) async throws -> ServiceName {
        let names = try await store.serviceNames().filter { text == $0.path || text.hasPrefix($0.path + "/") }
        // The longest: a folder and a service may have one name.
        guard let name = names.max(by: { $0.path.count < $1.path.count }) else {
            throw CommandFailure(
                .noInput, "There is no service \(text) in \(place.text). fieldwork services lists them.")
        }
        return name
    }
}
