import Testing

/// The crash test is worth as much as its ledger: it has to notice what it is there to notice.
@Suite("Ledger of edits")
struct EditLedgerTests {
    private static func ledger(after requests: [(EditLedger.Request, EditLedger.Answer)]) -> EditLedger {
        var ledger = EditLedger()
        for (request, answer) in requests { ledger.record(request, answer) }
        return ledger
    }

    private static let added = ledger(after: [(.add(["a", "b"]), .done), (.update("b", counter: 7), .done)])

    @Test("What was acknowledged and is there is no problem")
    func sound() {
        #expect(Self.added.problems(in: ["a": [0], "b": [7]]).isEmpty)
        #expect(Self.added.acknowledged == 2)
    }

    @Test(
        "A lost, a doubled, a changed and an invented feature are noticed, each",
        arguments: [
            (["b": [7]], "gone"), (["a": [0, 0], "b": [7]], "2 times"), (["a": [0], "b": [0]], "has the value 0"),
            (["a": [0], "b": [7], "c": [0]], "never added"), ([:], "gone"),
        ] as [([String: [Int]], String)])
    func faults(_ found: [String: [Int]], _ words: String) {
        let problems = Self.added.problems(in: found)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test("A feature that was deleted and is there is noticed")
    func undeleted() {
        let ledger = Self.ledger(after: [(.add(["a"]), .done), (.delete("a"), .done)])
        #expect(ledger.problems(in: [:]).isEmpty)
        #expect(!ledger.problems(in: ["a": [0]]).isEmpty)
    }

    @Test("An edit whose answer was lost may have been done or not, but nothing else")
    func lostAnswers() {
        var ledger = Self.added
        ledger.lose(.update("a", counter: 9))
        ledger.lose(.delete("b"))
        ledger.lose(.add(["c"]))
        for a in [0, 9] {
            for b in [[7], nil] {
                for c in [[0], nil] {
                    var found = ["a": [a]]
                    found["b"] = b
                    found["c"] = c
                    #expect(ledger.problems(in: found).isEmpty, "\(found)")
                }
            }
        }
        #expect(!ledger.problems(in: ["a": [8], "b": [7]]).isEmpty)
        #expect(!ledger.problems(in: ["b": [7]]).isEmpty, "an update deletes nothing")
    }

    @Test("What was found after a restart has to stay")
    func narrowing() {
        var ledger = Self.added
        ledger.lose(.update("a", counter: 9))
        ledger.narrow(to: ["a": [9], "b": [7]])
        #expect(ledger.problems(in: ["a": [9], "b": [7]]).isEmpty)
        #expect(!ledger.problems(in: ["a": [0], "b": [7]]).isEmpty)
    }

    @Test("A lost request is sent again; a refusal that shows that it was done is its receipt")
    func sendingAgain() {
        var generator = SystemRandomNumberGenerator()
        var ledger = EditLedger()
        for request in [EditLedger.Request.add(["a"]), .delete("b")] {
            ledger.lose(request)
            #expect(ledger.next(using: &generator) == request)
            if case .delete = request {
                ledger.record(request, .refused([1_018]))
            } else {
                ledger.record(request, .refused([1_016, 1_003]))
            }
        }
        #expect(ledger.receipts == 2)
        #expect(ledger.sentAgain == 2)
        #expect(ledger.problems(in: ["a": [0]]).isEmpty)
        #expect(!ledger.problems(in: [:]).isEmpty, "the receipt counts as an acknowledgement")
    }

    @Test("Who is told that nothing was done sends it again, and notices when it was")
    func postponed() {
        var generator = SystemRandomNumberGenerator()
        var ledger = EditLedger()
        ledger.postpone(.add(["a"]))
        #expect(ledger.hasUnanswered && ledger.next(using: &generator) == .add(["a"]))
        #expect(!ledger.problems(in: ["a": [0]]).isEmpty, "nothing was done, it was said")
        var lied = ledger
        lied.record(.add(["a"]), .refused([1_016]))
        #expect(!lied.faults.isEmpty)
        ledger.record(.add(["a"]), .done)
        #expect(ledger.problems(in: ["a": [0]]).isEmpty && ledger.sentAgain == 0)

        // What was in doubt before stays so.
        ledger.lose(.add(["b"]))
        #expect(ledger.next(using: &generator) == .add(["b"]))
        ledger.postpone(.add(["b"]))
        #expect(ledger.next(using: &generator) == .add(["b"]))
        ledger.record(.add(["b"]), .refused([1_016]))
        #expect(ledger.faults.isEmpty && ledger.receipts == 1 && ledger.sentAgain == ledger.lost)
    }

    @Test("A refusal is not a lost answer: nothing was changed, and one that has no reason is a fault")
    func refusals() {
        var ledger = Self.added
        ledger.record(.addAgain("a"), .refused([1_016]))
        #expect(ledger.refused == 1)
        #expect(ledger.problems(in: ["a": [0], "b": [7]]).isEmpty)
        #expect(!ledger.problems(in: ["a": [EditLedger.forbiddenCounter], "b": [7]]).isEmpty)

        var accepting = ledger
        accepting.record(.addAgain("a"), .done)
        #expect(!accepting.problems(in: ["a": [0], "b": [7]]).isEmpty)
        // The first sending of an add, an update and a delete of a feature that is there.
        for request in [EditLedger.Request.add(["c"]), .update("a", counter: 9), .delete("b")] {
            var refusing = ledger
            refusing.record(request, .refused([1_016]))
            #expect(!refusing.problems(in: ["a": [0], "b": [7]]).isEmpty, "\(request)")
        }
    }
}
