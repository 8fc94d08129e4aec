package import Foundation

extension ServiceGeodatabase {
    /// A service whose unsent edits and cached features are kept in a directory of the caller, one folder a service,
    /// instead of the process's own (`ArcGISEnvironment.localEditsDirectory`).
    package convenience init(url: URL, keptIn directory: URL) {
        self.init(url: url, environment: ServiceEnvironment(directory: directory, client: HTTPServiceClient()))
    }
}
