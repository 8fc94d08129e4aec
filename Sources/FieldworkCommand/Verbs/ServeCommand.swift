import ArgumentParser
import FieldworkServer
import FieldworkStore
import Foundation

/// `fieldwork serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the services of a folder over the GeoServices REST protocol.",
        discussion: """
            EXAMPLES
              fieldwork serve
              fieldwork serve --data /srv/fieldwork --port 6080
            """)

    @OptionGroup var data: DataOption
    @OptionGroup var listen: ListenOptions

    func run() async throws {
        try await runVerb {
            listen.warnIfReachable()
            let logger = Serving.logger()
            let store = try await GeoPackageStore.open(at: data.url)
            let server = FeatureServer(
                store: store,
                configuration: ServerConfiguration(host: listen.host, port: listen.port, instance: listen.instance),
                logger: logger
            ) { [listen] port in
                Terminal.output(
                    "Fieldwork is ready: services http://\(listen.host):\(port)/\(listen.instance)/rest/services")
            }
            try await Serving.run([server], logger: logger)
        }
    }
}
