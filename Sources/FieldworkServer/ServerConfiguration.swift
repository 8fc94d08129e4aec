package import FieldworkPortal
package import Foundation
package import HTTPTypes

/// Where the server listens and what it allows.
package struct ServerConfiguration: Sendable {
    /// The address to listen on. The default is reached from this machine only.
    package var host: String
    /// The port to listen on; 0 for any free one, which `onReady` tells.
    package var port: Int
    /// The first segment of every address of the protocol, `/<instance>/rest/…`. Some clients have `arcgis` built in.
    package var instance: String
    package var maximumBodyBytes: Int
    package var maximumConnections: Int
    /// How long a definition is used before the store is asked again whether it changed.
    package var definitionLifetime: Duration
    package var idleTime: Duration
    package var stalledWriteTime: Duration
    package var shutdownTime: Duration
    /// How long the work of one request may take; waiting does not count.
    package var requestTime: Duration
    /// Bytes that the work of one request may hold at a time, and that of all requests together.
    package var requestMemory: Int
    package var memory: Int
    /// Gives freed memory back to the system, after requests that took much; nil where nothing has to be done.
    package var releaseMemory: (@Sendable () -> Void)?
    /// Whether the store is closed after the last request has finished.
    package var closesStore: Bool
    /// Tells from a request who asks, for editor tracking and ownership, where nobody has signed in and whoever starts the
    /// server knows better.
    package var identify: @Sendable (HTTPRequest) -> String?
    /// When replicas expire, and how long changes are kept that no replica needs.
    package var replicaPolicy: ReplicaPolicy
    /// How long a process of a database may say nothing of its jobs before another takes them over.
    package var jobLease: Duration
    /// Whether it does jobs that others left, ends old replicas and shortens logs. A server that is there for one question
    /// leaves that to those that stay.
    package var worksInBackground = true
    /// Under which names the server answers, and to pages of which sites.
    package var access: AccessRules
    /// How long connections may take over what they send.
    package var connectionRules: ConnectionRules
    /// The folder in which locators and packages of tiles lie, as a rule that of the services; nil for none.
    package var dataFolder: URL?
    /// Opens the administrative operations to who has it; nil: they are off.
    package var administrationKey: AdministrationKey?
    /// The people who may use it, and what they may do; nil, or a portal without people: everybody who reaches the port.
    package var portal: Portal?
    /// Another server that checks who people are; nil: there are passwords alone.
    package var provider: ProviderSettings?
    /// Takes each request that was answered; nil where nobody wants them.
    package var accessLog: (@Sendable (AccessRecord) -> Void)?
    /// The certificate with which the server speaks TLS; nil: it does not.
    package var tls: TLSFiles?
    /// Makes a picture, in SVG, of an address as a code that the app reads; nil: the portal's pages show none.
    package var codePicture: (@Sendable (String) -> String?)?

    package init(
        host: String = "127.0.0.1", port: Int = 8080, instance: String = "arcgis",
        maximumBodyBytes: Int = Limits.bodyBytes, maximumConnections: Int = Limits.connections,
        definitionLifetime: Duration = .milliseconds(Limits.definitionLifetimeMilliseconds),
        idleTime: Duration = .seconds(Limits.idleSeconds),
        stalledWriteTime: Duration = .seconds(Limits.stalledWriteSeconds),
        shutdownTime: Duration = .seconds(Limits.shutdownSeconds), closesStore: Bool = true,
        identify: @escaping @Sendable (HTTPRequest) -> String? = { _ in nil },
        administrationKey: AdministrationKey? = nil, replicaPolicy: ReplicaPolicy = ReplicaPolicy(),
        jobLease: Duration = .seconds(Limits.jobLeaseSeconds), access: AccessRules = AccessRules(),
        connectionRules: ConnectionRules = ConnectionRules(),
        requestTime: Duration = .seconds(Limits.requestSeconds), requestMemory: Int = Limits.requestMemoryBytes,
        memory: Int = Limits.memoryBytes, dataFolder: URL? = nil, portal: Portal? = nil, tls: TLSFiles? = nil,
        codePicture: (@Sendable (String) -> String?)? = nil
    ) {
        self.host = host
        self.port = port
        self.instance = instance
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumConnections = maximumConnections
        self.definitionLifetime = definitionLifetime
        self.idleTime = idleTime
        self.stalledWriteTime = stalledWriteTime
        self.shutdownTime = shutdownTime
        self.closesStore = closesStore
        self.identify = identify
        self.administrationKey = administrationKey
        self.replicaPolicy = replicaPolicy
        self.jobLease = jobLease
        self.access = access
        self.connectionRules = connectionRules
        self.requestTime = requestTime
        self.requestMemory = requestMemory
        self.memory = memory
        self.dataFolder = dataFolder
        self.portal = portal
        self.tls = tls
        self.codePicture = codePicture
    }
}
