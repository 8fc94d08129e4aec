import Foundation
import Testing

@testable import FieldworkOSM

/// Extracts as the test writes them, and what is wrong with others.
@Suite("OpenStreetMap files")
struct OSMFileTests {
    private static func file(_ bytes: [UInt8]) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appending(path: "osm-\(UUID().uuidString).osm.pbf")
        try Data(bytes).write(to: url)
        return url
    }

    private static func message(_ url: URL) -> String? {
        do {
            try OSMFile(url).forEachBlock(with: .nodes) { _ in }
            return nil
        } catch let error as OSMError {
            return error.message
        } catch {
            return "another error: \(error)"
        }
    }

    @Test("A file that is no extract, is empty or isn't there is refused with its name")
    func foreignFiles() throws {
        for bytes in [[], Array("<?xml version='1.0'?><osm>".utf8), [0, 0, 0, 2, 0x0A, 0xFF]] as [[UInt8]] {
            let url = try Self.file(bytes)
            defer { try? FileManager.default.removeItem(at: url) }
            let message = try #require(Self.message(url))
            #expect(message.contains(url.lastPathComponent) && message.contains("no whole OpenStreetMap extract"))
        }
        let missing = URL(filePath: "/nowhere/at-all.osm.pbf")
        #expect(Self.message(missing)?.contains("is not there") == true)
    }
}
