import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Everything that reads what strangers send, fed with mutations of what they send. A reader may refuse an input; it must
/// not crash (which ends the tests), hang, or read back something else than what it wrote. `make fuzz` runs millions.
@Suite("Mutated inputs", .fewAtATime)
struct FuzzTests {
    enum Reader: String, CaseIterable, Sendable {
        case condition, geoServicesJSON, geoJSON, wellKnownBinary, geoPackageBinary, wellKnownText, multipart,
            protocolBuffer, form
    }

    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["FIELDWORK_FUZZ_INPUTS"].flatMap { Int($0) } ?? 4_000
    private static let seed = environment["FIELDWORK_FUZZ_SEED"].flatMap { UInt64($0) } ?? 20_240_607
    /// The reader that `make fuzz` runs in this process; nil for all.
    private static let only = environment["FIELDWORK_FUZZ_READER"]

    @Test(
        "No mutation of an input breaks a reader",
        arguments: Reader.allCases.filter { only ?? $0.rawValue == $0.rawValue })
    func mutations(of reader: Reader) throws {
        var mutator = Mutator(seed: Self.seed, corpus: reader.corpus, words: reader.words)
        var accepted = 0
        for index in 0..<Self.count {
            let input = mutator.next()
            do {
                try reader.read(input)
                accepted += 1
            } catch let error as BrokenRoundTrip {
                Issue.record("Input \(index) of \(reader): \(error.description) \(Data(input).base64EncodedString())")
                return
            } catch {
                continue
            }
        }
        // Were all refused, the mutations would test nothing but the first check of the reader.
        #expect(accepted > 0, "\(reader)")
        if Self.only != nil { print("\(reader): \(Self.count) inputs, \(accepted) of them accepted") }
    }

    @Test("The inputs that the readers start from are read", arguments: Reader.allCases)
    func corpus(of reader: Reader) throws {
        #expect(!reader.corpus.isEmpty)
        for input in reader.corpus { try reader.read(input) }
    }
}

/// A reader that reads back something else than was written.
struct BrokenRoundTrip: Error {
    var description: String
}
