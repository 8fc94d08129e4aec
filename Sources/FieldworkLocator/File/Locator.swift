import FieldworkGeometry
import FieldworkStore
package import Foundation
import Synchronization

/// A locator file, opened for questions. Several are answered at a time, each on a connection of its own.
package final class Locator: Sendable {
    package let url: URL
    package let name: String
    package let information: LocatorInformation
    private let readers: [LocatorReader]
    private let next = Atomic(0)

    private init(url: URL, readers: [LocatorReader], information: LocatorInformation) {
        self.url = url
        self.readers = readers
        self.information = information
        name = information.name
    }

    /// - Parameters:
    ///   - part: the bytes of the file that are the locator; nil for all of them.
    ///   - readers: how many questions are answered at a time.
    package static func open(_ url: URL, part: Range<Int>? = nil, readers count: Int? = nil) async throws -> Locator {
        let words = SharedVocabulary()
        let readers = (0..<max(1, count ?? Limits.readers)).map { _ in
            LocatorReader(path: url.path, part: part, words: words)
        }
        return Locator(url: url, readers: readers, information: try await readers[0].information())
    }

    private var reader: LocatorReader {
        readers[Int(UInt(bitPattern: next.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(readers.count))]
    }

    /// What a text names, the best first.
    package func candidates(for text: String, _ options: LocatorOptions = LocatorOptions()) async throws
        -> [LocatorResult]
    {
        try await reader.candidates(for: text, options, allowance: WorkAllowance.current)
    }

    /// Texts of a batch for which another reader is worth its while.
    private static let leastPart = 50

    /// The best answer to each of many texts, in their order. Readers answer parts of them at the same time.
    package func best(of questions: [(text: String, options: LocatorOptions)]) async throws -> [[LocatorResult]] {
        let allowance = WorkAllowance.current
        let size = max(Self.leastPart, (questions.count + readers.count - 1) / readers.count)
        guard questions.count > size else { return try await reader.best(of: questions, allowance: allowance) }
        return try await withThrowingTaskGroup(of: (part: Int, results: [[LocatorResult]]).self) { group in
            for (part, start) in stride(from: 0, to: questions.count, by: size).enumerated() {
                let some = Array(questions[start..<min(start + size, questions.count)])
                let reader = readers[part]
                group.addTask { (part, try await reader.best(of: some, allowance: allowance)) }
            }
            var parts = Array(repeating: [[LocatorResult]](), count: readers.count)
            for try await one in group { parts[one.part] = one.results }
            return parts.flatMap { $0 }
        }
    }

    /// What a text that is being typed may become.
    package func suggestions(for text: String, _ options: LocatorOptions = LocatorOptions()) async throws
        -> [LocatorSuggestion]
    {
        try await reader.suggestions(for: text, options, allowance: WorkAllowance.current)
    }

    /// The address of a place in degrees of WGS 84; none when nothing is near enough.
    package func addresses(atX x: Double, y: Double, _ options: ReverseOptions = ReverseOptions()) async throws
        -> [LocatorResult]
    {
        try await reader.addresses(atX: x, y: y, options, allowance: WorkAllowance.current)
    }

    /// Addresses of the locator, for a test of itself.
    package func addresses(after id: Int64, limit: Int) async throws -> [StoredAddress] {
        try await reader.addresses(after: id, limit: limit)
    }

    /// What the locator of a file was made of, for making it again: files of older versions, which are no longer opened, say it as well.
    /// - Returns: the words of who made it, and whether this program reads the file.
    package static func origin(of url: URL) throws -> (origin: String, isCurrent: Bool) {
        guard let known = try LocatorData.origin(ofFileAt: url.path) else {
            throw LocatorError(.notALocator, "\(url.path) is no locator. fieldwork locator make makes one.")
        }
        return known
    }

    package func close() async { for reader in readers { await reader.close() } }
}

/// What a locator says of itself.
package struct LocatorInformation: Sendable, Hashable {
    package var name: String
    package var addressCount: Int
    package var countries: [String]
    /// xMin, yMin, xMax, yMax in degrees.
    package var extent: [Double]
    package var made: String
    /// What it was made of, in the words of who made it; empty where that isn't known.
    package var origin: String
}

/// An address as the locator keeps it.
package struct StoredAddress: Sendable, Hashable {
    package var id: Int64
    package var result: LocatorResult
}

/// One connection to a locator, which answers one question at a time, on a thread of its own.
actor LocatorReader {
    private nonisolated let executor = QueueExecutor(label: "fieldwork.locator")
    private let path: String
    private let part: Range<Int>?
    private let words: SharedVocabulary
    private var opened: LocatorData?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, part: Range<Int>?, words: SharedVocabulary) {
        self.path = path
        self.part = part
        self.words = words
    }

    private func data() throws -> LocatorData {
        if let opened { return opened }
        let data = try LocatorData(path: path, part: part, words: words)
        opened = data
        return data
    }

    private func run<Result>(_ allowance: WorkAllowance?, _ body: (LocatorData) throws -> Result) throws -> Result {
        let data = try data()
        return try data.connection.watch.runAllowed(allowance) { try body(data) }
    }

    func close() { opened = nil }

    func information() throws -> LocatorInformation {
        let data = try data()
        let meta = { try LocatorData.meta($0, data.connection) }
        return LocatorInformation(
            name: data.name, addressCount: Int(try meta("addresses")) ?? 0,
            countries: try meta("countries").split(separator: ",").map(String.init),
            extent: try meta("extent").split(separator: ",").compactMap { Double($0) }, made: try meta("made"),
            origin: try meta("origin"))
    }

    func candidates(for text: String, _ options: LocatorOptions, allowance: WorkAllowance?) throws -> [LocatorResult] {
        try run(allowance) { try Self.routed(Self.candidates($0, text, options), $0, options.findsRoutePlaces) }
    }

    func best(
        of questions: [(text: String, options: LocatorOptions)], allowance: WorkAllowance?
    ) throws -> [[LocatorResult]] {
        try run(allowance) { data in
            try questions.map { question in
                try data.connection.watch.check()
                do {
                    let found = try Self.candidates(data, question.text, question.options)
                    return try Self.routed(found, data, question.options.findsRoutePlaces)
                } catch let error as LocatorError where error.code == .invalidRequest {
                    // One bad record has no answer; the others have theirs.
                    return []
                }
            }
        }
    }

    private static func candidates(
        _ data: LocatorData, _ text: String, _ options: LocatorOptions
    ) throws -> [LocatorResult] {
        let parts = try SearchText(text)
        if let known = try MagicSearch(data: data, options: options).result(for: parts) { return [known] }
        if let place = CoordinateText.read(text) {
            var result = LocatorResult(kind: .coordinates, zone: AddressZone(), x: place.x, y: place.y)
            result.placeName = place.label
            return RankedResults.chosen([result], options)
        }
        if !parts.connectors.isEmpty {
            let crossings = RankedResults.chosen(
                try CrossingSearch(data: data, text: parts, options: options).results(), options)
            if let best = crossings.first, best.score >= 60 { return crossings }
        }
        var results = try ForwardSearch(data, parts, options).results()
        if results.allSatisfy({ $0.score < 85 }), let (other, errors) = try parts.withKnownWords(data) {
            results += try ForwardSearch(data, other, options).results().map { result in
                var result = result
                result.score = max(0, result.score - 12 * Double(errors))
                return result
            }
        }
        return RankedResults.chosen(results, options)
    }

    /// Finds for each house where it is reached from, where that is wanted.
    private static func routed(
        _ results: [LocatorResult], _ data: LocatorData, _ isWanted: Bool
    ) throws -> [LocatorResult] {
        isWanted ? try results.map { try RoutePlace(data: data).found(for: $0) } : results
    }

    func suggestions(for text: String, _ options: LocatorOptions, allowance: WorkAllowance?) throws
        -> [LocatorSuggestion]
    {
        try run(allowance) { data in
            let parts = try SearchText(text)
            if let place = CoordinateText.read(text) { return [LocatorSuggestion(text: place.label, magicKey: "")] }
            guard !parts.tokens.isEmpty else { return [] }
            return try SuggestionSearch(data: data, text: parts, options: options).suggestions()
        }
    }

    func addresses(
        atX x: Double, y: Double, _ options: ReverseOptions, allowance: WorkAllowance?
    ) throws -> [LocatorResult] {
        guard abs(x) <= 180, abs(y) <= 90 else { return [] }
        return try run(allowance) {
            try Self.routed(ReverseSearch($0, x: x, y: y, options).results(), $0, options.findsRoutePlaces)
        }
    }

    func addresses(after id: Int64, limit: Int) throws -> [StoredAddress] {
        let data = try data()
        var found: [StoredAddress] = []
        let statement = try data.connection.cached("SELECT id, houses FROM gc_house WHERE id >= ? ORDER BY id")
        defer { statement.finish() }
        try statement.bind(HouseBlock.row(ofHouse: id), at: 1)
        while found.count < limit, try statement.step() {
            for house in HouseBlock.houses(statement.blob(1), row: statement.integer(0))
            where house.id > id && found.count < limit {
                found.append(StoredAddress(id: house.id, result: try LocatorResult.of(house, data)))
            }
        }
        return found
    }
}
