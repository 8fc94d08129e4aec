import FieldworkStore
import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("Tokens", .fewAtATime)
struct TokenTests {
    private static let invalid = PortalError(.invalidToken, "Invalid token.")

    @Test("A token stands for its person until it expires", arguments: TemporaryPortal.kinds)
    func life(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { portal in
            try await portal.add("Ana", .editor)
            let token = try await portal.portal.issueToken(to: "ana", seconds: 600)
            #expect(token.expires == portal.portal.now + 600_000)
            let principal = try await portal.portal.principal(token: token.token)
            #expect(principal.name == "Ana" && principal.has(.edit) && !principal.has(.createItem))
            #expect(try await portal.other.principal(token: token.token) == principal)
            for wrong in ["", "x", token.token + "x", Secret.hash(token.token)] {
                await #expect(throws: Self.invalid) { try await portal.portal.principal(token: wrong) }
            }
            await #expect(throws: Self.invalid) {
                try await portal.portal.principal(token: token.token, kind: .session)
            }
            portal.pass(seconds: 599.9)
            _ = try await portal.portal.principal(token: token.token)
            portal.pass(seconds: 0.2)
            await #expect(throws: Self.invalid) { try await portal.portal.principal(token: token.token) }
        }
    }

    @Test("No token lives longer than the longest")
    func longest() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .viewer)
            let token = try await portal.portal.issueToken(to: "ana", seconds: .max)
            #expect(token.expires == portal.portal.now + Limits.longestTokenSeconds * 1_000)
        }
    }

    @Test(
        "What is taken away holds at once here, and within a moment in other processes",
        arguments: TemporaryPortal.kinds)
    func revoked(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { portal in
            let author = TemporaryPortal.author
            try await portal.add("ana", .administrator)
            try await portal.add("ben", .editor)
            func token() async throws -> String {
                let token = try await portal.portal.issueToken(to: "ben").token
                #expect(try await portal.other.principal(token: token).has(.edit))
                #expect(try await portal.portal.principal(token: token).has(.edit))
                return token
            }
            func expectEnded(_ token: String) async throws {
                await #expect(throws: Self.invalid) { try await portal.portal.principal(token: token) }
                try await Task.sleep(for: .milliseconds(Limits.rightsMilliseconds + 50))
                await #expect(throws: Self.invalid) { try await portal.other.principal(token: token) }
            }
            let first = try await token()
            try await portal.portal.revoke(first, by: author)
            try await expectEnded(first)
            let second = try await token()
            try await portal.portal.setPassword("another horse", of: "ben", by: author)
            try await expectEnded(second)
            let third = try await token()
            try await portal.portal.setRole(.viewer, of: "ben", by: author)
            #expect(try await !portal.portal.principal(token: third).has(.edit))
            try await Task.sleep(for: .milliseconds(Limits.rightsMilliseconds + 50))
            #expect(try await !portal.other.principal(token: third).has(.edit))
            try await portal.portal.setDisabled(true, "ben", by: author)
            try await expectEnded(third)
            // Nor does a job go on that the person has begun, or a token that is made in the same moment.
            #expect(try await portal.portal.principal(named: "ben") == nil)
            let late = try await portal.portal.issueToken(to: "ben").token
            await #expect(throws: Self.invalid) { try await portal.portal.principal(token: late) }
        }
    }

    @Test("A token that is bound to pages of a site or to an address opens nothing elsewhere")
    func binding() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .viewer)
            let site = try await portal.portal.issueToken(
                to: "ana", binding: TokenBinding(referer: "https://maps.example")
            ).token
            _ = try await portal.portal.principal(token: site, referer: "https://maps.example")
            for referer in ["https://maps.example.evil", "http://maps.example", nil] {
                await #expect(throws: Self.invalid) { try await portal.portal.principal(token: site, referer: referer) }
            }
            let place = try await portal.portal.issueToken(to: "ana", binding: TokenBinding(address: "192.0.2.1")).token
            _ = try await portal.portal.principal(token: place, address: "192.0.2.1")
            await #expect(throws: Self.invalid) {
                try await portal.portal.principal(token: place, address: "192.0.2.2")
            }
        }
    }

    @Test("A person has so many live tokens at a time; a further one ends the oldest")
    func tokensPerPerson() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .viewer)
            let first = try await portal.portal.issueToken(to: "ana").token
            portal.pass(seconds: 1)
            let moment = portal.portal.now
            try await portal.portal.records.write { records in
                for _ in 1..<Limits.tokensPerPerson {
                    _ = try Portal.issue(
                        to: "ana", kind: .access, client: "", family: nil, seconds: 60, moment, records)
                }
            }
            _ = try await portal.portal.principal(token: first)
            _ = try await portal.portal.issueToken(to: "ana")
            portal.portal.memory.forget()
            await #expect(throws: Self.invalid) { try await portal.portal.principal(token: first) }
        }
    }
}
