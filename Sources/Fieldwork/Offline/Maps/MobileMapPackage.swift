import FieldworkGeometry
import FieldworkTiles
public import Foundation
import Synchronization

/// A map on this device, with all that it needs without a network: a folder that a ``GenerateOfflineMapJob`` made, or the one file that
/// ``pack(to:progress:)`` wrote of it.
///
/// ```swift
/// let package = MobileMapPackage(fileURL: folder)
/// try await package.load()
/// guard let map = package.maps.first else { return }
/// try await map.load()
/// ```
///
/// The folder has `package.json` (what is in it), `map.json` (the web map), a GeoPackage for each feature service, packages of tiles with
/// style and fonts, and `addresses.locator`. One file is read where it lies, without being unpacked; its tables take no edits, and it must
/// not change while it is open. ``unpack(fileURL:outputDirectoryURL:)`` makes a folder of it, to be edited. The vendor's `.mmpk` files are of a closed format and can't be opened.
///
/// What changes is behind locks or in `Streamed`, which locks for itself.
public final class MobileMapPackage: Loadable, @unchecked Sendable {
    private struct Content: Sendable {
        var maps: [Map] = []
        var index: MapPackageIndex?
        var isOneFile = false
        var geodatabases: [Geodatabase] = []
        var locator: (any Loadable)?
        var isClosed = false
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The folder, or the file.
    public let fileURL: URL
    private let loading: LoadOnce
    private let content = Mutex(Content())

    /// A package by its folder or its file, which is not touched before `load`.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Opens the package. Throws `CommonError.fileNotFound` where nothing is, `CommonError.invalidArgument` for what is no map
    /// package, `CommonError.file` for one that is damaged, with the files that are.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let files = try MapPackageFiles(fileURL)
            let index = try MapPackageIndex(files)
            let damage = try index.damage(in: files, isThorough: false)
            guard damage.isEmpty else {
                throw CommonError.file(
                    details: "The map package \(fileURL.lastPathComponent) is damaged. \(damage.joined(separator: " "))"
                )
            }
            try await open(index, files)
        }
    }

    private func open(_ index: MapPackageIndex, _ kept: MapPackageFiles) async throws {
        guard let document = try kept.contents(MapPackageIndex.mapName) else {
            throw CommonError.file(
                details:
                    "The map package \(fileURL.lastPathComponent) is damaged. \(MapPackageIndex.mapName) is missing.")
        }
        var files = OfflineFiles()
        var geodatabases: [Geodatabase] = []
        var reference: Layer?
        do {
            for part in index.parts {
                let place = try kept.part(part.file)
                switch part.content {
                case .geodatabase:
                    let geodatabase = Geodatabase(place)
                    try await geodatabase.load()
                    geodatabases.append(geodatabase)
                    if index.parameters.scheduledArea != nil {
                        try geodatabase.openSession().bar("packages of changes keep the map in step")
                    }
                    files.add(geodatabase, inPlaceOf: part.source)
                case .vectorTiles:
                    files.add(place, isVector: true, inPlaceOf: part.layers + [part.source.absoluteString])
                case .tiles: files.add(place, isVector: false, inPlaceOf: part.layers)
                case .referenceBasemap(let isVector): reference = OfflineFiles.layer(place, isVector: isVector)
                case .locator: content.withLock { $0.locator = Self.locator(in: place) }
                }
            }
            let map = try Map.fromJSON(document, environment: .standard, offline: OfflineTables(files))
            if let reference { map.basemap = Basemap(baseLayer: reference) }
            let offline = OfflineContent(
                geodatabases: geodatabases, parameters: index.parameters, isOneFile: kept.isOneFile)
            offline.package = self
            map.offline = offline
            let opened = geodatabases
            let isClosed = content.withLock { content in
                (content.maps, content.index, content.geodatabases) = ([map], index, opened)
                content.isOneFile = kept.isOneFile
                return content.isClosed
            }
            if isClosed { throw CommonError.illegalState(details: "The map package is closed.") }
        } catch {
            for geodatabase in geodatabases { geodatabase.close() }
            throw error
        }
    }

    // MARK: Content

    /// The maps; none before the package is loaded.
    public var maps: [Map] { content.withLock { $0.maps } }

    /// What the package says of itself; nil before it is loaded.
    public var itemInfo: OfflineMapItemInfo? { content.withLock { $0.index }?.item }

    /// What searches for addresses in the area: `locatorTask` gives it.
    var keptLocator: (any Loadable)? { content.withLock { $0.locator } }

    /// The version of the package's format; empty before it is loaded.
    public var version: String { content.withLock { $0.index } == nil ? "" : "1" }

    /// Until when the package may be used; packages of ours have no end.
    public var expiration: Expiration? { nil }

    /// When the map was taken along; nil before the package is loaded. Not part of the vendor's API.
    public var made: Date? { content.withLock { $0.index }?.made }

    /// The area that was taken along; nil before the package is loaded. Not part of the vendor's API.
    public var areaOfInterest: Geometry? { content.withLock { $0.index }?.parameters.areaOfInterest }

    /// Bytes of all its files. Not part of the vendor's API.
    public var size: Int64 {
        func size(_ url: URL) -> Int64 {
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
            return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: fileURL.path) else {
            return size(fileURL)
        }
        return names.reduce(0) { $0 + size(fileURL.appending(path: $1)) }
    }

    /// Whether the package is one file, which is read where it lies and takes no edits; false before it is loaded. Not part of the
    /// vendor's API.
    public var isOneFile: Bool { content.withLock { $0.isOneFile } }

    /// What did not come along.
    var refusals: [OfflineMapRefusal] { content.withLock { $0.index }?.refusals ?? [] }

    /// The geodatabases; none before the package is loaded. Not part of the vendor's API.
    public var geodatabases: [Geodatabase] { content.withLock { $0.geodatabases } }

    /// Whether edits in it wait to be sent. Not part of the vendor's API: ask before the package is deleted.
    public var hasLocalEdits: Bool { geodatabases.contains(where: \.hasLocalEdits) }

    /// Whether a package is read where it lies: folders are, and one file of which nothing is compressed and no tiles are in a database.
    /// Another one is unpacked first (``unpack(fileURL:outputDirectoryURL:)``). Throws like ``load()`` for what is no map package.
    public static func isDirectReadSupported(fileURL: URL) async throws -> Bool {
        let files = try MapPackageFiles(fileURL)
        let index = try MapPackageIndex(files)
        guard files.isOneFile else { return true }
        return index.parts.allSatisfy { part in
            guard let place = try? files.part(part.file) else { return false }
            switch part.content {
            case .geodatabase, .locator: return true
            case .vectorTiles, .tiles, .referenceBasemap:
                return (try? TilePackages.open(place.url.path, part: place.bytes)) != nil
            }
        }
    }

    /// Ends the work with the files; their tables can't be asked any more.
    public func close() {
        let geodatabases = content.withLock { content in
            content.isClosed = true
            return content.geodatabases
        }
        for geodatabase in geodatabases { geodatabase.close() }
    }

    /// What of a package is missing or damaged, in words; reads every file that never changes, and of one file all. Not part of the
    /// vendor's API. Throws like ``load()`` for what is no map package.
    public static func damage(fileURL: URL) throws -> [String] {
        let files = try MapPackageFiles(fileURL)
        return try MapPackageIndex(files).damage(in: files, isThorough: true)
    }
}

/// Until when something may be used.
public final class Expiration: Sendable {
    /// When it ends.
    public let date: Date
    /// What to tell people then.
    public let message: String
    /// Whether it has ended.
    public var isExpired: Bool { date < DeviceClock.now() }

    init(date: Date, message: String) {
        self.date = date
        self.message = message
    }
}
