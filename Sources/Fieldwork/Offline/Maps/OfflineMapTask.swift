public import FieldworkGeometry
public import Foundation
import Synchronization

/// Takes a whole map along: its features with their tables and attachments, its basemap with style and fonts, its addresses.
///
/// ```swift
/// let task = OfflineMapTask(onlineMap: map)
/// let parameters = try await task.makeDefaultGenerateOfflineMapParameters(areaOfInterest: area)
/// let capabilities = try await task.offlineMapCapabilities(parameters: parameters)
/// for (layer, capability) in capabilities.layerCapabilities where !capability.supportsOffline {
///     print(layer.name, capability.error ?? "")
/// }
/// let job = task.makeGenerateOfflineMapJob(parameters: parameters, downloadDirectory: folder)
/// job.start()
/// let offlineMap = try await job.output.offlineMap
/// ```
///
/// <doc:OfflineMaps> tells the whole way. What changes is behind a lock or in `Streamed`, which locks for itself.
public final class OfflineMapTask: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    private let map: Map
    /// The item that the map comes from; nil for others.
    public let portalItem: PortalItem?
    let environment: ServiceEnvironment
    private let loading: LoadOnce

    /// A task for a map of services.
    public convenience init(onlineMap: Map) {
        self.init(map: onlineMap, item: onlineMap.item as? PortalItem, environment: .standard)
    }

    /// A task for the web map of an item.
    public convenience init(portalItem: PortalItem) {
        self.init(
            map: Map(item: portalItem), item: portalItem,
            environment: portalItem.portal.ownEnvironment ?? .standard)
    }

    init(map: Map, item: PortalItem?, environment: ServiceEnvironment) {
        self.map = map
        portalItem = item
        self.environment = environment
        loading = LoadOnce(status: _loadStatus)
    }

    /// The map.
    public var onlineMap: Map? { map }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Loads the map. Throws what `Map.load` throws.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [map] in
            if retries { try await map.retryLoad() } else { try await map.load() }
            guard map.offline == nil else {
                throw CommonError.invalidArgument(details: "The map was taken offline already.")
            }
        }
    }

    // MARK: Parameters

    /// Parameters for an area, as the map's author has set the work offline up: whose attachments come along and which way they are
    /// kept in step, and which file of tiles people have already. Tiles come for the scales that the map allows.
    /// - Parameter areaOfInterest: a polygon or an envelope, in any reference.
    /// - Throws: what ``load()`` throws.
    public func makeDefaultGenerateOfflineMapParameters(
        areaOfInterest: Geometry
    ) async throws -> GenerateOfflineMapParameters {
        try await load()
        return try await makeDefaultGenerateOfflineMapParameters(
            areaOfInterest: areaOfInterest, minScale: map.minScale ?? 0, maxScale: map.maxScale ?? 0)
    }

    /// The same with the scales for which tiles come along, as denominators; 0 for no limit.
    public func makeDefaultGenerateOfflineMapParameters(
        areaOfInterest: Geometry, minScale: Double, maxScale: Double
    ) async throws -> GenerateOfflineMapParameters {
        try await load()
        let parameters = GenerateOfflineMapParameters(
            areaOfInterest: areaOfInterest, minScale: minScale, maxScale: maxScale)
        parameters.itemInfo = await itemInfo()
        guard let settings = map.offlineSettings else { return parameters }
        parameters.referenceBasemapFilename = settings.referenceBasemapFilename
        switch (settings.editableLayersDownload, settings.readOnlyLayersDownloadAttachments) {
        case (.featuresAndAttachments, true): parameters.returnLayerAttachmentOption = .allLayers
        case (.featuresAndAttachments, false): parameters.returnLayerAttachmentOption = .editableLayers
        case (_, true): parameters.returnLayerAttachmentOption = .readOnlyLayers
        case (_, false): parameters.returnLayerAttachmentOption = .none
        }
        parameters.returnsSchemaOnlyForEditableLayers = settings.editableLayersDownload == .none
        parameters.attachmentSyncDirection =
            settings.editableLayersSync == .syncFeaturesUploadAttachments ? .upload : .bidirectional
        return parameters
    }

    private func itemInfo() async -> OfflineMapItemInfo {
        let info = OfflineMapItemInfo()
        guard let item = portalItem else { return info }
        // A map is taken along also when the portal doesn't tell of the item.
        try? await item.load()
        info.title = item.title
        info.snippet = item.snippet
        info.description = item.description
        info.addTags(item.tags)
        return info
    }

    /// What will be asked of each service, to be changed before the job is made.
    /// - Throws: `ServiceError`, `CommonError.invalidArgument` for an area that is none.
    public func makeGenerateOfflineMapParameterOverrides(
        parameters: GenerateOfflineMapParameters
    ) async throws -> GenerateOfflineMapParameterOverrides {
        GenerateOfflineMapParameterOverrides(try await plan(parameters))
    }

    /// What of the map can come along, and why the rest can't.
    /// - Throws: `ServiceError.connectionFailed` where a service doesn't answer, `CommonError.invalidArgument` for an area that is
    ///   none.
    public func offlineMapCapabilities(
        parameters: GenerateOfflineMapParameters
    ) async throws -> OfflineMapCapabilities {
        let refusals = try await plan(parameters).refusals
        let reasons = Dictionary(refusals.map { ($0.layer, $0.error) }) { first, _ in first }
        var layers: [Layer: OfflineCapability] = [:]
        for layer in map.offlineLayers { layers[layer] = OfflineCapability(reasons[layer.offlineAddress]) }
        var tables: [FeatureTable: OfflineCapability] = [:]
        for table in map.tables { tables[table] = OfflineCapability(reasons[table.offlineAddress]) }
        return OfflineMapCapabilities(layers: layers, tables: tables)
    }

    private func plan(_ parameters: GenerateOfflineMapParameters) async throws -> OfflineMapPlan {
        try await load()
        return try await OfflineMapPlanner(map: map, parameters: parameters, environment: environment).plan()
    }

    // MARK: Jobs

    /// A job that takes the map along; it is not started.
    /// - Parameters:
    ///   - parameters: as ``makeDefaultGenerateOfflineMapParameters(areaOfInterest:)`` gives them.
    ///   - downloadDirectory: the folder of the map package. It must be empty or not there yet.
    public func makeGenerateOfflineMapJob(
        parameters: GenerateOfflineMapParameters, downloadDirectory: URL
    ) -> GenerateOfflineMapJob {
        GenerateOfflineMapJob(
            map: map, parameters: parameters, folder: downloadDirectory, plan: nil, environment: environment)
    }

    /// The same with what is asked of each service.
    public func makeGenerateOfflineMapJob(
        parameters: GenerateOfflineMapParameters, downloadDirectory: URL,
        overrides: GenerateOfflineMapParameterOverrides
    ) -> GenerateOfflineMapJob {
        GenerateOfflineMapJob(
            map: map, parameters: parameters, folder: downloadDirectory, plan: overrides.plan,
            environment: environment)
    }
}

extension Map {
    /// All layers that are no groups, with those of the basemap.
    var offlineLayers: [Layer] {
        let base = (basemap?.baseLayers ?? []) + (basemap?.referenceLayers ?? [])
        return (operationalLayers + base).flatMap(\.offlineLeaves)
    }
}
