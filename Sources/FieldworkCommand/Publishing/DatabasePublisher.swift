import FieldworkPostGIS
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// Publishes in a database what was made as a file first, so that all that can be published in a folder can be published there.
struct DatabasePublisher {
    let address: String
    let service: ServiceName

    /// - Parameter make: makes the service in a folder, which is gone afterwards.
    func publish(_ make: (URL) async throws -> Publication) async throws -> Publication {
        let store = try await Database.open(address)
        do {
            // Before the long work.
            guard try await !store.serviceNames().contains(service) else {
                throw CommandFailure(
                    .cannotCreate, "There is a service \(service.path) already. Choose another --service.")
            }
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "fieldwork-\(UUID().uuidString)", directoryHint: .isDirectory)
            defer { try? FileManager.default.removeItem(at: folder) }
            var publication = try await make(folder)
            publication.featureCount = try await move(from: folder, to: store, publication.featureCount)
            try await store.close()
            return publication
        } catch {
            try? await store.close()
            throw error
        }
    }

    private func move(from folder: URL, to store: PostgresStore, _ total: Int) async throws -> Int {
        let file = try await GeoPackageStore.openFile(at: GeoPackageStore.place(of: service, in: folder))
        let bar = Mutex<ProgressBar?>(ProgressBar("Moving to the database", total: total))
        do {
            let count = try await store.publish(file, as: service) { count in bar.withLock { $0?.advance(to: count) } }
            bar.withLock { $0.take()?.finish("Moved \(Counted.features(count)) to the database") }
            await file.close()
            return count
        } catch {
            await file.close()
            throw error
        }
    }
}
