import FieldworkStore
import Foundation
import Testing

@testable import FieldworkLocator

/// A making that is killed or cancelled goes on with what it had read.
@Suite("Interrupted making of locators")
struct ResumedBuildTests {
    /// No process has this number: it is more than the kernel gives.
    private static let deadProcess = 4_194_399

    private static let target = "Town.locator"

    private static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func builder(in folder: URL, fingerprint: String = "towns") throws -> LocatorBuilder {
        try LocatorBuilder(
            name: "Town", at: folder.appending(path: target), fingerprint: fingerprint, recordsPerCheckpoint: 100)
    }

    /// Gives the generated towns, a place with a number that is no number, and records that are skipped, in one order.
    private static func fill(_ builder: LocatorBuilder, upTo limit: Int = .max) throws {
        var given = 0
        func give(_ body: () throws -> Void) rethrows {
            if given < limit { try body() }
            given += 1
        }
        let all = GeneratedTown.all()
        for style in GeneratedTown.styles {
            try give {
                try builder.add(
                    PlaceRecord(
                        kind: .locality, type: "town", name: style.zone.city, zone: AddressZone(), weight: 10_000,
                        x: style.x, y: style.y, reach: 4_000))
            }
        }
        for (index, address) in all.addresses.enumerated() {
            var address = address
            if index % 3 == 0 { address.zone = AddressZone() }
            if index % 7 == 0 { address.number = "Villa \(index)" }
            if index % 11 == 0 { address.x = .nan }
            try give { try builder.add(address) }
        }
        for street in all.streets { try give { try builder.add(street) } }
    }

    /// What stands in a locator's tables, but for its time and the name of its build.
    private static func content(_ folder: URL) throws -> [String] {
        let connection = try StoreConnection(path: folder.appending(path: target).path, mode: .readOnly)
        var content = try connection.texts(
            "SELECT key || ' ' || value FROM gc_meta WHERE key NOT IN ('made', 'build') ORDER BY key")
        for query in [
            "SELECT id || full || coalesce(others, '') FROM gc_name ORDER BY id",
            "SELECT id || ' ' || neighborhood || city || subregion || region || postal || country FROM gc_zone ORDER BY id",
            "SELECT id || ' ' || hex(houses) FROM gc_house ORDER BY id",
            "SELECT id || ' ' || hex(pieces) FROM gc_street ORDER BY id",
            "SELECT id || ' ' || name || zone_id || ' ' || x || ' ' || y FROM gc_place ORDER BY id",
            "SELECT id || ' ' || name_id || ' ' || zone_id FROM gc_road ORDER BY id",
        ] { content += try connection.texts(query) }
        return content
    }

    /// Begins a making, and leaves its files as a process that was killed leaves them.
    private static func kill(in folder: URL, after records: Int) throws {
        let builder = try builder(in: folder)
        try fill(builder, upTo: records)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.contains("-work") {
            let other = name.replacingOccurrences(
                of: ".\(target)-\(getpid())-", with: ".\(target)-\(deadProcess)-")
            try FileManager.default.copyItem(
                at: folder.appending(path: name), to: folder.appending(path: "copy-" + other))
        }
        withExtendedLifetime(builder) {}
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("copy-") {
            try FileManager.default.moveItem(
                at: folder.appending(path: name), to: folder.appending(path: String(name.dropFirst(5))))
        }
    }

    @Test("The locator is the one that an uninterrupted making gives", arguments: [101, 250, 399])
    func goesOn(_ records: Int) throws {
        let (whole, broken) = (try Self.folder(), try Self.folder())
        defer { for folder in [whole, broken] { try? FileManager.default.removeItem(at: folder) } }
        let first = try Self.builder(in: whole)
        try Self.fill(first)
        try first.finish()

        try Self.kill(in: broken, after: records)
        do {
            let second = try Self.builder(in: broken)
            #expect(second.resumedCount == (records - 1) / 100 * 100)
            try Self.fill(second)
            try second.finish()
            #expect(second.skippedCount == first.skippedCount && second.addressCount == first.addressCount)
        }
        #expect(try Self.content(broken) == Self.content(whole))
        #expect(try FileManager.default.contentsOfDirectory(atPath: broken.path) == [Self.target])
    }

    @Test("One that was interrupted twice goes on twice")
    func twice() throws {
        let (whole, broken) = (try Self.folder(), try Self.folder())
        defer { for folder in [whole, broken] { try? FileManager.default.removeItem(at: folder) } }
        let first = try Self.builder(in: whole)
        try Self.fill(first)
        try first.finish()
        try Self.kill(in: broken, after: 150)
        try Self.kill(in: broken, after: 350)
        let last = try Self.builder(in: broken)
        #expect(last.resumedCount == 300)
        try Self.fill(last)
        try last.finish()
        #expect(try Self.content(broken) == Self.content(whole))
    }

    @Test("Of other sources nothing is taken over, and what was left goes away")
    func others() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.kill(in: folder, after: 250)
        let other = try Self.builder(in: folder, fingerprint: "changed")
        #expect(other.resumedCount == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).count {
                $0.contains("\(Self.deadProcess)")
            } == 0)
        try Self.fill(other)
        try other.finish()
        #expect(other.addressCount > 100)
    }

    @Test("A damaged working file is not gone on with")
    func damaged() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.kill(in: folder, after: 250)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: name)
            var bytes = try Data(contentsOf: file)
            for index in stride(from: 4_096, to: bytes.count, by: 97) { bytes[index] ^= 0x5A }
            try bytes.write(to: file)
        }
        let next = try Self.builder(in: folder)
        #expect(next.resumedCount == 0)
        try Self.fill(next)
        try next.finish()
        #expect(next.addressCount > 100)
    }

    @Test("A making that is cancelled leaves its work for the next one; one that fails leaves nothing")
    func cancelled() async throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let builder = try Self.builder(in: folder)
            try Self.fill(builder, upTo: 250)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let task = Task {
            let builder = try Self.builder(in: folder)
            try Self.fill(builder, upTo: 250)
            withExtendedLifetime(builder) { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await task.value
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.contains { $0.hasSuffix("-work") }, "\(left)")
    }
}
