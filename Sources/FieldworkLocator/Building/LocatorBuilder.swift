import FieldworkStore
package import Foundation

/// Makes a locator: takes addresses, streets and places one by one, in any order, into a working file beside the target, and
/// writes the locator from it at the end. The locator is there whole or not at all; what is given up leaves nothing. What a process
/// that was killed, or a task that was cancelled, had taken of sources with a fingerprint is not taken again by the next one.
///
/// Memory grows with the names of streets, not with the addresses. It is used by one thread.
package final class LocatorBuilder {
    /// How far the work is, in rows of the present step.
    package struct Progress: Sendable, Hashable {
        package var step: String
        package var count: Int
    }

    package let name: String
    let target: URL
    private let workFile: URL
    private let finishedFile: URL
    let connection: StoreConnection
    let report: (Progress) -> Void
    var names = NameRegister()
    var zones = ZoneRegister()
    var roads = RoadRegister()
    var filler = ZoneFiller()
    var extent = PlaceExtent()
    package private(set) var addressCount = 0
    package private(set) var streetCount = 0
    package private(set) var placeCount = 0
    /// Records whose coordinates are no degrees, or that have no name.
    package private(set) var skippedCount = 0
    /// What the locator was made of, for making it again; it says so of itself.
    package var origin = ""
    /// Tells the sources from others, and from what they were before; empty where an interrupted making can't be gone on with.
    private let fingerprint: String
    private let recordsPerCheckpoint: Int
    /// Records that were given, and how many of them an interrupted making had taken already.
    private var givenCount = 0
    package private(set) var resumedCount = 0
    private var checkpointCount = 0

    /// - Parameters:
    ///   - name: what the locator calls itself in its answers.
    ///   - target: the file that is made; one that is there is replaced.
    ///   - fingerprint: of sources that give the same records in the same order each time; empty for others.
    package init(
        name: String, at target: URL, fingerprint: String = "",
        recordsPerCheckpoint: Int = Limits.recordsPerCheckpoint, report: @escaping (Progress) -> Void = { _ in }
    ) throws {
        self.name = name
        self.fingerprint = fingerprint.isEmpty ? "" : "\(LocatorSchema.version) \(name) \(fingerprint)"
        self.recordsPerCheckpoint = max(1, recordsPerCheckpoint)
        self.target = target
        self.report = report
        let folder = target.deletingLastPathComponent()
        let stem = WorkFiles.stem(of: target)
        workFile = folder.appending(path: stem + "-work", directoryHint: .notDirectory)
        finishedFile = folder.appending(path: stem + "-new", directoryHint: .notDirectory)
        let goesOn =
            !self.fingerprint.isEmpty
            && WorkFiles.takeOver(of: target, fingerprint: self.fingerprint, as: workFile)
        WorkFiles.removeAbandoned(of: target)
        connection = try StoreConnection(path: workFile.path, mode: goesOn ? .readWrite : .create)
        do {
            if self.fingerprint.isEmpty {
                // The file lives as long as this object: a crash leaves one that nobody opens.
                try connection.execute("PRAGMA journal_mode = OFF")
                try connection.execute("PRAGMA synchronous = OFF")
            } else {
                try connection.execute("PRAGMA journal_mode = DELETE")
                try connection.execute("PRAGMA synchronous = FULL")
            }
            try connection.execute("PRAGMA temp_store = FILE")
            if goesOn { try restore() } else { try create() }
            try connection.begin()
        } catch {
            try? FileManager.default.removeItem(at: workFile)
            throw error
        }
    }

    deinit {
        // Whoever interrupts a long making finds it where it was.
        let stays = checkpointCount > 0 && Task.isCancelled
        if !stays {
            try? FileManager.default.removeItem(at: workFile)
            try? FileManager.default.removeItem(atPath: workFile.path + "-journal")
        }
        try? FileManager.default.removeItem(at: finishedFile)
    }

    // MARK: Going on

    private func create() throws {
        try LocatorSchema.createCore(on: connection)
        for table in LocatorSchema.tables + LocatorSchema.stages + BuildCheckpoint.tables {
            try connection.execute(table)
        }
    }

    private func restore() throws {
        let checkpoint = BuildCheckpoint(connection)
        let state = try checkpoint.state()
        func number(_ key: String) -> Int { state[key].flatMap { Int($0) } ?? 0 }
        names = try checkpoint.names()
        zones = try checkpoint.zones()
        filler = try checkpoint.filler(zones)
        (addressCount, streetCount, placeCount) = (number("addresses"), number("streets"), number("places"))
        (skippedCount, resumedCount) = (number("skipped"), number("given"))
        checkpointCount = 1
        let box = (state["extent"] ?? "").split(separator: " ").compactMap { Double($0) }
        if box.count == 4 { extent = PlaceExtent(xMin: box[0], yMin: box[1], xMax: box[2], yMax: box[3]) }
    }

    /// Whether a record is to be taken: one that an interrupted making had taken is passed over.
    private func takesNext() throws -> Bool {
        if givenCount > resumedCount, givenCount % recordsPerCheckpoint == 0, !fingerprint.isEmpty {
            try keepCheckpoint()
        }
        givenCount += 1
        guard givenCount <= resumedCount else { return true }
        try step("passing over what was read before", givenCount)
        return false
    }

    private func keepCheckpoint() throws {
        let box = [extent.xMin, extent.yMin, extent.xMax, extent.yMax].map { "\($0)" }.joined(separator: " ")
        let state = [
            "fingerprint": fingerprint, "given": "\(givenCount)", "addresses": "\(addressCount)",
            "streets": "\(streetCount)", "places": "\(placeCount)", "skipped": "\(skippedCount)",
            "extent": extent.isEmpty ? "" : box,
        ]
        try BuildCheckpoint(connection).write(state, names: names, zones: zones)
        try connection.commit()
        try connection.begin()
        checkpointCount += 1
    }

    private func learn(_ zone: AddressZone, _ x: Double, _ y: Double) throws {
        filler.learn(zone, x: x, y: y)
        guard !fingerprint.isEmpty, !zone.city.isEmpty else { return }
        try BuildCheckpoint(connection).note(zones.id(of: zone), city: nil, x: x, y: y, reach: nil)
    }

    private func learn(town: AddressZone, of zone: AddressZone, _ x: Double, _ y: Double, reach: Double) throws {
        filler.learn(town: town, x: x, y: y, reach: reach)
        guard !fingerprint.isEmpty else { return }
        try BuildCheckpoint(connection).note(zones.id(of: zone), city: town.city, x: x, y: y, reach: reach)
    }

    // MARK: Taking records

    /// Takes an address. A number that does not begin with a digit makes the address a place with a name.
    package func add(_ address: AddressRecord) throws {
        guard try takesNext() else { return }
        try step("addresses", addressCount)
        let street = address.street.trimmed
        guard Self.isPlace(address.x, address.y), !street.isEmpty else { return skip() }
        for text in HouseNumber.list(address.number) {
            guard let number = HouseNumber(text) else {
                try stage(
                    PlaceRecord(
                        kind: .pointOfInterest, type: "address", name: "\(text), \(street)", zone: address.zone,
                        x: address.x, y: address.y))
                continue
            }
            let unit = [number.unit.isEmpty ? "" : Self.unitText(text), address.unit.trimmed].filter { !$0.isEmpty }
            try stage(
                House(
                    number: Int64(number.value), suffix: number.suffix.isEmpty ? nil : number.suffix.uppercased(),
                    unit: unit.isEmpty ? nil : unit.joined(separator: " "), street: street, zone: address.zone,
                    x: address.x, y: address.y))
        }
        try learn(address.zone, address.x, address.y)
    }

    /// A house as a locator keeps it.
    struct House {
        var number: Int64
        var suffix: String?
        var unit: String?
        var street: String
        var otherNames: [String] = []
        var zone: AddressZone
        var x: Double
        var y: Double
    }

    /// Takes a house of another locator, whose number was taken apart before.
    func add(_ house: House) throws {
        try step("addresses", addressCount)
        try stage(house)
        filler.learn(house.zone, x: house.x, y: house.y)
    }

    private func stage(_ house: House) throws {
        let name = names.id(of: house.street, key: TokenizedText.key(house.street), others: house.otherNames)
        let zone = zones.id(of: house.zone)
        try connection.run("INSERT INTO stage_address VALUES (?, ?, ?, ?, ?, ?, ?)") {
            try $0.bind(house.number, at: 1)
            try $0.bind(house.suffix, at: 2)
            try $0.bind(house.unit, at: 3)
            try $0.bind(Int64(name), at: 4)
            try $0.bind(Int64(zone), at: 5)
            try $0.bind(house.x, at: 6)
            try $0.bind(house.y, at: 7)
        }
        addressCount += 1
        extent.take(house.x, house.y)
    }

    /// Takes a piece of a street.
    package func add(_ street: StreetRecord) throws {
        guard try takesNext() else { return }
        try step("streets", streetCount)
        let name = street.name.trimmed
        let isWhole = stride(from: 0, to: street.line.count - 1, by: 2).allSatisfy {
            Self.isPlace(street.line[$0], street.line[$0 + 1])
        }
        guard !name.isEmpty, street.line.count >= 4, isWhole else { return skip() }
        let id = names.id(of: name, key: TokenizedText.key(name), others: street.otherNames)
        let zone = zones.id(of: street.zone)
        let geometry = GeometryBytes.line(street.line)
        try connection.run("INSERT INTO stage_street VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)") { statement in
            try statement.bind(Int64(id), at: 1)
            try statement.bind(Int64(zone), at: 2)
            try Self.bind(street.left, to: statement, at: 3)
            try Self.bind(street.right, to: statement, at: 6)
            try geometry.withUnsafeBytes { try statement.bind(blob: $0, at: 9) }
        }
        streetCount += 1
        extent.take(street.line[0], street.line[1])
        extent.take(street.line[street.line.count - 2], street.line[street.line.count - 1])
    }

    /// Takes a place.
    package func add(_ place: PlaceRecord) throws {
        guard try takesNext() else { return }
        try stage(place)
    }

    private func stage(_ place: PlaceRecord) throws {
        try step("places", placeCount)
        let name = place.name.trimmed
        guard Self.isPlace(place.x, place.y), !name.isEmpty else { return skip() }
        let zone = zones.id(of: place.zone)
        let area = place.rings.isEmpty ? nil : PackedPath.bytes(of: place.rings)
        let others = Array(Set(place.otherNames.map(\.trimmed)).subtracting([name, ""])).sorted()
        try connection.run(
            """
            INSERT INTO stage_place (kind, type, name, others, zone, weight, reach, x, y, area)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { statement in
            try statement.bind(place.kind.rawValue, at: 1)
            try statement.bind(place.type, at: 2)
            try statement.bind(name, at: 3)
            try statement.bind(others.isEmpty ? nil : others.joined(separator: "\n"), at: 4)
            try statement.bind(Int64(zone), at: 5)
            try statement.bind(place.weight.isFinite ? place.weight : 0, at: 6)
            try statement.bind(place.reach.isFinite ? max(0, place.reach) : 0, at: 7)
            try statement.bind(place.x, at: 8)
            try statement.bind(place.y, at: 9)
            if let area { try area.withUnsafeBytes { try statement.bind(blob: $0, at: 10) } }
        }
        placeCount += 1
        extent.take(place.x, place.y)
        if place.kind == .locality, place.weight >= ZoneFiller.townWeight {
            var town = place.zone
            if town.city.isEmpty { town.city = name }
            try learn(town: town, of: place.zone, place.x, place.y, reach: max(place.reach, 500))
        }
    }

    // MARK: The locator

    /// Writes the locator and puts it in its place.
    package func finish() throws {
        try writeLocator()
        try connection.commit()
        report(Progress(step: "writing the file", count: 0))
        try choosePageSize()
        try connection.run("VACUUM INTO ?") { try $0.bind(finishedFile.path, at: 1) }
        try Task.checkCancellation()
        try putInPlace()
    }

    /// Every table and index ends with a page that is half empty on average: the file of a district has smaller pages.
    private func choosePageSize() throws {
        var used: Int64 = 0
        try connection.run(
            "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        ) { _ in
        } row: {
            used = $0.integer(0)
        }
        if used < LocatorSchema.smallFileBytes {
            try connection.execute("PRAGMA page_size = \(LocatorSchema.smallPageBytes)")
        }
    }

    /// A file that is there is replaced in one step; readers that have it open go on with the old one.
    private func putInPlace() throws {
        for url in [finishedFile, target.deletingLastPathComponent()] {
            if url == target.deletingLastPathComponent() {
                guard rename(finishedFile.path, target.path) == 0 else {
                    throw LocatorError(
                        .badData, "\(target.path) can't be written: \(String(cString: strerror(errno))).")
                }
            }
            let descriptor = open(url.path, O_RDONLY)
            guard descriptor >= 0 else { throw LocatorError(.badData, "\(url.path) can't be opened.") }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else {
                throw LocatorError(.badData, "\(url.path) can't be written: \(String(cString: strerror(errno))).")
            }
        }
    }

    // MARK: Small steps

    private func skip() { skippedCount += 1 }

    func step(_ name: String, _ count: Int) throws {
        guard count % 1_024 == 0 else { return }
        try Task.checkCancellation()
        report(Progress(step: name, count: count))
    }

    private static func isPlace(_ x: Double, _ y: Double) -> Bool { abs(x) <= 180 && abs(y) <= 90 }

    /// What stands behind a number in the words of the source.
    private static func unitText(_ number: String) -> String {
        let rest = number.drop { $0.isNumber || $0 == "/" || $0 == "-" }.trimmingPrefix { !$0.isLetter && !$0.isNumber }
        // 12 B, Floor 2: the letter belongs to the number.
        let words = rest.split(maxSplits: 1, omittingEmptySubsequences: true) { $0 == " " || $0 == "," }
        if let first = words.first, HouseNumber.isSuffix(TokenizedText.key(String(first))) {
            return words.count > 1 ? words[1].trimmingPrefix { $0 == " " || $0 == "," }.description : ""
        }
        return String(rest)
    }

    private static func bind(_ range: NumberRange?, to statement: StoreStatement, at index: Int) throws {
        guard let range else {
            for offset in 0..<3 { try statement.bindNull(at: index + offset) }
            return
        }
        try statement.bind(Int64(range.from), at: index)
        try statement.bind(Int64(range.to), at: index + 1)
        try statement.bind(range.parity.rawValue, at: index + 2)
    }
}

extension ZoneFiller {
    /// Inhabitants, or what stands for them, from which on a place gives its name to the addresses around it.
    static let townWeight = 1_000.0
}

extension String {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
