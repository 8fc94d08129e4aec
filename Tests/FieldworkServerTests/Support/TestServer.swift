import FieldworkStore
import Foundation

@testable import FieldworkServer

/// A server on a free loopback port, for one test.
struct TestServer: Sendable {
    let running: RunningFeatureServer
    let client: TestClient

    /// Runs a test against a server over a store and stops it afterwards. Unless the test names a time for its requests, they have
    /// so much that none ends because the machine is busy with other tests.
    static func with<Result: Sendable>(
        store: any FeatureStore,
        configuration: ServerConfiguration = ServerConfiguration(port: 0, definitionLifetime: .zero),
        _ test: (TestServer) async throws -> Result
    ) async throws -> Result {
        var configuration = configuration
        if configuration.requestTime == .seconds(FieldworkServer.Limits.requestSeconds) {
            configuration.requestTime = .seconds(600)
        }
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
