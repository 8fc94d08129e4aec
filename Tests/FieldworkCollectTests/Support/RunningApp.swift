import BrowserSupport
import FieldworkPortal
import FieldworkServer
import FieldworkStore
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

@testable import FieldworkCollect

/// The app, running on a free loopback port until it is stopped.
struct RunningApp: Sendable {
    let port: Int
    let key: String
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Where its pages begin; they open for a browser that has been at the door.
    var address: String { "http://127.0.0.1:\(port)/" }
    /// The address that the app prints, with the key.
    var door: String { CollectAddress(port: port, key: key).text }

    static func start(
        services: URL, folder: URL, webMap: URL? = nil, file: URL? = nil, port: Int = 0
    ) async throws -> RunningApp {
        var configuration = CollectConfiguration(
            port: port, servicesRoot: services, webMap: webMap, file: file, fileFolders: [folder],
            dataDirectory: folder, mapLibraryDirectory: mapLibrary)
        // A busy machine decides no test.
        configuration.framePatience = .seconds(60)
        let logger = Logger(label: "fieldwork.collect.tests") { _ in SwiftLogNoOpLogHandler() }
        let (ready, announce) = AsyncThrowingStream.makeStream(of: CollectAddress.self)
        let app = ReadyApp(app: CollectApp(configuration: configuration, logger: logger)) { address in
            announce.yield(address)
            announce.finish()
        }
        var groupConfiguration = ServiceGroupConfiguration(services: [.init(service: app)], logger: logger)
        groupConfiguration.maximumGracefulShutdownDuration = .seconds(10)
        let group = ServiceGroup(configuration: groupConfiguration)
        let running = Task {
            do {
                try await group.run()
                announce.finish()
            } catch {
                announce.finish(throwing: error)
                throw error
            }
        }
        for try await address in ready {
            return RunningApp(port: address.port, key: address.key, group: group, running: running)
        }
        throw CollectError(.notFound, "The app stopped before it listened.")
    }

    func stop() async {
        await group.triggerGracefulShutdown()
        _ = try? await running.value
    }

    /// Where the map library was installed: by the set-up of this clone, or where the environment says.
    static let mapLibrary: URL? = {
        var candidates: [URL] = []
        if let named = ProcessInfo.processInfo.environment["FIELDWORK_MAP_LIBRARY"] {
            candidates.append(URL(filePath: named))
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        candidates.append(root.appending(path: ".fieldwork/maplibre"))
        return candidates.first {
            FileManager.default.fileExists(atPath: $0.appending(path: "maplibre-gl.js").path)
        }
    }()
}

private struct ReadyApp: Service {
    let app: CollectApp
    let onReady: @Sendable (CollectAddress) async -> Void

    func run() async throws { try await app.run(onReady: onReady) }
}

extension PlainClient {
    /// Opens the printed address and keeps the cookie.
    static func visitor(of app: RunningApp) async throws -> PlainClient {
        var client = PlainClient(port: app.port)
        let answer = try await client.send("GET", "/?key=\(app.key)")
        client.cookie = answer["Set-Cookie"]?.split(separator: ";").first.map(String.init)
        return client
    }
}

/// The server of the services, which a test can take off the network and bring back on the same port.
final class RunningServices: Sendable {
    let port: Int
    private let store: GeoPackageStore
    private let dataFolder: URL?
    private let portal: Portal?
    private let server: Mutex<RunningFeatureServer?>

    var root: URL { URL(string: "http://127.0.0.1:\(port)/arcgis/rest/services") ?? URL(filePath: "/") }

    private init(
        port: Int, store: GeoPackageStore, dataFolder: URL?, portal: Portal?, server: RunningFeatureServer
    ) {
        self.port = port
        self.portal = portal
        self.store = store
        self.dataFolder = dataFolder
        self.server = Mutex(server)
    }

    /// - Parameters:
    ///   - dataFolder: where locators and basemaps lie; nil for none.
    ///   - portal: the people; nil for none.
    static func start(
        store: GeoPackageStore, dataFolder: URL? = nil, portal: Portal? = nil
    ) async throws -> RunningServices {
        let server = try await RunningFeatureServer.start(
            store: store, configuration: configuration(port: 0, dataFolder, portal))
        return RunningServices(port: server.port, store: store, dataFolder: dataFolder, portal: portal, server: server)
    }

    private static func configuration(port: Int, _ dataFolder: URL?, _ portal: Portal?) -> ServerConfiguration {
        ServerConfiguration(
            port: port, closesStore: false, dataFolder: dataFolder, portal: portal,
            codePicture: { CodeMaker($0)?.svg })
    }

    func stop() async {
        let server = server.withLock { server in
            let running = server
            server = nil
            return running
        }
        try? await server?.stop()
    }

    func comeBack() async throws {
        let server = try await RunningFeatureServer.start(
            store: store, configuration: Self.configuration(port: port, dataFolder, portal))
        self.server.withLock { $0 = server }
    }
}
