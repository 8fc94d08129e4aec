import FieldworkGeometry
public import Foundation
import Synchronization

/// A map on this device, with all that it needs without a network: a folder that a ``GenerateOfflineMapJob`` made.
///
/// ```swift
/// let package = MobileMapPackage(fileURL: folder)
/// try await package.load()
/// guard let map = package.maps.first else { return }
/// try await map.load()
/// ```
///
/// The folder has `package.json` (what is in it), `map.json` (the web map), a GeoPackage for each feature service, packages of tiles with
/// style and fonts, and `addresses.locator`. The vendor's `.mmpk` files are of a closed format and can't be opened.
///
/// What changes is behind locks or in `Streamed`, which locks for itself.
public final class MobileMapPackage: Loadable, @unchecked Sendable {
    private struct Content: Sendable {
        var maps: [Map] = []
        var index: MapPackageIndex?
        var geodatabases: [Geodatabase] = []
        var locator: (any Loadable)?
        var isClosed = false
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The folder.
    public let fileURL: URL
    private let loading: LoadOnce
    private let content = Mutex(Content())

    /// A package by its folder, which is not touched before `load`.
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
            let index = try Self.index(of: fileURL)
            let damage = try index.damage(in: fileURL, isThorough: false)
            guard damage.isEmpty else {
                throw CommonError.file(
                    details: "The map package \(fileURL.lastPathComponent) is damaged. \(damage.joined(separator: " "))"
                )
            }
            try await open(index)
        }
    }

    /// Reads what a folder says of itself.
    private static func index(of url: URL) throws -> MapPackageIndex {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw CommonError.fileNotFound(details: "There is no map package at \(url.path).")
        }
        let name = url.lastPathComponent
        guard isFolder.boolValue else {
            if isOneFile(url) {
                throw CommonError.invalidArgument(
                    details: "\(name) is a map package in one file: unpack it to open it.")
            }
            let isVendors = ["mmpk", "mspk"].contains(url.pathExtension.lowercased())
            throw CommonError.invalidArgument(
                details: isVendors
                    ? "\(name) is a map package in the vendor's format, which is closed: it can't be opened. Take the map offline from its services."
                    : "\(name) is no map package: those are folders.")
        }
        return try MapPackageIndex(folder: url)
    }

    private func open(_ index: MapPackageIndex) async throws {
        let document = try Data(contentsOf: fileURL.appending(path: MapPackageIndex.mapName))
        var files = OfflineFiles()
        var geodatabases: [Geodatabase] = []
        var reference: Layer?
        do {
            for part in index.parts {
                let url = fileURL.appending(path: part.file, directoryHint: .notDirectory)
                switch part.content {
                case .geodatabase:
                    let geodatabase = Geodatabase(fileURL: url)
                    try await geodatabase.load()
                    geodatabases.append(geodatabase)
                    try geodatabase.openSession().takesEdits = index.parameters.scheduledArea == nil
                    files.add(geodatabase, inPlaceOf: part.source)
                case .vectorTiles: files.add(url, isVector: true, inPlaceOf: part.layers + [part.source.absoluteString])
                case .tiles: files.add(url, isVector: false, inPlaceOf: part.layers)
                case .referenceBasemap(let isVector): reference = OfflineFiles.layer(url, isVector: isVector)
                case .locator: content.withLock { $0.locator = Self.locator(in: url) }
                }
            }
            let map = try Map.fromJSON(document, environment: .standard, offline: OfflineTables(files))
            if let reference { map.basemap = Basemap(baseLayer: reference) }
            let offline = OfflineContent(geodatabases: geodatabases, parameters: index.parameters)
            offline.package = self
            map.offline = offline
            let opened = geodatabases
            let isClosed = content.withLock { content in
                (content.maps, content.index, content.geodatabases) = ([map], index, opened)
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
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fileURL.path)) ?? []
        return names.reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: fileURL.appending(path: name).path)
            return sum + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
        }
    }

    /// What did not come along.
    var refusals: [OfflineMapRefusal] { content.withLock { $0.index }?.refusals ?? [] }

    /// The geodatabases; none before the package is loaded. Not part of the vendor's API.
    public var geodatabases: [Geodatabase] { content.withLock { $0.geodatabases } }

    /// Whether edits in it wait to be sent. Not part of the vendor's API: ask before the package is deleted.
    public var hasLocalEdits: Bool { geodatabases.contains(where: \.hasLocalEdits) }

    /// Whether a package is read where it lies. Folders are; a package in one file is unpacked first
    /// (``unpack(fileURL:outputDirectoryURL:)``). Throws like ``load()`` for what is no map package.
    public static func isDirectReadSupported(fileURL: URL) async throws -> Bool {
        if isOneFile(fileURL) { return false }
        _ = try index(of: fileURL)
        return true
    }

    /// Ends the work with the files; their tables can't be asked any more.
    public func close() {
        let geodatabases = content.withLock { content in
            content.isClosed = true
            return content.geodatabases
        }
        for geodatabase in geodatabases { geodatabase.close() }
    }

    /// What of a package's folder is missing or damaged, in words; reads every file that never changes. Not part of the vendor's API.
    /// Throws like ``load()`` for what is no map package.
    public static func damage(fileURL: URL) throws -> [String] {
        try index(of: fileURL).damage(in: fileURL, isThorough: true)
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
