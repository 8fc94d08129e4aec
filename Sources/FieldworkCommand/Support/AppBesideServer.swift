import FieldworkCollect
import Foundation
import Logging
import ServiceLifecycle

/// Prints the one line that says that all of it serves.
actor ReadyLine {
    private let host: String
    private let instance: String
    private var serverPort: Int?
    private var waiting: [CheckedContinuation<Int, Never>] = []

    init(host: String, instance: String) {
        self.host = host
        self.instance = instance
    }

    func serverIsReady(_ port: Int) {
        serverPort = port
        for continuation in waiting { continuation.resume(returning: port) }
        waiting = []
    }

    /// The server's port, as soon as it accepts connections.
    func port() async -> Int {
        if let serverPort { return serverPort }
        return await withCheckedContinuation { waiting.append($0) }
    }

    func appIsReady(_ port: Int) {
        guard let serverPort else { return }
        Terminal.output(
            "Fieldwork is ready: services http://\(host):\(serverPort)/\(instance)/rest/services"
                + " · app http://127.0.0.1:\(port)/")
    }
}

/// The app in the server's process: it starts when the server accepts connections and reaches it over the protocol, as
/// it would from another machine.
struct AppBesideServer: Service {
    var ready: ReadyLine
    var port: Int
    var instance: String
    var dataDirectory: URL
    var logger: Logger

    func run() async throws {
        let serverPort = await ready.port()
        let configuration = CollectConfiguration(
            port: port, servicesRoot: URL(string: "http://127.0.0.1:\(serverPort)/\(instance)/rest/services"),
            ownsServices: true, dataDirectory: dataDirectory, mapLibraryDirectory: MapLibrary.directory)
        try await CollectApp(configuration: configuration, logger: logger).run { [ready] in await ready.appIsReady($0) }
    }
}

/// Where set-up put the map library.
enum MapLibrary {
    /// `FIELDWORK_MAP_LIBRARY`, else `.fieldwork/maplibre` in a folder above the executable or the working directory;
    /// nil when it is not installed.
    static var directory: URL? {
        if let path = ProcessInfo.processInfo.environment["FIELDWORK_MAP_LIBRARY"] { return URL(filePath: path) }
        let executable = URL(filePath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        let starts = [URL(filePath: FileManager.default.currentDirectoryPath), executable.deletingLastPathComponent()]
        for start in starts {
            var folder = start.standardizedFileURL
            for _ in 0..<6 {
                let candidate = folder.appending(path: ".fieldwork/maplibre", directoryHint: .isDirectory)
                if FileManager.default.fileExists(atPath: candidate.appending(path: "maplibre-gl.js").path) {
                    return candidate
                }
                folder.deleteLastPathComponent()
            }
        }
        return nil
    }
}
