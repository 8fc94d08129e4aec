import Foundation
import Synchronization

/// A program that runs beside the tests until it is killed.
///
/// Foundation's `Process` is not for it: it learns of a child's end by a socket that the child holds, and a child that is
/// started in the same moment may inherit it. One that runs for as long as the tests would hold it for as long, and whoever
/// waits for the other child's end would wait for ever. This child is given nothing but its three streams.
struct ServerProcess {
    let identifier: pid_t

    /// - Parameter log: where what it prints is added.
    init(_ program: String, _ arguments: [String], log: URL) throws {
        let closing = """
            for open in /proc/self/fd/*; do open=${open##*/}; [ "$open" -gt 2 ] && eval "exec $open>&-"; done; exec "$@"
            """
        let words = ["/bin/bash", "-c", closing, program, program] + arguments
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var copies = words.map { strdup($0) } + [nil]
        defer { copies.forEach { free($0) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, words[0], &actions, nil, &copies, environ)
        guard code == 0 else {
            throw TemporaryPostgres.Failure(description: "\(program): \(String(cString: strerror(code)))")
        }
        identifier = started
        Self.running.withLock { $0.append(self) }
    }

    /// False once it has ended; it is then gone from the list of processes.
    var isRunning: Bool { waitpid(identifier, nil, WNOHANG) == 0 }

    /// Ends a database server at once, as a machine that is switched off, and waits for that.
    func stop() {
        Self.running.withLock { $0.removeAll { $0.identifier == identifier } }
        guard isRunning else { return }
        kill(identifier, SIGQUIT)
        waitpid(identifier, nil, 0)
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
