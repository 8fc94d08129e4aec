import FieldworkGeometry
import FieldworkOSM
import Foundation
import Testing

@testable import FieldworkLocator

/// What people, programs and files may send.
@Suite("Hostile questions and files")
struct LocatorLimitsTests {
    private static let scripts = [
        "", " ", "\u{0}\u{1}\u{7F}", "12345", "0", "-1", "999999999999999999999999", "1/2", "½", "' OR 1=1 --",
        "\"*\" NEAR(a b)",
        "улица Ленина 5", "東京都千代田区千代田1-1", "서울특별시 중구 세종대로 110", "شارع الملك فهد ١٢", "רחוב הרצל 5",
        "ถนนพระราม 4", "एमजी रोड 12", "🌲🌲🌲 12", "a&b&c&d&&", "@@@", "&", ",,,,", "e\u{301}\u{301}\u{301}\u{301}",
        "\u{202E}tS niaM",
        "SELECT * FROM gc_address", "%s%n", "12 12 12 12 12 12 12", "st st st st", "n s e w",
        String(repeating: "a", count: 400),
    ]

    @Test("Every text is answered, with something or nothing", arguments: scripts)
    func texts(_ text: String) async throws {
        let towns = try await TemporaryLocator.towns()
        // A question that does not end is ended, and fails the test.
        try await WorkAllowance.$current.withValue(WorkAllowance(time: .seconds(300))) {
            let found = try await towns.locator.candidates(for: text)
            #expect(found.count <= LocatorOptions().maximumCount)
            #expect(found.count { !(0...100).contains($0.score) } == 0)
            let suggested = try await towns.locator.suggestions(for: text)
            #expect(suggested.count <= LocatorOptions().maximumCount)
        }
    }

    /// Letters of every script of the first plane, a word of each block.
    private static let alphabets = stride(from: 0x20, to: 0xFFF0, by: 0x80).compactMap { start -> String? in
        let word = (0..<5).compactMap { Unicode.Scalar(UInt32(start + $0 * 3)) }.filter(\.properties.isAlphabetic)
        return word.isEmpty ? nil : String(String.UnicodeScalarView(word))
    }

    private static let hostile: [String] =
        scripts
        + stride(from: 0, to: alphabets.count, by: 30).map {
            alphabets[$0..<min($0 + 30, alphabets.count)].joined(separator: " ")
        } + [
            String(repeating: "x", count: 10_000), String(repeating: "é", count: 10_000),
            String((0..<0x20).compactMap { Unicode.Scalar($0).map(Character.init) }),
            String(repeating: "st ", count: 40), String(repeating: "1 ", count: 40), String(repeating: "&", count: 400),
            String(repeating: "a & b ", count: 20), String(repeating: "Saint ", count: 40),
        ]

    /// Other tests keep the machine busy, so the computing of the reader's thread counts and not the time that passes. The bound is
    /// some twenty times what the longest text takes: it is there for work that grows faster than its text.
    @Test("No text takes more than half a second of computing: each is answered, or refused with a reason")
    func computing() async throws {
        let towns = try await TemporaryLocator.towns()
        let reader = LocatorReader(path: towns.url.path, part: nil, words: SharedVocabulary())
        try #require(Self.alphabets.count > 100)
        // The first question opens the file.
        _ = try await reader.information()
        for text in Self.hostile {
            let (time, refusal) = await reader.computing(of: text)
            #expect(time <= .milliseconds(500), "\(text.prefix(40)): \(time)")
            if let refusal {
                let error = try #require(refusal as? LocatorError, "\(text.prefix(40)): \(refusal)")
                #expect(error.code == .invalidRequest && !error.message.isEmpty, "\(text.prefix(40)): \(error)")
            }
        }
        await reader.close()
    }

    @Test("Signs that follow each other name one crossing, however many there are")
    func connectors() async throws {
        let text = "a st " + String(repeating: "& and @ ", count: 40) + "b st"
        #expect(TokenizedText(text).connectors == [2])
        let towns = try await TemporaryLocator.towns()
        let many = (0..<15).map { _ in "a & b" }.joined(separator: " & ")
        _ = try await towns.locator.candidates(for: many)
    }

    @Test("One record of a batch that is too long has no answer; the others have theirs")
    func batch() async throws {
        let towns = try await TemporaryLocator.towns()
        let label = try #require(try await towns.locator.addresses(after: -1, limit: 1).first).result.label
        let long = String(repeating: "x", count: Limits.textCharacters + 1)
        let found = try await towns.locator.best(
            of: [(label, LocatorOptions()), (long, LocatorOptions()), (label, LocatorOptions())])
        #expect(found.map(\.isEmpty) == [false, true, false])
    }

    @Test("A batch that several readers share is answered in its order, as each text alone")
    func sharedBatch() async throws {
        let towns = try await TemporaryLocator.towns()
        let locator = try await Locator.open(towns.url, readers: 3)
        let labels = try await locator.addresses(after: -1, limit: 310).map(\.result.label)
        for count in [0, 1, 50, 51, 149, 151, 310] {
            let asked = labels.prefix(count)
            let found = try await locator.best(of: asked.map { ($0, LocatorOptions()) })
            #expect(found.map { $0.first?.label } == Array(asked), "\(count)")
        }
        await locator.close()
    }

    @Test("A country that has no code here is not taken for another one")
    func countries() async throws {
        let towns = try await TemporaryLocator.towns()
        let label = try #require(try await towns.locator.addresses(after: -1, limit: 1).first).result.label
        var options = LocatorOptions()
        options.country = "Nowhereland"
        // Every address of the towns says its country.
        #expect(try await towns.locator.candidates(for: label, options).isEmpty)
        options.country = "US"
        #expect(try await towns.locator.candidates(for: label, options).first?.label == label)
        #expect(CountryNames.code(of: "Nowhereland").isEmpty && CountryNames.code(of: "Elsewhere").isEmpty)
    }

    @Test("A text of 400 characters is searched for; one of 401, or of 10,000, is refused with the limit")
    func length() async throws {
        let towns = try await TemporaryLocator.towns()
        _ = try await towns.locator.candidates(for: String(repeating: "x", count: Limits.textCharacters))
        for count in [Limits.textCharacters + 1, 10_000] {
            await #expect(throws: LocatorError.self) {
                _ = try await towns.locator.candidates(for: String(repeating: "x", count: count))
            }
        }
        let words = { (count: Int) in (0..<count).map { _ in "ab" }.joined(separator: " ") }
        _ = try await towns.locator.candidates(for: words(Limits.tokensPerText))
        await #expect(throws: LocatorError.self) {
            _ = try await towns.locator.suggestions(for: words(Limits.tokensPerText + 1))
        }
    }

    @Test("A file that is no locator is refused, and so is an extract that is cut off")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a.locator")
        try Data("no database at all, but long enough to look like one".utf8).write(to: file)
        await #expect(throws: (any Error).self) { _ = try await Locator.open(file) }
        await #expect(throws: LocatorError.self) {
            _ = try await Locator.open(folder.appending(path: "absent.locator"))
        }
        for bytes in [[UInt8](), [0, 0, 0, 5, 1, 2, 3], [0xFF, 0xFF, 0xFF, 0xFF], Array(repeating: 7, count: 5_000)] {
            let extract = folder.appending(path: "x.osm.pbf")
            try Data(bytes).write(to: extract)
            let builder = try LocatorBuilder(name: "X", at: folder.appending(path: "x.locator"))
            #expect(throws: OSMError.self) { try OSMImport.read(extract, into: builder) }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "x.locator").path))
    }

    @Test("What is given up leaves no file behind")
    func givenUp() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let builder = try LocatorBuilder(name: "X", at: folder.appending(path: "x.locator"))
            try builder.add(AddressRecord(number: "1", street: "Elm St", zone: AddressZone(), x: 1, y: 2))
            try builder.add(AddressRecord(number: "1", street: "Elm St", zone: AddressZone(), x: .nan, y: 2))
            #expect(builder.skippedCount == 1)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}

extension LocatorReader {
    /// How long this reader's thread computes for the candidates and the suggestions of a text, and why it refused it.
    fileprivate func computing(of text: String) -> (time: Duration, refusal: (any Error)?) {
        // It ends what would not end by itself.
        let allowance = WorkAllowance(time: .seconds(60), clock: .computing)
        var refusal: (any Error)?
        do {
            _ = try candidates(for: text, LocatorOptions(), allowance: allowance)
            _ = try suggestions(for: text, LocatorOptions(), allowance: allowance)
        } catch {
            refusal = error
        }
        return (allowance.time - allowance.timeLeft, refusal)
    }
}
