public import Foundation
import Synchronization

/// Settings that hold for the whole process.
public enum ArcGISEnvironment {
    private struct State {
        var localEditsDirectory: URL?
        var curveMode = ServiceCurveGeometryMode.densifyCurves
        var session = ArcGISURLSession()
        var backgroundSession: ArcGISURLSession?
        var apiKey: APIKey?
        var dataDirectory: URL?
        var expressionEvaluator: any ExpressionEvaluator = ArcadeExpressionEvaluator()
    }

    private static let state = Mutex(State())

    /// Where the SDK keeps what belongs to the user: unsent edits in `Services`, sign-ins in `Credentials`. By default
    /// `Fieldwork` in the user's data directory. Set it before anything is loaded.
    public static var applicationDataDirectory: URL {
        get { state.withLock { $0.dataDirectory } ?? defaultDirectory }
        set { state.withLock { $0.dataDirectory = newValue } }
    }

    /// The name of the session for downloads, by which the vendor's system knows it. It has no effect.
    public static var defaultBackgroundURLSessionIdentifier: String { "fieldwork.background" }

    /// Where unsent edits and cached features are kept, one folder a service. By default `Services` in
    /// `applicationDataDirectory`. Set it before the first service is loaded.
    public static var localEditsDirectory: URL {
        get { state.withLock { $0.localEditsDirectory } ?? folder("Services") }
        set { state.withLock { $0.localEditsDirectory = newValue } }
    }

    /// Sees to it that services know who asks: credentials, and the handlers that are asked for them.
    public static let authenticationManager = AuthenticationManager()

    /// A key for the vendor's services on the web; nil for none. It is sent to addresses under `arcgis.com` alone, when no
    /// credential is known for them.
    public static var apiKey: APIKey? {
        get { state.withLock { $0.apiKey } }
        set { state.withLock { $0.apiKey = newValue } }
    }

    /// How curve segments are sent to services. Features are fetched densified in both modes.
    public static var serviceCurveGeometryMode: ServiceCurveGeometryMode {
        get { state.withLock { $0.curveMode } }
        set { state.withLock { $0.curveMode = newValue } }
    }

    /// How services are reached, from the next request on.
    public static var urlSession: ArcGISURLSession {
        get { state.withLock { $0.session } }
        set { state.withLock { $0.session = newValue } }
    }

    /// How files are downloaded: replicas and attachments. Until it is set it is `urlSession`.
    public static var backgroundURLSession: ArcGISURLSession {
        get { state.withLock { $0.backgroundSession ?? $0.session } }
        set { state.withLock { $0.backgroundSession = newValue } }
    }

    /// What evaluates the expressions of pop-ups and forms that are made from now on.
    package static var expressionEvaluator: any ExpressionEvaluator {
        get { state.withLock { $0.expressionEvaluator } }
        set { state.withLock { $0.expressionEvaluator = newValue } }
    }

    /// Accepts a licence of the vendor's SDK, which this one does not need.
    public static func setLicense(with licenseKey: LicenseKey, extensionLicenseKeys: [LicenseKey] = []) throws {}

    static func folder(_ name: String) -> URL {
        applicationDataDirectory.appending(path: name, directoryHint: .isDirectory)
    }

    private static var defaultDirectory: URL {
        let data = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        return (data ?? FileManager.default.temporaryDirectory)
            .appending(path: "Fieldwork", directoryHint: .isDirectory)
    }
}

/// A licence of the vendor's SDK, which this one does not need.
public struct LicenseKey: RawRepresentable, Hashable, Sendable {
    /// The licence as a text.
    public let rawValue: String

    /// Any text.
    public init?(rawValue: String) { self.rawValue = rawValue }

    /// Any text.
    public init?(_ key: String) { self.init(rawValue: key) }
}

/// How curve segments are sent to services.
public enum ServiceCurveGeometryMode: Sendable {
    /// Curves are sent as lines through many vertices, to every service.
    case densifyCurves
    /// Curves are sent as they are to a service that stores them and allows it (`supportsTrueCurve` and
    /// `allowsTrueCurvesUpdates` of `ArcGISFeatureServiceInfo`), densified to every other one.
    case trueCurveClient
}
