import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation

/// What comes along of a map, file by file, and what can't.
struct OfflineMapPlan: Sendable {
    var parts: [OfflineMapPart] = []
    var refusals: [OfflineMapRefusal] = []
    /// The job whose plan it is; nil while it is no job's.
    var job: UUID?

    init() {}

    /// The prepared replicas that its files are of.
    var references: Set<UUID> { Set(parts.compactMap(\.reference)) }

    var json: JSONValue {
        var object = JSONObject()
        if let job { object.append("job", .string(job.uuidString)) }
        object.append("parts", .array(parts.map(\.json)))
        object.append("refusals", .array(refusals.map(\.json)))
        return .object(object)
    }

    init(json: JSONValue) throws {
        parts = try (json["parts"]?.arrayValue ?? []).map { try OfflineMapPart(json: $0) }
        refusals = (json["refusals"]?.arrayValue ?? []).compactMap { OfflineMapRefusal(json: $0) }
        job = json["job"]?.stringValue.flatMap(UUID.init)
    }
}

/// Finds out what comes along of a map, by what its services say.
struct OfflineMapPlanner: Sendable {
    let map: Map
    let parameters: GenerateOfflineMapParameters
    let environment: ServiceEnvironment

    /// Throws `ServiceError.connectionFailed` when a service doesn't answer: what it would say is not known.
    func plan() async throws -> OfflineMapPlan {
        guard let area = parameters.areaOfInterest, area is Polygon || area is Envelope, !area.isEmpty else {
            throw CommonError.invalidArgument(details: "The area of interest must be a polygon or an envelope.")
        }
        var plan = OfflineMapPlan()
        try await planFeatures(area, into: &plan)
        for layer in map.operationalLayers.flatMap(\.offlineLeaves) where !(layer is FeatureLayer) {
            try await planTiles(of: layer, area, into: &plan)
        }
        try await planBasemap(area, into: &plan)
        try await planLocator(into: &plan)
        return plan
    }

    // MARK: Features

    private struct Shown {
        var address: String
        var title: String
        var layerID: Int
        var condition: String
        var isEditable: Bool
    }

    private func planFeatures(_ area: Geometry, into plan: inout OfflineMapPlan) async throws {
        var roots: [URL] = []
        var shown: [URL: [Shown]] = [:]
        func note(_ table: FeatureTable?, _ title: String, _ condition: String, _ id: String) {
            guard let table = table as? ServiceFeatureTable, let url = table.url else {
                plan.refusals.append(
                    OfflineMapRefusal(
                        layer: table?.offlineAddress ?? id, title: title,
                        reason: "\(title) is no layer of a feature service."))
                return
            }
            let root = ServiceGeodatabase.serviceRoot(of: url)
            if shown[root] == nil { roots.append(root) }
            shown[root, default: []].append(
                Shown(
                    address: url.absoluteString, title: title, layerID: table.layerID, condition: condition,
                    isEditable: table.isEditable))
        }
        for case let layer as FeatureLayer in map.operationalLayers.flatMap(\.offlineLeaves) {
            note(layer.featureTable, layer.name, layer.definitionExpression, layer.id)
        }
        for table in map.tables {
            let condition = (table as? ArcGISFeatureTable)?.definitionExpression ?? ""
            note(table, table.displayName, condition, table.tableName)
        }
        for root in roots { try await planService(root, shown[root] ?? [], area, into: &plan) }
    }

    private func planService(_ root: URL, _ shown: [Shown], _ area: Geometry, into plan: inout OfflineMapPlan)
        async throws
    {
        func refuse(_ reason: (Shown) -> String) {
            plan.refusals += shown.map { OfflineMapRefusal(layer: $0.address, title: $0.title, reason: reason($0)) }
        }
        let task = GeodatabaseSyncTask(url: root, environment: environment)
        let parameters: GenerateGeodatabaseParameters
        do {
            parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
        } catch let error where Self.isFinal(error) {
            let details = (error as? any ArcGISError)?.details ?? "\(error)"
            return refuse { "The service of \($0.title) can't be read: \(details)" }
        }
        guard task.featureServiceInfo?.isSyncEnabled == true else {
            return refuse {
                "\($0.title) can't be taken offline: its service doesn't have the capability Sync. Its owner can switch that on."
            }
        }
        restrict(parameters, to: shown, of: task)
        let count = plan.parts.count { part in
            if case .geodatabase = part.content { return true }
            return false
        }
        plan.parts.append(
            OfflineMapPart(
                .geodatabase(parameters), source: root, file: count == 0 ? "data.gpkg" : "data-\(count + 1).gpkg",
                layers: shown.map(\.address)))
    }

    /// Leaves out what the map does not show, but for the tables that belong to what it shows.
    private func restrict(_ target: GenerateGeodatabaseParameters, to shown: [Shown], of task: GeodatabaseSyncTask) {
        let values = parameters.values
        let wanted = Dictionary(grouping: shown, by: \.layerID)
        let related = Set(
            (task.definition?.layers ?? []).filter { wanted[$0.id] != nil }.flatMap(\.relationships)
                .map(\.relatedTableID))
        for option in target.layerOptions {
            let layer = task.definition?.layers.first { $0.id == option.layerID }
            let uses = wanted[option.layerID] ?? []
            guard !uses.isEmpty || related.contains(option.layerID) && layer?.isTable == true else {
                target.removeLayerOption(option)
                continue
            }
            if values.filters, !uses.isEmpty, uses.allSatisfy({ !$0.condition.isEmpty }) {
                let conditions = Set(uses.map(\.condition)).sorted()
                option.whereClause =
                    conditions.count == 1 ? conditions[0] : conditions.map { "(\($0))" }.joined(separator: " OR ")
                if layer?.isTable == true { option.queryOption = .useFilter }
            }
            if values.returnsSchemaOnly, uses.contains(where: \.isEditable) {
                option.queryOption = .none
                option.includesRelated = false
            }
        }
        guard target.returnsAttachments else { return }
        target.returnsAttachments =
            switch values.attachments {
            case .none: false
            case .allLayers: true
            case .editableLayers: shown.contains(where: \.isEditable)
            case .readOnlyLayers: shown.contains { !$0.isEditable }
            }
        target.attachmentSyncDirection = values.attachmentSyncDirection
    }

    // MARK: Tiles

    private func planBasemap(_ area: Geometry, into plan: inout OfflineMapPlan) async throws {
        guard parameters.includesBasemap, let basemap = map.basemap else { return }
        if let reference = parameters.referenceBasemap {
            let package = try? TilePackages.open(reference.path)
            guard let package else {
                throw CommonError.invalidArgument(details: "\(reference.lastPathComponent) is no file of tiles.")
            }
            let isVector = package.description.format == .vector
            let ending = reference.pathExtension.isEmpty ? "tiles" : reference.pathExtension
            plan.parts.append(
                OfflineMapPart(.referenceBasemap(isVector: isVector), source: reference, file: "basemap.\(ending)"))
            return
        }
        for layer in (basemap.baseLayers + basemap.referenceLayers).flatMap(\.offlineLeaves) {
            try await planTiles(of: layer, area, into: &plan)
        }
    }

    private func planTiles(of layer: Layer, _ area: Geometry, into plan: inout OfflineMapPlan) async throws {
        let count = plan.parts.count { part in
            switch part.content {
            case .vectorTiles, .tiles: true
            default: false
            }
        }
        let stem = count == 0 ? "basemap" : "basemap-\(count + 1)"
        let title = layer.name.isEmpty ? "A layer without a name" : layer.name
        do {
            switch layer {
            case let layer as ArcGISVectorTiledLayer where layer.url != nil:
                guard let url = layer.url else { return }
                let task = ExportVectorTilesTask(url: url, environment: environment)
                let tiles = try await task.makeDefaultExportVectorTilesParameters(
                    areaOfInterest: area, maxScale: parameters.maxScale)
                plan.parts.append(
                    OfflineMapPart(
                        .vectorTiles(tiles), source: task.url, file: "\(stem).vtpk", layers: [layer.offlineAddress]))
            case let layer as ArcGISTiledLayer where layer.url != nil:
                guard let url = layer.url else { return }
                let task = ExportTileCacheTask(url: url, environment: environment)
                let tiles = try await task.makeDefaultExportTileCacheParameters(
                    areaOfInterest: area, minScale: parameters.minScale, maxScale: parameters.maxScale)
                plan.parts.append(
                    OfflineMapPart(.tiles(tiles), source: url, file: "\(stem).tpkx", layers: [layer.offlineAddress]))
            default:
                plan.refusals.append(
                    OfflineMapRefusal(
                        layer: layer.offlineAddress, title: title, reason: Self.reason(title, layer)))
            }
        } catch let error where Self.isFinal(error) {
            plan.refusals.append(
                OfflineMapRefusal(
                    layer: layer.offlineAddress, title: title,
                    reason: "\(title): \((error as? any ArcGISError)?.details ?? "\(error)")"))
        }
    }

    private static func reason(_ title: String, _ layer: Layer) -> String {
        switch layer {
        case is ArcGISMapImageLayer: "\(title) is drawn by its service, which can't be taken offline."
        case is WebTiledLayer, is OpenStreetMapLayer: "The server of \(title) doesn't let its tiles be taken along."
        case is ArcGISVectorTiledLayer, is ArcGISTiledLayer: "\(title) is a file of this device already."
        default: "\(title) is of a kind that can't be taken offline."
        }
    }

    /// Whether an error says something of the layer, and not of the line or of this device.
    static func isFinal(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, ServiceError.connectionFailed, CommonError.io: false
        case is ServiceError, is CommonError, is MappingError: true
        default: false
        }
    }

    // MARK: Addresses

    /// Not every server gives parts of its locators: a map is whole without.
    private func planLocator(into plan: inout OfflineMapPlan) async throws {
        guard parameters.includesLocator else { return }
        let service = plan.parts.lazy.compactMap { part -> URL? in
            if case .geodatabase = part.content { return part.source }
            return nil
        }.first
        guard var root = service, let end = root.pathComponents.lastIndex(of: "services") else { return }
        for _ in root.pathComponents.indices.dropFirst(end + 1) { root.deleteLastPathComponent() }
        do {
            if let part = try await OfflineMapPart.locator(of: root) { plan.parts.append(part) }
        } catch let error where Self.isFinal(error) {}
    }
}
