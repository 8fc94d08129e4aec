import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport

@testable import Fieldwork

/// One story, told by its seed: crews edit, synchronise, lose requests and answers, and die, and so does the server. One
/// thing happens after the other; what lies between the sending and the arrival of a request happens there.
actor Simulation {
    struct Device {
        let number: Int
        let plan: DevicePlan
        var process: SimulatedProcess
        /// nil before the area has been taken offline.
        var geodatabase: Geodatabase?
        var isBusy = false
        var pending = SavedEdits.Pending()
        /// What an edit was about in whose midst the process died: all of it happened, or nothing.
        var doubt: [SavedEdits.Fact] = []
        var generation: Int64 = 0
        /// Whether the service has struck the replica off.
        var isRetired = false

        var name: String { "crew\(number)" }
        var fileURL: URL { process.folder.appending(path: "area.gpkg") }
    }

    let seed: UInt64
    let sabotage: Sabotage?
    let plan: SimulationPlan
    let folder: URL
    /// Where the service is kept; nil: in files.
    let database: String?
    let clock = SimulatedClock()
    let ids: SeededIDs
    var generator: SeededGenerator
    var server: SimulatedServer
    var devices: [Device] = []
    var walkers: [Walker] = []
    var saved = SavedEdits()
    /// Requests that arrive when nobody waits for their answer any more.
    var late: [SimulatedServer.Order] = []
    /// The newest generation that the service has told anybody.
    var toldGeneration: Int64 = 0
    /// The server's folder before its last answer, when the sabotage wants it.
    var earlier: URL?
    /// The backups of the service, with what had been promised when they were made.
    var backups: [(file: URL, saved: SavedEdits)] = []
    /// What was put back so far.
    var restorations: [Restoration] = []
    /// How deep within waiting requests the present events are.
    var depth = 0
    /// From here on nothing goes wrong any more.
    var isQuiet = false
    var counter = 0
    /// The writes of the service's processes that have ended.
    var formerWrites = 0
    private(set) var story: [String] = []
    private(set) var problems: [Problem] = []

    static let address = SimulatedServer.root

    private init(
        seed: UInt64, sabotage: Sabotage?, plan: SimulationPlan, generator: SeededGenerator, folder: URL,
        database: String?, server: SimulatedServer, ids: SeededIDs
    ) {
        (self.seed, self.sabotage, self.plan, self.generator) = (seed, sabotage, plan, generator)
        (self.folder, self.database, self.server, self.ids) = (folder, database, server, ids)
    }

    // MARK: A whole story

    struct Outcome: Sendable {
        var seed: UInt64
        var problems: [Problem]
        var story: [String]
        /// How much has happened, to tell stories from empty pages.
        var savedValues: Int
        /// Writes of the service's processes to the disk. A crash is placed by counting writes, so that one seed must give one count.
        var serverWrites: Int

        /// What a person needs to see it again.
        var report: String {
            """
            Seed \(seed): \(problems.prefix(8).map(\.description).joined(separator: "; "))
            Replay: FIELDWORK_SIMULATION_SEED=\(seed) swift test --filter SimulationTests.convergence
            \(story.suffix(60).joined(separator: "\n"))
            """
        }
    }

    /// - Parameter database: an empty database for the service.
    static func tell(seed: UInt64, sabotage: Sabotage? = nil, database: String? = nil) async throws -> Outcome {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let base =
            FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        let folder = base.appending(
            path: "fieldwork-simulation-\(seed)-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        var generator = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
        var plan = SimulationPlan(using: &generator)
        // Who is connected has nothing to give again, and a database has its own backups.
        plan.hasBackups = seed % 4 == 0 && plan.walkerCount == 0 && database == nil && sabotage?.losesCommits != true
        let ids = SeededIDs(seed: generator.next())
        let place = folder.appending(path: "server.1", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let clock = SimulatedClock()
        let server = try await SimulatedServer(
            SimulatedProcess(folder: place), database: database, now: { clock.now }, ids: ids)
        let simulation = Simulation(
            seed: seed, sabotage: sabotage, plan: plan, generator: generator, folder: folder,
            database: database, server: server, ids: ids)
        return try await simulation.tell()
    }

    private func tell() async throws -> Outcome {
        try await begin()
        for _ in 0..<plan.steps {
            clock.advance(by: TimeInterval(Int.random(in: 1...7_200, using: &generator)))
            await happen()
            // One violation is enough; what follows from it only hides it.
            if !problems.isEmpty { break }
        }
        if problems.isEmpty { await comeToRest() }
        if problems.isEmpty { try await checkAll() }
        for device in devices { await shut(device) }
        for walker in walkers { CrashingDisk.forget(walker.process.watch) }
        walkers = []
        await server.end()
        CrashingDisk.forget(server.process.watch)
        return Outcome(
            seed: seed, problems: problems, story: story, savedValues: saved.promised.count,
            serverWrites: formerWrites + server.process.watch.writes)
    }

    private func begin() async throws {
        note("plan \(plan)")
        try await server.store.createService(
            OrchardService.definition(rule: plan.rule, isComposite: plan.isComposite, isTracked: plan.isTracked))
        for _ in 0..<6 { await editOnService(.addTree) }
        for number in 0..<plan.deviceCount {
            let place = folder.appending(path: "crew\(number).1", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            devices.append(
                Device(
                    number: number, plan: DevicePlan(using: &generator), process: SimulatedProcess(folder: place)))
        }
        try beginWalkers()
    }

    // MARK: Telling

    func note(_ line: @autoclosure () -> String) {
        story.append(String(repeating: "  ", count: depth) + line())
    }

    /// Something that must never be.
    func complain(_ invariant: Invariant, _ text: String) {
        let problem = Problem(invariant: invariant, text: text)
        note("!! \(problem)")
        problems.append(problem)
    }

    // MARK: Chance

    func chance(_ perMille: Int) -> Bool { !isQuiet && Int.random(in: 0..<1_000, using: &generator) < perMille }

    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &generator) }

    /// A text that nobody writes twice.
    func freshValue(_ author: String) -> String {
        counter += 1
        return "\(author)-\(counter)"
    }

    /// A place that nothing is put twice: the second coordinate counts.
    func freshPlace(from: Double, to: Double) -> Point {
        counter += 1
        return Point(
            x: Double(number(Int(from) + 1...Int(to) - 1)), y: Double(counter) / 8, spatialReference: .webMercator)
    }
}
