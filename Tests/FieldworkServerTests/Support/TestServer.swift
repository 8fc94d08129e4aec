import FieldworkStore
import Foundation

@testable import FieldworkServer

/// A server on a free loopback port, for one test.
struct TestServer: Sendable {
    let running: RunningFeatureServer
    let client: TestClient

    /// Runs a test against a server over a store and stops it afterwards.
    static func with<Result: Sendable>(
        store: any FeatureStore,
        configuration: ServerConfiguration = ServerConfiguration(port: 0, definitionLifetime: .zero),
        _ test: (TestServer) async throws -> Result
    ) async throws -> Result {
        let running = try await RunningFeatureServer.start(store: store, configuration: configuration)
        let server = TestServer(running: running, client: TestClient(base: running.servicesAddress))
        do {
            let result = try await test(server)
            try await running.stop()
            return result
        } catch {
            try? await running.stop()
            throw error
        }
    }
}
