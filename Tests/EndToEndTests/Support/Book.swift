import Foundation

/// The ledger that all clients of the test write in.
actor Book {
    private(set) var ledger = EditLedger()
    private var generator = SystemRandomNumberGenerator()

    func next() -> EditLedger.Request { ledger.next(using: &generator) }
    func unanswered() -> EditLedger.Request? { ledger.hasUnanswered ? next() : nil }
    func record(_ request: EditLedger.Request, _ answer: EditLedger.Answer) { ledger.record(request, answer) }
    func postpone(_ request: EditLedger.Request) { ledger.postpone(request) }
    func lose(_ request: EditLedger.Request) { ledger.lose(request) }

    /// Gives what is wrong, and goes on from what is there.
    func close(with found: [String: [Int]]) -> [String] {
        defer { ledger.narrow(to: found) }
        return ledger.problems(in: found)
    }
}

extension EditLedger.Request {
    var form: [(String, String)] {
        func feature(_ id: String, _ counter: Int) -> String {
            #"{"attributes":{"GlobalID":"\#(id)","name":"tree","counter":\#(counter)},"geometry":{"x":2,"y":3}}"#
        }
        switch self {
        case .add(let ids): return [("adds", "[\(ids.map { feature($0, 0) }.joined(separator: ","))]")]
        case .addAgain(let id): return [("adds", "[\(feature(id, EditLedger.forbiddenCounter))]")]
        case .update(let id, let counter):
            return [("updates", #"[{"attributes":{"GlobalID":"\#(id)","counter":\#(counter)}}]"#)]
        case .delete(let id): return [("deletes", #"["\#(id)"]"#)]
        }
    }
}

extension EditLedger.Answer {
    /// The answer of `applyEdits`. An error of the whole request is a refusal too.
    init(_ json: [String: Any]) {
        if let error = json["error"] as? [String: Any] {
            self = .refused([error["code"] as? Int ?? 0])
            return
        }
        let items = ["addResults", "updateResults", "deleteResults"].flatMap { json[$0] as? [[String: Any]] ?? [] }
        let failed = items.filter { $0["success"] as? Bool != true }
        if !items.isEmpty, failed.isEmpty {
            self = .done
        } else {
            self = .refused(failed.map { ($0["error"] as? [String: Any])?["code"] as? Int ?? 0 })
        }
    }
}
