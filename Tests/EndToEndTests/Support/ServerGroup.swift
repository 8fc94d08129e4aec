import Foundation

/// Servers of one database, as they stand behind one address.
actor ServerGroup {
    private let arguments: [String]
    private var processes: [FieldworkProcess] = []

    /// - Parameters:
    ///   - standby: answers queries.
    ///   - lease: after so many seconds jobs are taken over. A test waits for it; but a job that is taken over five times is
    ///     given up, also while the database is away.
    init(of count: Int, on database: String, standby: String? = nil, lease: Int = 1) async throws {
        arguments =
            ["serve", "--store", database, "--port", "0", "--job-lease", String(lease)]
            + (standby.map { ["--read-store", $0] } ?? [])
        for _ in 0..<count { processes.append(try await start()) }
    }

    private func start() async throws -> FieldworkProcess {
        let process = try FieldworkProcess.start(arguments)
        _ = try await process.readyLine()
        return process
    }

    /// The services of any of them, also of one that is being killed.
    var any: String { processes.randomElement()?.services ?? "" }

    /// Kills one and starts another in its place.
    func killOne() async throws {
        guard let index = processes.indices.randomElement() else { return }
        await processes[index].kill()
        processes[index] = try await start()
    }

    func end() async {
        for process in processes { _ = await process.interrupt() }
    }
}
