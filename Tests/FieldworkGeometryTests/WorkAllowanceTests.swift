import Synchronization
import Testing

@testable import FieldworkGeometry

@Suite("Work allowance")
struct WorkAllowanceTests {
    @Test(
        "A longer part of some work has a time of its own, counts its memory with it, and ends when its client leaves")
    func prolonged() throws {
        let request = WorkAllowance(time: .zero, memory: 100, client: "a")
        let part = request.prolonged(to: .seconds(3_600))
        #expect(throws: Never.self) { try part.check() }
        #expect(part.client == "a" && part.patience == .seconds(3_600))
        try part.charge(60)
        #expect(request.heldBytes == 60)
        #expect(throws: AllowanceError.memoryIsUp(100)) { try request.charge(50) }
        part.giveBack(60)
        #expect(request.heldBytes == 0)
        request.leave()
        #expect(throws: AllowanceError.unwanted) { try part.check() }
    }

    @Test("Work ends when its time is up")
    func time() {
        #expect(throws: AllowanceError.timeIsUp(.zero)) { try WorkAllowance(time: .zero).check() }
        #expect(throws: Never.self) { try WorkAllowance(time: .seconds(3_600)).check() }
        #expect(throws: Never.self) { try WorkAllowance(time: .seconds(Int64.max)).check() }
    }

    @Test("What is waited does not count")
    func waiting() async throws {
        let allowance = WorkAllowance(time: .seconds(3_600))
        let before = allowance.timeLeft
        let began = ContinuousClock.now
        try await allowance.waiting { try await Task.sleep(for: .milliseconds(200)) }
        #expect(before - allowance.timeLeft < began.duration(to: .now) - .milliseconds(100))
    }

    @Test("The time of computing passes only while the thread computes")
    func computing() throws {
        let allowance = WorkAllowance(time: .milliseconds(20), clock: .computing)
        try allowance.check()
        var steps = 0
        while (try? allowance.check()) != nil { steps += 1 }
        #expect(steps > 0)
        #expect(throws: AllowanceError.timeIsUp(.milliseconds(20))) { try allowance.check() }
    }

    @Test("Work ends when its client leaves; the edits that it asked for don't")
    func leaving() {
        let allowance = WorkAllowance(time: .seconds(3_600))
        let edits = allowance.ofEdits()
        allowance.leave()
        #expect(throws: AllowanceError.unwanted) { try allowance.check() }
        #expect(throws: Never.self) { try edits.check() }
        #expect(throws: Never.self) { try allowance.ofEdits().check() }
    }

    @Test("Memory is counted to its limit, and goes back with the allowance")
    func memory() throws {
        final class Account: MemoryAccount {
            let held: Mutex<Int> = Mutex(0)
            func take(_ bytes: Int) -> Bool {
                held.withLock { held in
                    guard held + bytes <= 150 else { return false }
                    held += bytes
                    return true
                }
            }
            func giveBack(_ bytes: Int) { held.withLock { $0 -= bytes } }
        }
        let account = Account()
        var first: WorkAllowance? = WorkAllowance(time: .seconds(60), memory: 100, account: account)
        let second = WorkAllowance(time: .seconds(60), memory: 100, account: account)
        try first?.charge(100)
        #expect(throws: AllowanceError.memoryIsUp(100)) { try first?.charge(1) }
        #expect(throws: AllowanceError.memoryIsUp(100)) { try first?.charge(.max) }
        try second.charge(50)
        #expect(throws: AllowanceError.memoryOfAllIsUp) { try second.charge(1) }
        first = nil
        #expect(account.held.withLock { $0 } == 50)
        try second.charge(50)
        second.giveBack(100)
        #expect(second.heldBytes == 0)
        #expect(second.mostHeldBytes == 100)
        #expect(account.held.withLock { $0 } == 0)
    }
}
