package import Foundation

extension ServiceGeodatabase {
    /// A service whose unsent edits and cached features are kept in a folder of the caller, instead of one that its address
    /// names in the process's own directory (`ArcGISEnvironment.localEditsDirectory`).
    package convenience init(url: URL, keptAt folder: URL) {
        self.init(
            url: url,
            environment: ServiceEnvironment(
                directory: folder.deletingLastPathComponent(), client: HTTPServiceClient(),
                folderName: folder.lastPathComponent))
    }
}
