import ArgumentParser
import FieldworkCollect
import FieldworkPortal
import FieldworkPostGIS
import FieldworkServer
import FieldworkStore
import Foundation
import Logging
import ServiceLifecycle

/// `fieldwork serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the services of a folder over the GeoServices REST protocol.",
        discussion: """
            Each option may stand in a file, fieldwork.toml, or in the environment; fieldwork config says how, and checks it. SIGHUP
            makes the server read them again and start anew in the same process, after the requests that are under way; with a file
            that is wrong it goes on as it is, and says so. /health answers while the server is alive, /ready says whether each
            service can be read, /metrics counts; fieldwork status shows the three.

            EXAMPLES
              fieldwork serve
              fieldwork serve --config /etc/fieldwork/fieldwork.toml
              fieldwork serve --access-log /var/log/fieldwork/access.log --log-level info --log-format json
              fieldwork serve --data /srv/fieldwork --port 6080
              fieldwork users add ana --role administrator && fieldwork serve --host 0.0.0.0
                  Other machines reach it: people sign in. --open serves without.
              fieldwork serve --host 0.0.0.0 --tls-certificate fullchain.pem --tls-key key.pem
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
    @OptionGroup(title: "TLS") var tls: TLSOptions
    @OptionGroup(title: "Sign-in by a provider") var provider: ProviderOptions
    @OptionGroup(title: "Connections") var connectionOptions: ConnectionOptions
    @OptionGroup var requests: RequestOptions
    @OptionGroup(title: "Logs") var log: LogOptions
    @OptionGroup var settings: ConfigOption

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
            "How many connections its services have together to their files, \(FieldworkStore.Limits.connectionsOfFolder) by default, or to the database and as many to each standby, \(FieldworkStore.Limits.sessions) by default.",
            valueName: "number"))
    var connections: Int?

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
        if let connections {
            guard connections >= FieldworkStore.Limits.fewestSessions else {
                throw ValidationError("--connections must be at least \(FieldworkStore.Limits.fewestSessions).")
            }
        }
        guard jobLease >= 1 else { throw ValidationError("--job-lease must be at least 1 second.") }
    }

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            let key = try AccessOptions.key(in: adminKeyFile)
            let rules = try access.rules()
            let certificate = try tls.files()
            let logger = try log.logger()
            let accessLog = try log.access()
            let (store, portal) = try await openStore(logger)
            try await Openness.check(portal, on: listen, rules)
            let providerSettings = try await provider.settings(portal)
            await ServedSettings(listen, rules, hasTLS: certificate != nil).note(in: portal)
            if try await store.serviceNames().isEmpty {
                let place = database.store == nil ? data.url.path : "the database"
                Terminal.error("There are no services in \(place) yet. fieldwork publish adds them, also now.")
            }
            var configuration = ServerConfiguration(
                host: listen.plainHost, port: listen.port, instance: listen.instance,
                maximumConnections: connectionOptions.maxConnections, administrationKey: key,
                jobLease: .seconds(jobLease), access: rules, connectionRules: connectionOptions.rules)
            configuration.dataFolder = data.url
            requests.apply(to: &configuration)
            configuration.portal = portal
            configuration.provider = providerSettings
            configuration.codePicture = { CodeMaker($0)?.svg }
            configuration.tls = certificate
            configuration.accessLog = accessLog
            let scheme = certificate == nil ? "http" : "https"
            let server = FeatureServer(store: store, configuration: configuration, logger: logger) { [listen] port in
                let address = listen.servicesAddress(port: port, scheme: scheme)
                Terminal.output("Fieldwork is ready: services \(address)")
                ServiceManager.notify(["READY=1", "STATUS=Serving \(address)"])
            }
            let restart = Restart()
            try await Serving.run([server], on: listen, logger: logger) { group in
                guard restart.prepare(logger) else { return }
                ServiceManager.notify(["STATUS=Starting anew"])
                await group.triggerGracefulShutdown()
            }
            ServiceManager.notify(["STOPPING=1"], unless: restart.isWanted)
            try restart.runIfWanted()
        }
    }

    private func openStore(_ logger: Logger) async throws -> (any FeatureStore, Portal?) {
        if let address = database.store {
            let store = try await Database.open(
                address, standby: readStore, sessions: connections ?? FieldworkStore.Limits.sessions)
            return (store, try await Portal(store.openRecords()))
        }
        var isFolder: ObjCBool = true
        _ = FileManager.default.fileExists(atPath: data.url.path, isDirectory: &isFolder)
        guard isFolder.boolValue else {
            throw CommandFailure(.noInput, "\(data.url.path) is a file, not a folder of services.")
        }
        let store = try await GeoPackageStore.open(
            at: data.url, connections: connections ?? FieldworkStore.Limits.connectionsOfFolder
        ) { logger.warning("\($0)") }
        return (store, try await Openness.portal(in: data.url))
    }
}
