import Foundation

/// Where a job of a command puts what it makes. `TARGET.job` beside it remembers how far the job is, for the same command when it is
/// given again.
struct JobTarget: Sendable {
    let url: URL

    init(_ path: String) { url = URL(filePath: (path as NSString).expandingTildeInPath) }

    init(_ url: URL) { self.url = url }

    var stateURL: URL { URL(filePath: "\(url.path).job") }

    /// Throws where something else is at the place, or where nothing can be made there. What a command was killed at the very end of is
    /// there with its state: given again, the command says that all is done.
    func require() throws {
        let manager = FileManager.default
        guard !manager.fileExists(atPath: url.path) || manager.fileExists(atPath: stateURL.path) else {
            throw CommandFailure(.cannotCreate, "\(url.path) is there already.")
        }
        let folder = url.deletingLastPathComponent().path
        guard manager.fileExists(atPath: folder) else {
            throw CommandFailure(.cannotCreate, "\(folder) is not there: make the folder first.")
        }
    }

    func forgetState() { try? FileManager.default.removeItem(at: stateURL) }
}
