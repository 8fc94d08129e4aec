import ArgumentParser
import Foundation
import Logging
import Synchronization

/// Starts the program anew in its process: the same command line, with the configuration as it is now.
final class Restart: Sendable {
    private let wanted = Atomic(false)

    var isWanted: Bool { wanted.load(ordering: .acquiring) }

    /// Looks whether the configuration can be used.
    /// - Returns: false where it can't: the server goes on as it is.
    func prepare(_ logger: Logger) -> Bool {
        do {
            let arguments = try Configuration.applied(to: Array(CommandLine.arguments.dropFirst()))
            _ = try FieldworkCommand.parseAsRoot(arguments)
        } catch {
            let reason = (error as? CommandFailure)?.message ?? FieldworkCommand.message(for: error)
            logger.error(
                "The configuration can't be used: the server goes on as it is", metadata: ["error": "\(reason)"])
            return false
        }
        wanted.store(true, ordering: .releasing)
        return true
    }

    /// Does not return when it succeeds.
    func runIfWanted() throws {
        guard isWanted else { return }
        // What is open belongs to the program that ends here.
        for descriptor in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap({
            Int32($0)
        }) ?? []
        where descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        // Signals that were caught here must reach the next one.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        var arguments = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        execv("/proc/self/exe", arguments)
        throw CommandFailure(.software, "The program can't be started anew: \(String(cString: strerror(errno))).")
    }
}
