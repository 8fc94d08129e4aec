import ArgumentParser
import FieldworkPostGIS
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
              fieldwork serve --allow-origin https://maps.example
                  Pages of that site may read the services; --allow-origin-edits lets them edit too.
              fieldwork serve --public-address https://gis.example/field --trusted-proxy 127.0.0.1
                  Behind a proxy on this machine that clients reach under that address.
              fieldwork serve --store postgres://localhost/field
                  As many of these as wanted may serve one database: a request may go to any of them.
            """)

    @OptionGroup var data: DataOption
    @OptionGroup var database: StoreOption
    @OptionGroup var listen: ListenOptions
    @OptionGroup(title: "Who may use it") var access: AccessOptions
    @OptionGroup(title: "Connections") var connectionOptions: ConnectionOptions
    @OptionGroup var requests: RequestOptions

    @Option(
        help: ArgumentHelp(
            "Allow administrative operations for requests that carry the key in this file; see fieldwork service key.",
            valueName: "file"))
    var adminKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "A streaming standby of the database that answers queries, as fresh as the database itself would; or several.",
            valueName: "address"))
    var readStore: String?

    @Option(
        help: ArgumentHelp(
            "How many connections to the database its services have together, and as many to each standby.",
            valueName: "number"))
    var connections = FieldworkStore.Limits.sessions

    @Option(
        help: ArgumentHelp(
            "How long another process of the database may say nothing of its jobs before this one takes them over.",
            valueName: "seconds"))
    var jobLease = FieldworkServer.Limits.jobLeaseSeconds

    func validate() throws {
        if let readStore {
            guard database.store != nil else { throw ValidationError("--read-store goes with --store.") }
            try StoreOption.check(readStore)
        }
        guard connections >= FieldworkStore.Limits.fewestSessions else {
            throw ValidationError("--connections must be at least \(FieldworkStore.Limits.fewestSessions).")
        }
        guard jobLease >= 1 else { throw ValidationError("--job-lease must be at least 1 second.") }
    }

    func run() async throws {
        try await runVerb {
            listen.warnIfReachable()
            let key = try AccessOptions.key(in: adminKeyFile)
            let rules = try access.rules()
            let logger = Serving.logger()
            let store = try await openStore()
            if try await store.serviceNames().isEmpty {
                let place = database.store == nil ? data.url.path : "the database"
                Terminal.error("There are no services in \(place) yet. fieldwork publish adds them, also now.")
            }
            var configuration = ServerConfiguration(
                host: listen.plainHost, port: listen.port, instance: listen.instance,
                maximumConnections: connectionOptions.maxConnections, administrationKey: key,
                jobLease: .seconds(jobLease), access: rules, connectionRules: connectionOptions.rules)
            requests.apply(to: &configuration)
            let server = FeatureServer(store: store, configuration: configuration, logger: logger) { [listen] port in
                Terminal.output("Fieldwork is ready: services \(listen.servicesAddress(port: port))")
            }
            try await Serving.run([server], on: listen, logger: logger)
        }
    }

    private func openStore() async throws -> any FeatureStore {
        if let address = database.store {
            return try await PostgresStore.open(address, standby: readStore, sessions: connections)
        }
        return try await GeoPackageStore.open(at: data.url)
    }
}
