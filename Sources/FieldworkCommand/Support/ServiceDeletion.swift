import FieldworkPostGIS
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Deletes a service for good, after somebody has typed its name.
struct ServiceDeletion {
    let name: ServiceName
    let asks: Bool

    func run(_ data: DataOption, _ database: StoreOption) async throws {
        if let address = database.store {
            let store = try await Database.open(address)
            return try await closing(store) { store in
                try await confirm(store)
                try await store.deleteService(name)
                say()
            }
        }
        let store = try await DefinitionFiles.store(data)
        try await closing(store) { store in
            try await confirm(store)
            try await remove(from: store, data.url)
            say()
        }
    }

    private func remove(from store: GeoPackageStore, _ folder: URL) async throws {
        let place = try GeoPackageStore.place(of: name, in: folder)
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)) == nil else {
            throw CommandFailure(
                .cannotCreate,
                "\(name.path) was published in place. fieldwork unpublish \(name.path) takes it from the services; its file is yours to delete."
            )
        }
        let isListed = try await store.serviceNames().contains(name)
        do {
            try await store.deleteService(name)
        } catch let error as StoreError where error.code != .serviceNotFound {
            // It can't be opened: what is left are its files.
            for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: place.path + suffix) {
                try FileManager.default.removeItem(atPath: place.path + suffix)
            }
        }
        if !isListed { try await store.restore(name) }
    }

    private func say() { Terminal.output("Deleted \(name.path)") }

    private func confirm(_ store: some FeatureStore) async throws {
        var what: [String] = []
        do {
            var features = 0
            for layer in try await store.service(name).layers {
                features += try await store.count(FeatureQuery(), in: LayerAddress(service: name, layerID: layer.id))
            }
            what.append(Counted.features(features))
            if let store = store as? any ReplicaStore {
                let replicas = try await store.replicas(of: name).filter { $0.state != .retired }.count
                if replicas > 0 {
                    what.append("\(Counted.text(replicas, "replica")), whose devices can send nothing more")
                }
            }
        } catch let error as StoreError where error.code != .serviceNotFound {
            // A damaged service can be deleted too.
            what.append("what is left of it")
        }
        guard asks else { return }
        guard Prompt.isOnTerminal else {
            throw CommandFailure(.cannotCreate, "Nothing was deleted: give --yes where nobody can be asked.")
        }
        let answer = Prompt.line(
            "This deletes \(name.path) for good: \(what.joined(separator: ", ")), with attachments and history. Type its name: "
        )
        guard answer == name.path else { throw CommandFailure(.interrupted, "Nothing was deleted.") }
    }
}
