import ArgumentParser
import FieldworkCollect
import FieldworkServer
import FieldworkStore
import Foundation
import Logging
import Synchronization

/// `fieldwork demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Make demo services, serve them, and run the app beside them.",
        discussion: """
            At the first start the services DamageAssessment, SaveTheBaySync and TreesOfPortland, the locator Portland,
            which finds addresses, and the basemap Streets are made from a seed; nothing is downloaded. What you edit in them is kept. The app's
            page is on the next port, or on the first free one after it. It opens web maps of the services, with pop-ups
            and forms; their files are in the folder maps.

            The demo has a portal: two maps that everyone may see and edit without signing in, one map for a group, and two
            people, ana (administrator) and ben (editor), whose passwords are made at the first start and printed once.
            `fieldwork users password ana` sets another.

            EXAMPLES
              fieldwork demo
              fieldwork demo --port 9000 --data ~/fieldwork-demo
            """)

    @OptionGroup var data: DataOption
    @OptionGroup var listen: ListenOptions
    @OptionGroup(title: "Who may use it") var access: AccessOptions
    @OptionGroup(title: "Connections") var connectionOptions: ConnectionOptions

    func validate() throws {
        guard listen.port < 65_535 else { throw ValidationError("The app needs a port above the server's.") }
    }

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            let appPort = try await ports()
            let rules = try access.rules()
            try Openness.checkDemo(on: listen)
            try await Interruption.cancelling { try await DemoStore.prepare(at: data.url) }
            let logger = Serving.logger()
            let store = try await GeoPackageStore.open(at: data.url) { logger.warning("\($0)") }
            let portal = try await Openness.portal(in: data.url)
            let demo = portal.map { DemoPortal(portal: $0, folder: data.url) }
            try await demo?.prepare(try await store.serviceNames()) { Terminal.error($0) }
            try await Openness.check(portal, on: listen, rules)
            await ServedSettings(listen, rules, hasTLS: false).note(in: portal)
            let ready = ReadyLine(listen, showsPortal: portal != nil)
            let configuration = ServerConfiguration(
                host: listen.plainHost, port: listen.port, instance: listen.instance,
                maximumConnections: connectionOptions.maxConnections, access: rules,
                connectionRules: connectionOptions.rules, dataFolder: data.url, portal: portal,
                codePicture: { CodeMaker($0)?.svg })
            let server = FeatureServer(store: store, configuration: configuration, logger: logger) {
                [folder = data.url, listen] port in
                // Without its maps the demo is still worth having.
                do {
                    let services = listen.servicesAddress(port: port)
                    try DemoMaps.prepare(in: folder, services: services)
                    try await demo?.prepareMaps(services: services)
                } catch {
                    Terminal.error("Warning: the demo's web maps were not written. \(CommandFailure(error).message)")
                }
                await ready.serverIsReady(port)
                // The server draws them: it must not wait for its own answer.
                Task {
                    do {
                        try await demo?.prepareThumbnails(local: listen.servicesAddress(port: port))
                    } catch {
                        logger.warning(
                            "The pictures of the demo's maps were not drawn", metadata: ["error": "\(error)"])
                    }
                }
            }
            let app = AppBesideServer(
                ready: ready, port: appPort,
                dataDirectory: data.url.appending(path: ".collect", directoryHint: .isDirectory),
                maps: DemoMaps.offered(in: data.url), logger: logger)
            try await Serving.run([server, app], on: listen, logger: logger)
        }
    }

    /// Looks whether the ports can be had before the demo's data is made.
    /// - Returns: the port of the app.
    private func ports() async throws -> Int {
        guard listen.port != 0 else { return 0 }
        do {
            try await ListeningPort.check(listen.port, host: listen.plainHost)
        } catch {
            throw Serving.failure(error, host: listen.host, port: listen.port)
        }
        let wanted = listen.port + 1
        let free = await ListeningPort.firstFree(
            of: wanted...min(wanted + Self.portsTried, 65_535), host: AppBesideServer.host)
        // 0 lets the system choose.
        if free != wanted {
            Terminal.error(
                "The port \(wanted) is taken: the app gets \(free.map { "the port \($0)" } ?? "another one").")
        }
        return free ?? 0
    }

    /// How many ports after the next one are looked at for the app.
    private static let portsTried = 20
}
