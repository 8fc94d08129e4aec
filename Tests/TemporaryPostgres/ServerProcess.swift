import Foundation
import Synchronization
import TestSupport

/// A database server that runs beside the tests until it is killed.
struct ServerProcess {
    private let child: ChildProcess

    /// - Parameter log: where what it prints is added.
    init(_ program: String, _ arguments: [String], log: URL) throws {
        child = try ChildProcess(program, arguments, output: log)
        Self.running.withLock { $0.append(self) }
    }

    var identifier: pid_t { child.identifier }

    /// False once it has ended; it is then gone from the list of processes.
    var isRunning: Bool { child.isRunning }

    /// Ends a database server at once, as a machine that is switched off, and waits for that.
    func stop() {
        Self.running.withLock { $0.removeAll { $0.identifier == identifier } }
        guard isRunning else { return }
        kill(identifier, SIGQUIT)
        child.wait()
    }

    private static let running = Mutex<[ServerProcess]>([])
    private static let folder = Mutex<URL?>(nil)

    /// Has what still runs stopped and a folder removed when the tests' process ends: what is held by something static has
    /// no end of its own.
    static func removeAtExit(_ folder: URL) {
        Self.folder.withLock { $0 = folder }
        atexit {
            for server in ServerProcess.running.withLock({ $0 }) { server.stop() }
            if let folder = ServerProcess.folder.withLock({ $0 }) { try? FileManager.default.removeItem(at: folder) }
        }
    }
}
