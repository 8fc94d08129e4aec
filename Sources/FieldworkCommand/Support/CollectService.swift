import FieldworkCollect
import Logging
import ServiceLifecycle

/// The app on its own, which says its address as soon as it listens.
struct CollectService: Service {
    var configuration: CollectConfiguration
    var logger: Logger

    func run() async throws {
        do {
            try await CollectApp(configuration: configuration, logger: logger).run { address in
                Terminal.output("Fieldwork is ready: app \(address.text)")
            }
        } catch {
            throw Serving.failure(error, host: configuration.host, port: configuration.port)
        }
    }
}
