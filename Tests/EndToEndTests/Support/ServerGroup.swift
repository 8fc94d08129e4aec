import Foundation

/// Servers of one database, as they stand behind one address.
actor ServerGroup {
    private let database: String
    private var processes: [FieldworkProcess] = []

    init(of count: Int, on database: String) async throws {
        self.database = database
        for _ in 0..<count { processes.append(try await Self.start(on: database)) }
    }

    /// Jobs are taken over soon: a test waits for it.
    private static func start(on database: String) async throws -> FieldworkProcess {
        let process = try FieldworkProcess.start(["serve", "--store", database, "--port", "0", "--job-lease", "1"])
        _ = try await process.readyLine()
        return process
    }

    /// The services of any of them, also of one that is being killed.
    var any: String { processes.randomElement()?.services ?? "" }

    /// Kills one and starts another in its place.
    func killOne() async throws {
        guard let index = processes.indices.randomElement() else { return }
        await processes[index].kill()
        processes[index] = try await Self.start(on: database)
    }

    func end() async {
        for process in processes { _ = await process.interrupt() }
    }
}
