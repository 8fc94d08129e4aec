public import Foundation
import Synchronization

/// Settings that hold for the whole process.
public enum ArcGISEnvironment {
    private struct State {
        var localEditsDirectory: URL?
        var curveMode = ServiceCurveGeometryMode.densifyCurves
        var session = ArcGISURLSession()
        var backgroundSession: ArcGISURLSession?
        var expressionEvaluator: any ExpressionEvaluator = ArcadeExpressionEvaluator()
    }

    private static let state = Mutex(State())

    /// Where unsent edits and cached features are kept, one folder a service. By default `Fieldwork/Services` in the
    /// user's data directory. Set it before the first service is loaded.
    public static var localEditsDirectory: URL {
        get { state.withLock { $0.localEditsDirectory } ?? defaultDirectory }
        set { state.withLock { $0.localEditsDirectory = newValue } }
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

    private static var defaultDirectory: URL {
        let data = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        return (data ?? FileManager.default.temporaryDirectory)
            .appending(path: "Fieldwork", directoryHint: .isDirectory)
            .appending(path: "Services", directoryHint: .isDirectory)
    }
}

/// How curve segments are sent to services.
public enum ServiceCurveGeometryMode: Sendable {
    /// Curves are sent as lines through many vertices, to every service.
    case densifyCurves
    /// Curves are sent as they are to a service that stores them and allows it (`supportsTrueCurve` and
    /// `allowsTrueCurvesUpdates` of `ArcGISFeatureServiceInfo`), densified to every other one.
    case trueCurveClient
}
