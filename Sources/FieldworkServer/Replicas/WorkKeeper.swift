import Foundation

/// Where jobs and what was made for clients are kept: a folder beside the files of a store, or its database, where every
/// process finds them.
protocol WorkKeeper: Sendable {
    // MARK: Jobs

    /// How often to say that the jobs of this process go on, and to look for those of others; nil where there are no others.
    var watchInterval: Duration? { get }
    /// Whether a job that trouble with the store has interrupted is done again, by whoever comes to it.
    var repeatsInterrupted: Bool { get }

    /// Keeps a job that this process begins.
    /// - Returns: false when it is known already.
    func submit(_ job: ServiceJob) async throws -> Bool
    /// What is known of a job; its parameters may be left out.
    func job(_ id: UUID) async throws -> ServiceJob?
    /// The parameters that a job was submitted with: they may be large, and are read when it begins.
    func parameters(of id: UUID) async throws -> [(name: String, value: String)]
    /// Writes down what became of a job.
    /// - Returns: false when another process has taken it over: nothing is written then.
    func change(_ job: ServiceJob) async throws -> Bool
    /// Jobs that were left unfinished, for this process to do, the oldest first.
    /// - Parameter limit: how many it wants.
    func claim(_ limit: Int) async throws -> [LeftJob]
    /// Says that jobs go on.
    func renew(_ ids: [UUID]) async throws
    /// Takes back that jobs were begun which trouble with the store broke off: they are not to blame for it.
    func uncount(_ ids: [UUID]) async throws
    /// Leaves what this process has not finished to the others.
    func release() async throws

    // MARK: Results

    /// Makes a result: `body` writes it, and it is there when this returns.
    func makeResult<Outcome: Sendable>(
        _ id: UUID, _ body: (_ write: @escaping @Sendable ([UInt8]) throws -> Void) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome)
    /// Makes a document that all who ask for the same share: its name is that of its id. One that another process has made meanwhile stays
    /// in its place.
    func makeShared(
        _ id: UUID, _ body: (_ write: @escaping @Sendable ([UInt8]) throws -> Void) async throws -> Void
    ) async throws
    /// Makes a file of a kind: `body` makes it under a name that nobody knows, and it is there when this returns.
    func makeFile<Outcome: Sendable>(
        _ id: UUID, _ kind: ResultKind, _ body: (_ file: URL) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome)
    /// The file of a result; nil when there is none (any more).
    func kept(_ name: String) async throws -> KeptResult?

    // MARK: Prepared files

    /// Makes the file of a prepared replica, which stays until it is released. Its name is that of its id.
    func makePrepared<Outcome: Sendable>(
        _ id: UUID, _ kind: ResultKind, _ body: (_ file: URL) async throws -> Outcome
    ) async throws -> (name: String, outcome: Outcome)
    /// The ids of all prepared files.
    func prepared() async throws -> [UUID]
    /// Leaves a prepared file to age like any result: who is downloading it may come to the end.
    func releasePrepared(_ id: UUID) async throws

    /// Removes what is too old; what is being worked on stays.
    func sweep() async throws
}

/// What a result is, by the ending of its name.
enum ResultKind: String, CaseIterable {
    case document = "json"
    case geoPackage = "gpkg"
    case vectorTiles = "vtpk"
    case tiles = "tpkx"

    /// The media type.
    var contentType: String {
        switch self {
        case .document: Answer.jsonType
        // OGC 12-128, annex on media types.
        case .geoPackage: "application/geopackage+sqlite3"
        case .vectorTiles, .tiles: "application/zip"
        }
    }

    /// What a result is that has a name; nil for a name that no result has: an id of ours and nothing else, so that no name leads
    /// out of the folder.
    init?(ofName name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, UUID(uuidString: String(parts[0])) != nil, let kind = Self(rawValue: String(parts[1]))
        else { return nil }
        self = kind
    }

    func name(_ id: UUID) -> String { "\(id.uuidString.lowercased()).\(rawValue)" }
}

/// A job that somebody has begun and not finished.
struct LeftJob: Sendable {
    var job: ServiceJob
    /// How often it was begun, this time included; 1 where that is not counted.
    var attempts = 1
}
