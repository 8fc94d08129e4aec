import FieldworkREST
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Addresses", .fewAtATime)
struct RequestTargetTests {
    @Test("Duplicate and trailing slashes say nothing")
    func slashes() throws {
        let target = try RequestTarget("//arcgis//rest/services/?f=json")
        #expect(target.segments == ["arcgis", "rest", "services"])
        #expect(target.query == "f=json")
    }

    @Test("Segments are decoded, a plus sign stays a plus sign")
    func decoding() throws {
        #expect(try RequestTarget("/a%20b/%C3%A9+c").segments == ["a b", "é+c"])
    }

    @Test(
        "Broken escapes, control characters and bytes that are not UTF-8 are refused",
        arguments: ["/%", "/%4", "/%zz", "/%00", "/%FF", "/a%0Ab"])
    func broken(path: String) {
        #expect(throws: ServiceError.self) { try RequestTarget(path) }
    }

    @Test(
        "No control character is in any segment of an address that is read", arguments: Array(UInt8(0)..<0x20) + [0x7F])
    func controlCharacters(byte: UInt8) {
        let digits = String(byte, radix: 16, uppercase: true)
        let escaped = "%" + (digits.count == 1 ? "0" : "") + digits
        #expect(throws: ServiceError.self) { try RequestTarget("/arcgis/rest/\(escaped)a/x") }
    }

    @Test("A path has a bounded number of segments")
    func segmentLimit() throws {
        let longest = String(repeating: "/a", count: Limits.pathSegments)
        #expect(try RequestTarget(longest).segments.count == Limits.pathSegments)
        #expect(throws: ServiceError.self) { try RequestTarget(longest + "/a") }
    }
}
