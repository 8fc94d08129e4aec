import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// The table of `Documentation/conflicts.md`, cell by cell: a tree for each cell, and clients that each do what the cell
/// says to it.
@Suite("The conflict matrix", .fewAtATime, .everyStore)
struct ConflictMatrixTests {
    /// What a client does to a feature.
    enum Action: String, CaseIterable, Sendable {
        case nothing, changesSpecies, changesNote, moves, deletes

        func apply(to tree: FieldClient.Tree?, by name: String, x: Double) -> FieldClient.Tree? {
            guard var tree else { return nil }
            switch self {
            case .nothing: break
            case .changesSpecies: tree.species = name
            case .changesNote: tree.note = name
            case .moves: tree.x = x
            case .deletes: return nil
            }
            return tree
        }

        var isUpdate: Bool { self != .nothing && self != .deletes }
    }

    struct Crew: Sendable {
        var name: String
        var place: Double
    }

    private static let base = FieldClient.Tree(species: "oak", note: nil, x: 1)
    private static let crews = [
        Crew(name: "ada", place: 10), Crew(name: "grace", place: 20), Crew(name: "mary", place: 30),
    ]

    private let folder: TemporaryFolder
    private let store: any ReplicaStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.replicaStore(in: folder)
    }

    /// All sequences of actions of so many clients.
    private static func cells(_ clients: Int) -> [[Action]] {
        (0..<clients).reduce([[]]) { cells, _ in cells.flatMap { cell in Action.allCases.map { cell + [$0] } } }
    }

    /// Puts a tree for each cell into the service, has each client do its part, and synchronises one after the other.
    private func play(_ cells: [[Action]], rule: ConflictRule) async throws -> (trees: [UUID], clients: [FieldClient]) {
        let trees = cells.map { _ in UUID() }
        _ = try await store.apply(
            Samples.batch(adds: trees.map { Samples.tree("oak", x: 1, globalID: $0) }, usesGlobalIDs: true),
            to: Samples.name)
        var clients: [FieldClient] = []
        for index in cells[0].indices { clients.append(try await store.client(Self.crews[index].name)) }
        for (cell, tree) in zip(cells, trees) {
            for (index, action) in cell.enumerated() {
                let crew = Self.crews[index]
                clients[index].trees[tree] = action.apply(
                    to: clients[index].trees[tree], by: crew.name, x: crew.place)
            }
        }
        for index in clients.indices {
            let result = try await store.synchronize(&clients[index], rule: rule)
            #expect(!result.hasErrors)
        }
        for index in clients.indices { try await store.synchronize(&clients[index], rule: rule) }
        return (trees, clients)
    }

    private func conflicts() async throws -> [UUID: [MergeConflict]] {
        let all = try await store.conflicts(in: Set(MergeConflict.State.allCases), of: Samples.name, limit: 10_000)
        return Dictionary(grouping: all, by: \.globalID)
    }

    // MARK: Two clients

    /// What the documentation says of a cell: the feature that stands, and the kind of the conflict.
    static func stated(
        _ first: Action, _ second: Action, _ rule: ConflictRule
    ) -> (tree: FieldClient.Tree?, kind: MergeConflict.Kind?) {
        let (ada, grace) = (crews[0], crews[1])
        let afterFirst = first.apply(to: base, by: ada.name, x: ada.place)
        let lastWins = rule == .lastInWins
        switch (first, second) {
        case (.deletes, .deletes): return (nil, nil)
        case (.deletes, let other) where other.isUpdate:
            return (lastWins ? second.apply(to: base, by: grace.name, x: grace.place) : nil, .updateOfDeleted)
        case (let other, .deletes) where other.isUpdate: return (lastWins ? nil : afterFirst, .deleteOfUpdated)
        case (let one, let other) where one == other && one.isUpdate:
            return (lastWins ? second.apply(to: base, by: grace.name, x: grace.place) : afterFirst, .fields)
        default: return (second.apply(to: afterFirst, by: grace.name, x: grace.place), nil)
        }
    }

    @Test("Each cell of two clients has its stated result, and all end equal", arguments: ConflictRule.allCases)
    func pairs(rule: ConflictRule) async throws {
        let cells = Self.cells(2)
        let (trees, clients) = try await play(cells, rule: rule)
        let served = try await store.currentTrees()
        let conflicts = try await conflicts()
        for (cell, tree) in zip(cells, trees) {
            let stated = Self.stated(cell[0], cell[1], rule)
            #expect(served[tree] == stated.tree, "\(cell) \(rule)")
            #expect(conflicts[tree]?.map(\.kind) ?? [] == [stated.kind].compactMap(\.self), "\(cell) \(rule)")
            let isOpen = conflicts[tree]?.contains { $0.state == .open } ?? false
            #expect(isOpen == (stated.kind != nil && rule == .holdForReview), "\(cell) \(rule)")
        }
        for client in clients { #expect(client.trees == served) }
    }

    @Test("Who lost in a cell comes back with one action, and everybody gets it", arguments: ConflictRule.allCases)
    func losers(rule: ConflictRule) async throws {
        let cells = Self.cells(2)
        let played = try await play(cells, rule: rule)
        let trees = played.trees
        var clients = played.clients
        for conflict in try await conflicts().values.flatMap(\.self) {
            let result = try await store.restoreConflict(
                conflict.id, of: Samples.name, editor: "judge", moment: Samples.moment)
            #expect(result.isSuccess)
        }
        for index in clients.indices { try await store.synchronize(&clients[index], rule: rule) }
        let served = try await store.currentTrees()
        for (cell, tree) in zip(cells, trees) where Self.stated(cell[0], cell[1], rule).kind != nil {
            let (loser, crew) = rule == .lastInWins ? (cell[0], Self.crews[0]) : (cell[1], Self.crews[1])
            let now = served[tree]
            let wanted = loser.apply(to: now ?? Self.base, by: crew.name, x: crew.place)
            // What the loser had said holds now, beside whatever else was said.
            #expect(now == wanted, "\(cell) \(rule)")
        }
        for client in clients { #expect(client.trees == served) }
        #expect(trees.count == cells.count)
    }

    // MARK: Three clients

    @Test(
        "Whatever three clients do to a feature, they end equal and every value is found",
        arguments: ConflictRule.allCases)
    func triples(rule: ConflictRule) async throws {
        let cells = Self.cells(3)
        let (trees, clients) = try await play(cells, rule: rule)
        let served = try await store.currentTrees()
        for client in clients { #expect(client.trees == served) }
        let conflicts = try await conflicts()
        for (cell, tree) in zip(cells, trees) {
            for (action, crew) in zip(cell, Self.crews) where action != .nothing {
                let kept = conflicts[tree] ?? []
                let isHeld = Self.holds(action, crew, served[tree])
                let isKept = kept.contains { Self.holds(action, crew, $0.lost) }
                #expect(isHeld || isKept, "\(cell) \(rule): what \(crew.name) did is nowhere")
            }
        }
    }

    private static func holds(_ action: Action, _ crew: Crew, _ tree: FieldClient.Tree?) -> Bool {
        switch action {
        case .nothing: true
        case .changesSpecies: tree?.species == crew.name
        case .changesNote: tree?.note == crew.name
        case .moves: tree?.x == crew.place
        case .deletes: tree == nil
        }
    }

    private static func holds(_ action: Action, _ crew: Crew, _ side: MergeConflict.Side) -> Bool {
        switch action {
        case .nothing: true
        case .changesSpecies: side.attributes?["species"] == .text(crew.name)
        case .changesNote: side.attributes?[FieldClient.noteField] == .text(crew.name)
        case .moves: (side.geometry?.geometry as? Point)?.x == crew.place
        case .deletes: side.attributes == nil
        }
    }

    // MARK: Adds

    @Test("Features that two clients add are two; one that comes twice is one", arguments: ConflictRule.allCases)
    func adds(rule: ConflictRule) async throws {
        var (ada, grace) = (try await store.client("ada"), try await store.client("grace"))
        let (mine, yours) = (UUID(), UUID())
        ada.trees[mine] = FieldClient.Tree(species: "elm", note: nil, x: 5)
        grace.trees[yours] = FieldClient.Tree(species: "elm", note: nil, x: 5)
        let first = ada.upload(rule: rule)
        for _ in 0..<2 { _ = try await store.apply(first, to: Samples.name) }
        // The same again without an id, as a client of the plain protocol would.
        var plain = first
        plain.id = nil
        _ = try await store.apply(plain, to: Samples.name)
        try await store.synchronize(&grace, rule: rule)
        try await store.synchronize(&ada, rule: rule)
        #expect(Set(try await store.currentTrees().keys) == [mine, yours])
        #expect(ada.trees == grace.trees)
        #expect(try await conflicts().isEmpty)
    }
}
