import FieldworkStore
import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("Guessing", .fewAtATime)
struct GuessingTests {
    private static func guess(_ portal: TemporaryPortal, _ name: String, from address: String) async -> PortalError
        .Kind?
    {
        do {
            _ = try await portal.portal.signIn(name, password: "wrong horse", from: address)
            return nil
        } catch let error as PortalError {
            return error.kind
        } catch {
            Issue.record(error)
            return nil
        }
    }

    @Test("After some failures an account waits, twice as long after each, and then the right password opens it")
    func account() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .administrator)
            for number in 0..<Limits.failuresPerAccount {
                #expect(await Self.guess(portal, "ana", from: "192.0.2.\(number)") == .wrongPassword)
            }
            await #expect(
                throws: PortalError(.locked(seconds: 1), "Too many sign-ins have failed. Try again in 1 second.")
            ) {
                try await portal.portal.signIn("ana", password: TemporaryPortal.password, from: "192.0.2.99")
            }
            portal.pass(seconds: 1.1)
            #expect(await Self.guess(portal, "ana", from: "192.0.2.99") == .wrongPassword)
            #expect(await Self.guess(portal, "ana", from: "192.0.2.99") == .locked(seconds: 2))
            portal.pass(seconds: 2.1)
            _ = try await portal.portal.signIn("ana", password: TemporaryPortal.password, from: "192.0.2.99")
            #expect(await Self.guess(portal, "ana", from: "192.0.2.99") == .wrongPassword, "the count begins anew")
        }
    }

    @Test("The right password opens nothing when enough guesses have failed while it was checked")
    func manyAtOnce() async throws {
        // A hash that takes long enough for the failures to come while it is computed.
        try await TemporaryPortal.with(cost: 17) { portal in
            try await portal.add("ana", .editor)
            let right = Task {
                try await portal.portal.signIn("ana", password: TemporaryPortal.password, from: "192.0.2.2")
            }
            try await Task.sleep(for: .milliseconds(20))
            let moment = portal.portal.now
            for _ in 0..<Limits.failuresPerAccount {
                try await portal.other.records.write { records in
                    try SignInGuard.fail(
                        [(SignInGuard.account("ana"), Limits.failuresPerAccount)], now: moment, records)
                }
            }
            await #expect(throws: PortalError.self) { try await right.value }
        }
    }

    @Test("A name that is not there waits as one that is")
    func unknownName() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .administrator)
            for _ in 0..<Limits.failuresPerAccount {
                #expect(await Self.guess(portal, "zoe", from: "192.0.2.1") == .wrongPassword)
            }
            #expect(await Self.guess(portal, "zoe", from: "192.0.2.1") == .locked(seconds: 1))
        }
    }

    @Test("An address that guesses at many names waits, and others do not")
    func address() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .administrator)
            for number in 0..<Limits.failuresPerAddress {
                #expect(await Self.guess(portal, "name\(number)", from: "192.0.2.1") == .wrongPassword)
            }
            #expect(await Self.guess(portal, "ana", from: "192.0.2.1") == .locked(seconds: 1))
            _ = try await portal.portal.signIn("ana", password: TemporaryPortal.password, from: "192.0.2.2")
        }
    }

    @Test("The wait grows to its limit and not beyond")
    func growth() {
        let waits = (0..<40).map { SignInGuard.wait(after: $0, allowed: 5) }
        #expect(Array(waits.prefix(9)) == [0, 0, 0, 0, 0, 1, 2, 4, 8])
        #expect(waits.last == Limits.lockSeconds && waits == waits.sorted())
    }

    @Test("An operator lets a person try again at once")
    func unlock() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .administrator)
            for _ in 0..<Limits.failuresPerAccount { _ = await Self.guess(portal, "ana", from: "192.0.2.1") }
            try await portal.portal.unlock("ana", by: .commandLine)
            _ = try await portal.portal.signIn("ana", password: TemporaryPortal.password, from: "192.0.2.1")
        }
    }
}
