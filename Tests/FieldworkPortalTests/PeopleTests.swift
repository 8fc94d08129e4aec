import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkPortal

@Suite("People and passwords", .fewAtATime)
struct PeopleTests {
    @Test("A person signs in with the password, whatever the case of the name", arguments: TemporaryPortal.kinds)
    func signIn(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { portal in
            #expect(try await !portal.portal.hasPeople())
            try await portal.add("Ana", .administrator)
            #expect(try await portal.portal.hasPeople())
            let person = try await portal.portal.signIn(
                "aNA", password: TemporaryPortal.password, from: "192.0.2.7")
            #expect(person.name == "Ana", "names are shown as they were registered")
            #expect(try await portal.portal.person(named: "ANA")?.lastSignIn == portal.portal.now)
            await #expect(throws: PortalError.self) { try await portal.add("ana", .viewer) }
        }
    }

    @Test("An unknown name, a wrong password and a disabled account give the same error")
    func sameError() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .administrator)
            try await portal.add("ben", .viewer)
            try await portal.portal.setDisabled(true, "ben", by: TemporaryPortal.author)
            var errors: Set<PortalError> = []
            for (name, password) in [
                ("nobody", TemporaryPortal.password), ("ana", "wrong horse"), ("ben", TemporaryPortal.password),
                ("ana", String(repeating: "x", count: 5_000)), ("' OR 1=1 --", "x"), ("", ""),
            ] {
                do {
                    _ = try await portal.portal.signIn(name, password: password, from: "192.0.2.7")
                    Issue.record("\(name) signed in")
                } catch let error as PortalError {
                    errors.insert(error)
                }
            }
            #expect(errors.count == 1 && errors.first?.kind == .wrongPassword)
        }
    }

    @Test("A name and a password have lengths and characters on both sides of which they are refused")
    func limits() async throws {
        try await TemporaryPortal.with { portal in
            let longest = String(repeating: "n", count: Limits.nameLength)
            try await portal.add(longest, .viewer)
            for name in ["", longest + "n", "a b", "a/b", "ä", "a\u{0}", "..", "a<b"] {
                await #expect(throws: PortalError.self, "\(name)") { try await portal.add(name, .viewer) }
            }
            func set(_ password: String) async throws {
                try await portal.portal.setPassword(password, of: longest, by: TemporaryPortal.author)
            }
            let shortest = String(repeating: "p", count: Limits.passwordLength)
            try await set(shortest)
            try await set(String(repeating: "p", count: Limits.passwordBytes))
            for password in [
                String(shortest.dropLast()), String(repeating: "p", count: Limits.passwordBytes + 1), longest,
            ] {
                await #expect(throws: PortalError.self) { try await set(password) }
            }
        }
    }

    @Test("A password is kept as scrypt's result, and hashed anew at the sign-in when the cost has changed")
    func upgrade() async throws {
        try await TemporaryPortal.with(cost: 3) { portal in
            try await portal.add("ana", .administrator)
            let dearer = try await Portal(
                try RecordDatabase(file: Portal.file(in: portal.folder)), passwordCost: 5)
            func kept() async throws -> String? {
                try await dearer.records.read { try $0.row("SELECT password FROM {people}")?.text(0) }
            }
            #expect(try await kept()?.hasPrefix("scrypt$3$8$1$") == true)
            _ = try await dearer.signIn("ana", password: TemporaryPortal.password, from: "")
            #expect(try await kept()?.hasPrefix("scrypt$5$8$1$") == true)
            _ = try await dearer.signIn("ana", password: TemporaryPortal.password, from: "")
            await dearer.close()
        }
    }

    @Test("scrypt gives the keys of its standard's test vectors")
    func vector() throws {
        // RFC 7914 has one with this block size and one lane.
        let hash = try PasswordHash(of: "pleaseletmein", cost: 14, salt: Data("SodiumChloride".utf8))
        let expected: [UInt8] = [
            0x70, 0x23, 0xbd, 0xcb, 0x3a, 0xfd, 0x73, 0x48, 0x46, 0x1c, 0x06, 0xcd, 0x81, 0xfd, 0x38, 0xeb,
            0xfd, 0xa8, 0xfb, 0xba, 0x90, 0x4f, 0x8e, 0x3e, 0xa9, 0xb5, 0x43, 0xf6, 0x54, 0x5d, 0xa1, 0xf2,
        ]
        #expect(Array(hash.key) == expected)
        #expect(PasswordHash(text: hash.text) == hash)
        for broken in ["", "scrypt$99$8$1$AA==$AA==", "md5$1", "scrypt$14$8$1$?$AA=="] {
            #expect(PasswordHash(text: broken) == nil)
        }
    }

    @Test("Nothing in the file of the portal opens anything")
    func stolenFile() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .administrator)
            let token = try await portal.portal.issueToken(to: "ana").token
            let made = try await portal.portal.addApp(
                title: "App", redirects: ["https://app.example/back"], owner: "ana", for: .everybody,
                by: TemporaryPortal.author)
            let code = try await portal.portal.issueCode(
                to: "ana", client: made.app.client, redirect: "https://app.example/back", challenge: nil)
            let state = try await portal.portal.keepState("{}")
            let invitation = try await portal.portal.invite("ana", by: TemporaryPortal.author).token
            await portal.portal.close()
            await portal.other.close()
            for file in try FileManager.default.contentsOfDirectory(at: portal.folder, includingPropertiesForKeys: nil)
            {
                let bytes = try Data(contentsOf: file)
                for secret in [TemporaryPortal.password, token, made.secret, code, state, invitation] {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)")
                }
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(file.lastPathComponent)")
            }
        }
    }

    @Test("The last administrator stays one", arguments: TemporaryPortal.kinds)
    func lastAdministrator(_ kind: TemporaryPortal.Kind) async throws {
        try await TemporaryPortal.with(kind) { portal in
            let author = TemporaryPortal.author
            try await portal.add("ana", .administrator)
            for attempt in 0..<3 {
                await #expect(throws: PortalError.self) {
                    switch attempt {
                    case 0: try await portal.portal.setDisabled(true, "ana", by: author)
                    case 1: try await portal.portal.setRole(.viewer, of: "ana", by: author)
                    default: try await portal.portal.removePerson("ana", leavingTo: nil, by: author)
                    }
                }
            }
            try await portal.add("ben", .administrator)
            try await portal.portal.removePerson("ana", leavingTo: "ben", by: author)
            #expect(try await portal.portal.people().people.map(\.name) == ["ben"])
        }
    }

    @Test("A person who owns something is removed only when another gets it")
    func heirs() async throws {
        try await TemporaryPortal.with { portal in
            let author = TemporaryPortal.author
            try await portal.add("ana", .administrator)
            let ben = try await portal.add("ben", .publisher)
            let item = try await portal.addItem("Trees", owner: ben)
            await #expect(throws: PortalError.self) {
                try await portal.portal.removePerson("ben", leavingTo: nil, by: author)
            }
            try await portal.portal.removePerson("ben", leavingTo: "ana", by: author)
            #expect(try await portal.portal.item(named: item.id).owner == "ana")
        }
    }

    @Test("The audit log has each sign-in and each change of rights, with who and from where")
    func audit() async throws {
        try await TemporaryPortal.with { portal in
            try await portal.add("ana", .administrator)
            _ = try? await portal.portal.signIn("ana", password: "wrong horse", from: "192.0.2.7")
            _ = try await portal.portal.signIn("ana", password: TemporaryPortal.password, from: "192.0.2.8")
            let entries = try await portal.portal.audit()
            #expect(entries.map(\.action) == ["signIn", "signIn.failed", "user.add"])
            #expect(entries.map(\.address) == ["192.0.2.8", "192.0.2.7", "192.0.2.1"])
            #expect(try await portal.portal.audit(before: entries[1].id).map(\.action) == ["user.add"])
        }
    }
}
