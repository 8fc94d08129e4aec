import Foundation

/// Public test data beside the package. A clone without it skips the tests that need it.
enum SharedData {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "../shared/data").standardized

    static func url(_ path: String) -> URL? {
        for base in [folder, folder.appending(path: "../../../shared/data").standardized] {
            let url = base.appending(path: path)
            if FileManager.default.fileExists(atPath: url.path) { return url }
        }
        return nil
    }
}
