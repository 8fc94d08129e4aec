import Foundation

/// What was asked of a server, what it acknowledged, and what it may therefore have. It notices an edit that was lost,
/// done twice or changed.
struct EditLedger {
    enum Request: Sendable, Hashable {
        case add([String])
        case update(String, counter: Int)
        case delete(String)
        /// An add under a global id that is there: the server has to refuse it, and to change nothing.
        case addAgain(String)

        var ids: [String] {
            switch self {
            case .add(let ids): ids
            case .update(let id, _), .delete(let id), .addAgain(let id): [id]
            }
        }
    }

    /// What came back for a request that was answered.
    enum Answer: Sendable, Hashable {
        case done
        /// Nothing was changed; the codes of the items.
        case refused([Int])
    }

    /// What a feature may be now.
    enum State: Hashable {
        case absent
        case present(Int)
    }

    /// The value of an add that must never be taken.
    static let forbiddenCounter = -1
    private static let existsAlready = 1_016
    private static let isNotThere = 1_018
    private static let rolledBack = 1_003

    /// More than one state where an answer was lost: the edit may have been committed or not.
    private var features: [String: Set<State>] = [:]
    /// Features that no request is on its way for. One at a time, so that the order of a feature's edits is known.
    private var free: [String] = []
    /// Requests whose answer was lost. They are sent again, with the same global ids.
    private var unanswered: [Request] = []
    /// Requests that were told to come again, for nothing was done.
    private var postponed: [Request] = []
    private var counter = 0
    /// Answers that no server that keeps its word gives.
    private(set) var faults: [String] = []
    private(set) var acknowledged = 0
    private(set) var refused = 0
    private(set) var lost = 0
    private(set) var sentAgain = 0
    private(set) var timesBusy = 0
    /// Lost answers of which the second sending showed that the edit had been committed.
    private(set) var receipts = 0
    private var again: Set<Request> = []

    // MARK: Asking

    var hasUnanswered: Bool { !unanswered.isEmpty || !postponed.isEmpty }

    mutating func next<Generator: RandomNumberGenerator>(using generator: inout Generator) -> Request {
        if let request = unanswered.popLast() {
            sentAgain += 1
            again.insert(request)
            return request
        }
        if let request = postponed.popLast() { return request }
        let choice = Int.random(in: 0..<20, using: &generator)
        if choice < 9 || free.isEmpty {
            return .add(
                (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                    "{\(UUID().uuidString)}"
                })
        }
        let id = free.remove(at: Int.random(in: 0..<free.count, using: &generator))
        if choice < 10 { return .addAgain(id) }
        if choice < 18 {
            counter += 1
            return .update(id, counter: counter)
        }
        return .delete(id)
    }

    // MARK: Recording

    mutating func record(_ request: Request, _ answer: Answer) {
        let wasSentAgain = again.remove(request) != nil
        switch answer {
        case .done:
            if case .addAgain(let id) = request { faults.append("a second add of \(id) was accepted") }
            acknowledged += 1
            settle(request)
        case .refused(let codes):
            let codes = Set(codes).subtracting([Self.rolledBack])
            switch request {
            case .addAgain where codes == [Self.existsAlready]:
                refused += 1
                free += request.ids
            // The first sending was committed after all: this refusal is the receipt for it.
            case .add where wasSentAgain && codes == [Self.existsAlready],
                .delete where wasSentAgain && codes == [Self.isNotThere]:
                receipts += 1
                settle(request)
            default:
                faults.append("\(request) was refused with \(codes.sorted())")
                // What it would have done is not expected: the features stay what they were.
                free += request.ids.filter { features[$0] != nil }
            }
        }
    }

    /// No answer: the edit may have been committed or not.
    mutating func lose(_ request: Request) {
        lost += 1
        again.remove(request)
        for id in request.ids {
            if let state = Self.outcome(of: request) { features[id, default: [.absent]].insert(state) }
        }
        unanswered.append(request)
    }

    /// The server says that nothing was done. Who sends it again must find that it is true; whether an earlier sending without
    /// an answer was done is as unknown as it was.
    mutating func postpone(_ request: Request) {
        timesBusy += 1
        if again.remove(request) == nil {
            postponed.append(request)
        } else {
            sentAgain -= 1
            unanswered.append(request)
        }
    }

    /// The edit was done.
    private mutating func settle(_ request: Request) {
        for id in request.ids {
            if let state = Self.outcome(of: request) { features[id] = [state] }
            if features[id] != [.absent] { free.append(id) }
        }
    }

    private static func outcome(of request: Request) -> State? {
        switch request {
        case .add: .present(0)
        case .update(_, let counter): .present(counter)
        case .delete: .absent
        case .addAgain: nil
        }
    }

    // MARK: Comparing

    /// What is wrong with what a server has: the values of the features under each global id.
    func problems(in found: [String: [Int]]) -> [String] {
        var problems = faults
        for (id, counters) in found {
            guard let states = features[id] else {
                problems.append("\(id) was never added")
                continue
            }
            if counters.count > 1 { problems.append("\(id) is there \(counters.count) times") }
            for counter in counters where !states.contains(.present(counter)) {
                problems.append("\(id) has the value \(counter), and may be \(states)")
            }
        }
        for (id, states) in features where found[id] == nil && !states.contains(.absent) {
            problems.append("\(id) was acknowledged, and is gone")
        }
        return problems
    }

    /// What is there after a restart stays: of the states that were possible one is left.
    mutating func narrow(to found: [String: [Int]]) {
        for id in features.keys {
            features[id] = found[id].map { Set($0.map(State.present)) } ?? [.absent]
        }
    }
}
