import FieldworkREST
import FieldworkStore
import Foundation
import Logging

/// Whether each service can be read. What was found holds for a few seconds: whoever watches the server costs it little.
actor Readiness {
    struct Finding: Sendable {
        var services = 0
        var unreadable: [String] = []
        /// Why the store itself does not answer.
        var failure: String?

        var isReady: Bool { unreadable.isEmpty && failure == nil }
    }

    private let store: any FeatureStore
    private let logger: Logger
    private let lifetime: Duration
    private var last: (finding: Finding, at: ContinuousClock.Instant)?
    private var told: Set<String> = []

    init(store: any FeatureStore, logger: Logger, lifetime: Duration = .seconds(Limits.readinessSeconds)) {
        self.store = store
        self.logger = logger
        self.lifetime = lifetime
    }

    func finding() async -> Finding {
        if let last, last.at.duration(to: .now) < lifetime { return last.finding }
        let finding = await look()
        last = (finding, .now)
        return finding
    }

    private func look() async -> Finding {
        var finding = Finding()
        let names: [ServiceName]
        do {
            names = try await store.serviceNames()
        } catch {
            logger.error("The store does not answer", metadata: ["error": "\(error)"])
            finding.failure = "The store does not answer."
            return finding
        }
        finding.services = names.count
        for name in names {
            do {
                try await read(name)
                told.remove(name.path)
            } catch let error as StoreError where error.code == .busy {
                // It is there, and others are served.
                continue
            } catch {
                finding.unreadable.append(name.path)
                // Once, not with every look.
                if told.insert(name.path).inserted {
                    logger.error("A service can't be read", metadata: ["service": "\(name.path)", "error": "\(error)"])
                }
            }
        }
        return finding
    }

    /// Reads a feature of each layer.
    private func read(_ name: ServiceName) async throws {
        for layer in try await store.service(name).layers {
            _ = try await store.records(
                FeatureQuery(returnsGeometry: false, limit: 1), in: LayerAddress(service: name, layerID: layer.id))
        }
    }
}
