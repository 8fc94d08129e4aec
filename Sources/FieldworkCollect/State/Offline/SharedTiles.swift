import Fieldwork
import FieldworkTiles
import Foundation

/// The tiles of all areas of this device, in a file for each version of each service: what lies in several areas is here once, comes
/// once, and goes with the last of them.
///
/// Work on the files is done one after the other, on a queue of its own.
final class SharedTiles: Sendable {
    /// What is to be done for an area.
    struct Plan: Sendable {
        /// The name of the file that the tiles are in, or come into.
        var file: String
        /// What has to come from the service; nil where all is here.
        var missing: Geometry?
        /// Whether tiles of other areas make up the rest.
        var isPart: Bool
    }

    let directory: URL
    private let queue = DispatchQueue(label: "tiles of the areas")

    init(directory: URL) { self.directory = directory }

    func url(_ file: String) -> URL { directory.appending(path: file, directoryHint: .notDirectory) }

    private static let ending = ".mbtiles"

    private func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    // MARK: What is here, and what is missing

    /// Looks what an area would need of a service.
    /// - Parameters:
    ///   - extent: in the map's plane.
    ///   - version: of the service's tiles; nil where it doesn't tell.
    func plan(_ extent: Envelope, service: URL, version: String?) async throws -> Plan {
        try await run { [self] in try planned(extent, nil, service, version) }
    }

    /// Looks what an area needs, and notes that it is going to use it: what is here of it stays from now on.
    /// - Parameter note: keeps the plan with the area, before it is noted in the file: only what an area knows of is kept for it.
    func begin(
        _ id: UUID, _ extent: Envelope, service: URL, version: String?,
        note: @escaping @Sendable (Plan) throws -> Void
    ) async throws -> Plan {
        try await run { [self] in
            let plan = try planned(extent, id, service, version)
            try note(plan)
            try reserveNow(plan.file, id, extent)
            return plan
        }
    }

    private func planned(_ extent: Envelope, _ id: UUID?, _ service: URL, _ version: String?) throws -> Plan {
        let prefix = Self.prefix(service: service, version: version)
        guard let file = files().last(where: { $0.hasPrefix(prefix) }) else {
            return Plan(file: Self.name(prefix, 1), missing: extent, isPart: false)
        }
        let holders: [SharedTileFile.Holder]
        do throws(TileError) {
            holders = try SharedTileFile(url(file)).holders().filter(\.isWhole)
        } catch {
            guard error.code == .broken else { throw error }
            // The map can be drawn again where a damaged file can't be mended.
            return Plan(file: next(after: file), missing: extent, isPart: false)
        }
        guard !holders.contains(where: { $0.id == id }) else {
            return Plan(file: file, missing: nil, isPart: true)
        }
        let missing = Self.missing(of: Self.box(extent), in: holders.map(\.box))
        return Plan(file: file, missing: missing, isPart: !(missing is Envelope))
    }

    private func reserveNow(_ file: String, _ id: UUID, _ extent: Envelope) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try SharedTileFile(url(file)).reserve(id, box: Self.box(extent))
    }

    /// The files that were made here, by their names, in the order of their making. Others in the folder are left alone.
    private func files() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter(Self.isName).sorted { ($0.count, $0) < ($1.count, $1) }
    }

    private static func isName(_ name: String) -> Bool {
        let words = name.dropLast(ending.count).split(separator: "-")
        return name.hasSuffix(ending) && words.count == 2 && words[0].allSatisfy(\.isHexDigit) && Int(words[1]) != nil
    }

    private static func prefix(service: URL, version: String?) -> String {
        "\(StableHash.hex("\(service.absoluteString)\n\(version ?? "")"))-"
    }

    /// Whether a file holds tiles of this version of a service.
    static func isFile(_ file: String, of service: URL, version: String?) -> Bool {
        file.hasPrefix(prefix(service: service, version: version))
    }

    private static func name(_ prefix: String, _ number: Int) -> String { "\(prefix)\(number)\(ending)" }

    private static func box(_ extent: Envelope) -> PlaneBox {
        PlaneBox(xMin: extent.xMin, yMin: extent.yMin, xMax: extent.xMax, yMax: extent.yMax)
    }

    /// Metres by which a part that is asked for laps over what is here: both sides reckon with digits that end somewhere.
    private static let seam = 0.5

    /// The part of a box that lies in none of others; the box itself where it meets none, nil where nothing is left.
    static func missing(of box: PlaneBox, in others: [PlaneBox]) -> Geometry? {
        guard rest(of: box, without: others) != nil else { return nil }
        return rest(of: box.grown(by: seam), without: others.map { $0.grown(by: -seam) }).map {
            $0 is Envelope ? envelope(box) : $0
        }
    }

    private static func rest(of box: PlaneBox, without others: [PlaneBox]) -> Geometry? {
        var rest: Geometry = envelope(box)
        for other in others where other.meets(box) {
            guard let left = GeometryEngine.difference(rest is Envelope ? polygon(box) : rest, polygon(other)),
                !left.isEmpty
            else { return nil }
            rest = left
        }
        return rest
    }

    private static func envelope(_ box: PlaneBox) -> Envelope {
        Envelope(xMin: box.xMin, yMin: box.yMin, xMax: box.xMax, yMax: box.yMax, spatialReference: .webMercator)
    }

    private static func polygon(_ box: PlaneBox) -> Polygon {
        Polygon(
            points: [(box.xMin, box.yMin), (box.xMin, box.yMax), (box.xMax, box.yMax), (box.xMax, box.yMin)]
                .map { Point(x: $0.0, y: $0.1, spatialReference: .webMercator) })
    }

    // MARK: Coming and going

    /// Notes that an area is going to use a file: nothing in its box is deleted from now on.
    func reserve(_ file: String, for id: UUID, _ extent: Envelope) async throws {
        try await run { [self] in try reserveNow(file, id, extent) }
    }

    /// Whether an area is noted in a file, so that nothing in its box was deleted since.
    func isNoted(_ id: UUID, in file: String) async throws -> Bool {
        try await run { [self] in
            guard FileManager.default.fileExists(atPath: url(file).path) else { return false }
            return try SharedTileFile(url(file)).holder(id) != nil
        }
    }

    /// Adds the tiles that were downloaded for an area to the shared file.
    /// - Parameter package: nil where all was here.
    /// - Returns: bytes of the area's tiles, also of those that others use too.
    /// - Throws: `TileError`, with the code `otherVersion` where the tiles don't fit to those that are here.
    func complete(_ file: String, for id: UUID, with package: URL?) async throws -> Int64 {
        try await run { [self] in
            let tiles = try SharedTileFile(url(file))
            try tiles.complete(id, with: try package.map { try TilePackages.open($0.path) })
            return Int64(try tiles.holder(id)?.bytes ?? 0)
        }
    }

    /// The file for tiles of the same service that don't fit to those in another.
    func next(after file: String) -> String {
        let words = file.dropLast(Self.ending.count).split(separator: "-")
        return Self.name("\(words.first ?? "")-", (words.last.flatMap { Int($0) } ?? 0) + 1)
    }

    /// Takes out what no area uses.
    /// - Parameter uses: whether an area that is noted in a file uses it.
    func tidy(_ uses: @escaping @Sendable (_ area: UUID, _ file: String) -> Bool) async throws {
        try await run { [self] in
            var failure: (any Error)?
            for file in files() {
                do {
                    try tidy(file, uses)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
    }
}

extension SharedTiles {
    private func tidy(_ file: String, _ uses: (_ area: UUID, _ file: String) -> Bool) throws {
        let tiles = try SharedTileFile(url(file))
        for holder in try tiles.holders() where !uses(holder.id, file) { try tiles.release(holder.id) }
        guard try tiles.holders().isEmpty else { return }
        // The log goes last: without it the file would be taken for an older one.
        for end in ["", "-shm", "-wal"] { try? FileManager.default.removeItem(at: url(file + end)) }
    }
}

extension PlaneBox {
    fileprivate func meets(_ other: PlaneBox) -> Bool {
        xMin < xMax && yMin < yMax && xMin <= other.xMax && xMax >= other.xMin && yMin <= other.yMax
            && yMax >= other.yMin
    }
}
