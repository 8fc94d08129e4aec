import Testing

@testable import FieldworkStore

@Suite("Fair queue")
struct FairQueueTests {
    @Test("Clients are served in turn, and the waiters of each in the order in which they came")
    func turns() {
        var queue = FairQueue<String>()
        for number in 1...3 { queue.append("a\(number)", id: number, of: "a") }
        queue.append("b1", id: 4, of: "b")
        queue.append("c1", id: 5, of: "c")
        var served: [String] = []
        while let next = queue.next() { served.append(next) }
        #expect(served == ["a1", "b1", "c1", "a2", "a3"])
        #expect(queue.isEmpty)
    }

    @Test("A client that may not be served is passed over and keeps its turn")
    func passedOver() {
        var queue = FairQueue<String>()
        queue.append("a1", id: 1, of: "a")
        queue.append("b1", id: 2, of: "b")
        #expect(queue.next { $0 != "a" } == "b1")
        #expect(!queue.hasWaiter { $0 != "a" })
        #expect(queue.next() == "a1")
    }

    @Test("A waiter that gives up is served no more")
    func givingUp() {
        var queue = FairQueue<String>()
        queue.append("a1", id: 1, of: "a")
        queue.append("a2", id: 2, of: "a")
        queue.append("b1", id: 3, of: "b")
        #expect(queue.remove(id: 1) == "a1")
        #expect(queue.remove(id: 3) == "b1")
        #expect(queue.remove(id: 3) == nil)
        #expect(queue.next() == "a2")
        #expect(queue.next() == nil)
    }
}
