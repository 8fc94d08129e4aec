import Fieldwork
import Foundation
import Logging
import Synchronization

/// Whose work the app shows: the workspace of the person who is signed in, or of nobody. Another person gets another workspace
/// over another folder, after everything of the former one has come to rest.
final class Seat: Sendable {
    let accounts: Accounts
    let gate = RequestGate()
    private let hub: EventHub
    private let keeper: Keeper

    init(configuration: CollectConfiguration, hub: EventHub, logger: Logger) throws {
        let accounts = try Accounts(directory: configuration.dataDirectory)
        self.accounts = accounts
        let first = try Self.workspace(configuration, accounts, hub, logger)
        keeper = Keeper(first) { try Seat.workspace(configuration, accounts, hub, logger) }
        self.hub = hub
    }

    private static func workspace(
        _ configuration: CollectConfiguration, _ accounts: Accounts, _ hub: EventHub, _ logger: Logger
    ) throws -> Workspace {
        var own = configuration
        own.dataDirectory = accounts.currentFolder
        return try Workspace(configuration: own, hub: hub, logger: logger)
    }

    var workspace: Workspace { keeper.current }

    /// Called with each workspace before it is used.
    func prepare(_ body: @escaping @Sendable (Workspace) async -> Void) async { await keeper.prepare(body) }

    /// Runs whichever workspace there is, until the task is cancelled.
    func run() async { await keeper.run() }

    func stop() {
        workspace.stop()
        hub.close()
    }

    /// Changes who works on this device.
    /// - Parameter change: signs somebody in or out.
    func hand<Result: Sendable>(over change: @Sendable () async throws -> Result) async throws -> Result {
        let result = try await gate.alone { [keeper] in try await keeper.replace(after: change) }
        hub.send("left", [String: String]())
        return result
    }
}

extension Seat {
    /// Holds the workspace and the task that runs it.
    private actor Keeper {
        private let workspaces: Mutex<Workspace>
        private let make: @Sendable () throws -> Workspace
        private var prepare: (@Sendable (Workspace) async -> Void)?
        private var runner: Task<Void, Never>?
        private var isEnded = false

        init(_ first: Workspace, make: @escaping @Sendable () throws -> Workspace) {
            workspaces = Mutex(first)
            self.make = make
        }

        nonisolated var current: Workspace { workspaces.withLock { $0 } }

        func prepare(_ body: @escaping @Sendable (Workspace) async -> Void) async {
            prepare = body
            await body(current)
        }

        func run() async {
            start()
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
            isEnded = true
            await rest()
        }

        private func start() {
            guard !isEnded else { return }
            let workspace = current
            runner = Task { await workspace.run() }
        }

        private func rest() async {
            runner?.cancel()
            await runner?.value
            runner = nil
        }

        /// Nothing is sent between the end of the former workspace and the beginning of the next: no edit goes under another name.
        func replace<Result: Sendable>(after change: @Sendable () async throws -> Result) async throws -> Result {
            current.stop()
            await rest()
            do {
                let result = try await change()
                try await begin()
                return result
            } catch {
                // Whoever is signed in now goes on.
                try await begin()
                throw error
            }
        }

        private func begin() async throws {
            let next = try make()
            workspaces.withLock { $0 = next }
            await prepare?(next)
            start()
        }
    }
}
