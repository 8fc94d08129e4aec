import ArgumentParser
import FieldworkCollect
import FieldworkServer
import FieldworkStore
import Foundation
import Synchronization

/// `fieldwork demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Make demo services, serve them, and run the app beside them.",
        discussion: """
            At the first start the services DamageAssessment, SaveTheBaySync and TreesOfPortland are made from a seed;
            nothing is downloaded. What you edit in them is kept. The app's page is on the next port. Web maps of the
            services, with pop-ups and forms, lie in the folder maps beside them.

            EXAMPLES
              fieldwork demo
              fieldwork demo --port 9000 --data ~/fieldwork-demo
            """)

    @OptionGroup var data: DataOption
    @OptionGroup var listen: ListenOptions

    func validate() throws {
        guard listen.port < 65_535 else { throw ValidationError("The app needs a port above the server's.") }
    }

    func run() async throws {
        try await runVerb {
            listen.warnIfReachable()
            try await Interruption.cancelling { try await DemoStore.prepare(at: data.url) }
            let logger = Serving.logger()
            let store = try await GeoPackageStore.open(at: data.url)
            let ready = ReadyLine(listen)
            let server = FeatureServer(
                store: store,
                configuration: ServerConfiguration(
                    host: listen.plainHost, port: listen.port, instance: listen.instance),
                logger: logger
            ) { [folder = data.url, listen] port in
                // Without its maps the demo is still worth having.
                do {
                    try DemoMaps.prepare(in: folder, services: listen.servicesAddress(port: port))
                } catch {
                    Terminal.error("Warning: the demo's web maps were not written. \(CommandFailure(error).message)")
                }
                await ready.serverIsReady(port)
            }
            let app = AppBesideServer(
                ready: ready, port: listen.port == 0 ? 0 : listen.port + 1,
                dataDirectory: data.url.appending(path: ".collect", directoryHint: .isDirectory), logger: logger)
            try await Serving.run([server, app], on: listen, logger: logger)
        }
    }
}
