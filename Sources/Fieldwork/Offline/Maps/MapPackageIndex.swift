import Crypto
import FieldworkGeometry
import Foundation

/// What the folder of an offline map says of itself: its files, the checksums of those that never change, and what the map is of. A
/// folder without it is no map package.
struct MapPackageIndex: Sendable {
    static let fileName = "package.json"
    static let mapName = "map.json"
    private static let format = "fieldwork-map-package"
    private static let version = 1

    /// A file that is never changed.
    struct Seal: Sendable, Hashable {
        var file: String
        var size: Int64
        /// SHA-256, in hexadecimal digits.
        var checksum: String
    }

    var item: OfflineMapItemInfo
    var parameters: GenerateOfflineMapParameters
    var parts: [OfflineMapPart]
    var refusals: [OfflineMapRefusal]
    var seals: [Seal]
    var made: Date
    /// The job that made the package.
    var job: UUID?

    var json: JSONValue {
        [
            "format": .string(Self.format), "version": JSONValue(Self.version),
            "job": JSONValue(job?.uuidString), "item": item.json,
            "parameters": parameters.json, "parts": .array(parts.map(\.json)),
            "refusals": .array(refusals.map(\.json)),
            "seals": .array(
                seals.map {
                    ["file": .string($0.file), "size": .integer($0.size), "sha256": .string($0.checksum)]
                }), "made": .number((made.timeIntervalSince1970 * 1_000).rounded()),
        ]
    }

    init(
        item: OfflineMapItemInfo, parameters: GenerateOfflineMapParameters, plan: OfflineMapPlan, seals: [Seal],
        made: Date
    ) {
        (self.item, self.parameters, self.seals, self.made) = (item, parameters, seals, made)
        (parts, refusals, job) = (plan.parts, plan.refusals, plan.job)
    }

    /// Reads the index of a folder. Throws `CommonError.invalidArgument` for a folder that is no map package.
    init(folder: URL) throws { try self.init(.folder(folder)) }

    /// Reads the index of a package. Throws `CommonError.invalidArgument` for what is no map package.
    init(_ files: MapPackageFiles) throws {
        let name = files.url.lastPathComponent
        guard let data = try files.contents(Self.fileName), data.count <= Limits.webMapBytes,
            let json = try? JSONParser.parse(data), json["format"]?.stringValue == Self.format
        else { throw CommonError.invalidArgument(details: "\(name) is no map package: it has no \(Self.fileName).") }
        guard json["version"]?.integerValue == Int64(Self.version) else {
            throw CommonError.invalidArgument(
                details: "\(name) is a map package of a later version. Update Fieldwork to open it.")
        }
        item = OfflineMapItemInfo(json: json["item"] ?? [:])
        parameters = try GenerateOfflineMapParameters(json: json["parameters"] ?? [:])
        parts = try (json["parts"]?.arrayValue ?? []).map { try OfflineMapPart(json: $0) }
        refusals = (json["refusals"]?.arrayValue ?? []).compactMap { OfflineMapRefusal(json: $0) }
        seals = (json["seals"]?.arrayValue ?? []).compactMap { seal in
            guard let file = seal["file"]?.stringValue, OfflineMapPart.isName(file),
                let size = seal["size"]?.integerValue, let checksum = seal["sha256"]?.stringValue
            else { return nil }
            return Seal(file: file, size: size, checksum: checksum)
        }
        job = json["job"]?.stringValue.flatMap(UUID.init)
        made = Date(timeIntervalSince1970: (json["made"]?.doubleValue ?? 0) / 1_000)
    }

    // MARK: Seals

    static func seal(_ file: String, in folder: URL) throws -> Seal {
        let handle = try FileHandle(forReadingFrom: folder.appending(path: file))
        defer { try? handle.close() }
        var hash = SHA256()
        var size: Int64 = 0
        while let piece = try handle.read(upToCount: 1_024 * 1_024), !piece.isEmpty {
            try Task.checkCancellation()
            hash.update(data: piece)
            size += Int64(piece.count)
        }
        return Seal(file: file, size: size, checksum: digits(hash.finalize()))
    }

    static func digits(_ digest: SHA256.Digest) -> String {
        digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// What is missing or is not what it was, in words; empty for a package that is whole.
    /// - Parameter isThorough: whether the checksums are compared as well, which reads every file.
    func damage(in files: MapPackageFiles, isThorough: Bool) throws -> [String] {
        var found: [String] = []
        for part in parts where files.size(part.file) == nil { found.append("\(part.file) is missing.") }
        for seal in seals {
            guard let size = files.size(seal.file) else {
                if !found.contains("\(seal.file) is missing.") { found.append("\(seal.file) is missing.") }
                continue
            }
            if size != seal.size {
                found.append("\(seal.file) has \(size) bytes and should have \(seal.size).")
            } else if isThorough {
                found += try damage(of: seal, in: files)
            }
        }
        guard isThorough, files.isOneFile else { return found }
        // The archive has a checksum of what is not sealed as well.
        for part in parts where files.size(part.file) != nil && !seals.contains(where: { $0.file == part.file }) {
            do { _ = try files.seal(part.file) } catch let error as CommonError { found.append(error.details) }
        }
        return found
    }

    private func damage(of seal: Seal, in files: MapPackageFiles) throws -> [String] {
        do {
            if try files.seal(seal.file) == seal { return [] }
        } catch let error as CommonError where files.isOneFile {
            return [error.details]
        }
        return ["\(seal.file) is not what was downloaded: its checksum differs."]
    }
}
