public import FieldworkGeometry
public import Foundation
import Synchronization

/// An area of a web map that its author prepared for offline work: ``OfflineMapTask/preplannedMapAreas`` lists them.
///
/// ```swift
/// for area in try await task.preplannedMapAreas {
///     try await area.load()
///     print(area.portalItem.title, area.contentSize ?? 0)
/// }
/// ```
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class PreplannedMapArea: Loadable, @unchecked Sendable {
    /// How far the files of an area are.
    public enum PackagingStatus: String, Sendable {
        /// They are being made, could not be made, or are ready.
        case processing, failed, complete
    }

    private struct Content: Sendable {
        var status: PackagingStatus?
        var area: Geometry?
        var items: [PortalItem] = []
        var package: MapAreaPackage?
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The item of the area: its title, its description, its picture.
    public let portalItem: PortalItem
    private let loading: LoadOnce
    private let content = Mutex(Content())

    /// The area of an item of the kind `Map Area`.
    public init(portalItem: PortalItem) {
        self.portalItem = portalItem
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads what the area is. Throws `MappingError.packagingNotComplete` for an area whose files are not ready,
    /// `MappingError.noPackageItem` for one without files of ours, `ServiceError`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in _ = try await readPackage() }
    }

    /// Reads the area anew, and gives what its package is by now. Throws like ``load()``.
    func readPackage() async throws -> MapAreaPackage {
        try await read()
        let (status, items) = content.withLock { ($0.status, $0.items) }
        switch status {
        case .processing:
            throw MappingError.packagingNotComplete(
                details: "The files of the area \(portalItem.title) are being made. Try again later.")
        case .failed:
            throw MappingError.packagingNotComplete(
                details: "The files of the area \(portalItem.title) could not be made. Its author can try again.")
        case .complete, nil: break
        }
        guard let item = items.first(where: { $0.typeName == Self.packageType }) else {
            throw MappingError.noPackageItem(
                details: "The area \(portalItem.title) has no package of files that can be downloaded here.")
        }
        let package = try MapAreaPackage(try await item.document(), title: portalItem.title)
        content.withLock { $0.package = package }
        return package
    }

    /// The parameters by which ``GeodatabaseSyncTask`` makes a geodatabase of the files that were prepared: the service reads no row for
    /// it. nil where the area has nothing of the service. Reads the area anew. Throws like ``load()``. Not part of the vendor's API, whose
    /// jobs take whole areas.
    /// - Parameter serviceURL: `…/FeatureServer`.
    public func makeGenerateGeodatabaseParameters(of serviceURL: URL) async throws -> GenerateGeodatabaseParameters? {
        let root = ServiceGeodatabase.serviceRoot(of: serviceURL)
        for part in try await readPackage().parts where ServiceGeodatabase.serviceRoot(of: part.source) == root {
            guard part.reference != nil, case .geodatabase(let parameters) = part.content else { continue }
            // A copy: the caller may change its parameters.
            return try GenerateGeodatabaseParameters(json: parameters.json)
        }
        return nil
    }

    /// Reads what the item says of the area, whatever the state of its files.
    func read() async throws {
        let description = try await portalItem.described()
        let document = try await portalItem.document()
        let area = try document["area"].flatMap { try GeoServicesJSON.geometry(from: $0) } ?? portalItem.extent
        let items = try await portalItem.relatedItems(by: .areaToPackage)
        portalItem.becomeUpdated(description)
        content.withLock { content in
            content.status = description["properties"]?["status"]?.stringValue.flatMap(PackagingStatus.init)
            (content.area, content.items) = (area, items)
        }
    }

    // MARK: Content

    /// The type of the item that says which files an area has.
    static let packageType = "Map Area Package"

    /// The area; nil before it is loaded.
    public var areaOfInterest: Geometry? { content.withLock { $0.area } }

    /// How far its files are; nil before it is loaded, and for areas that don't tell.
    public var packagingStatus: PackagingStatus? { content.withLock { $0.status } }

    /// The items of its packages; none before it is loaded.
    public var contentItems: [PortalItem] { content.withLock { $0.items } }

    /// Bytes of the features with their attachments, which were made ready; nil before the area is loaded. Tiles and addresses come
    /// besides. Not part of the vendor's API.
    public var contentSize: Int64? { content.withLock { $0.package?.size } }

    /// When its files were made; nil before the area is loaded. Not part of the vendor's API.
    public var packagingDate: Date? { content.withLock { $0.package?.made } }
}
