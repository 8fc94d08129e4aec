import FieldworkGeometry
import FieldworkREST
public import Foundation
import Synchronization

/// A layer or table of a feature service. Queries ask the service and see the edits on this device; edits stay on this
/// device until they are applied.
///
/// Get the tables of one service from its ``ServiceGeodatabase``, which sends edits that belong together in one request. A table
/// that is made by its address alone has a geodatabase of its own.
///
/// ```swift
/// let table = ServiceFeatureTable(url: layerURL)
/// try await table.load()
/// let parameters = QueryParameters()
/// parameters.whereClause = "dbh > 30"
/// for feature in try await table.queryFeatures(using: parameters).features() {
///     print(feature.attributes["species"] ?? "unknown")
/// }
/// ```
///
/// What changes is behind locks.
public final class ServiceFeatureTable: ArcGISFeatureTable, @unchecked Sendable {
    private let address: Mutex<URL?>
    /// The item that the table comes from; nil for others.
    public let item: (any Item)?
    /// The id in the service.
    public let layerID: Int
    private let geodatabase: Mutex<ServiceGeodatabase?>
    private let environment: ServiceEnvironment?

    /// A layer by its address, `…/FeatureServer/3`. It gets a service geodatabase of its own when it loads.
    public convenience init(url: URL) { self.init(url: url, environment: nil) }

    /// A layer of a feature service's item. Loading throws `CommonError.invalidArgument` for an item of another kind.
    public convenience init(item: any Item, layerID: Int) {
        self.init(item: item, layerID: layerID, environment: (item as? PortalItem)?.portal.ownEnvironment)
    }

    /// A layer of a feature service's item, like `init(item:layerID:)`.
    public convenience init(portalItem: PortalItem, layerID: Int) {
        self.init(item: portalItem, layerID: layerID, environment: portalItem.portal.ownEnvironment)
    }

    /// The first layer of a feature service's item.
    public convenience init(portalItem: PortalItem) { self.init(portalItem: portalItem, layerID: 0) }

    init(item: any Item, layerID: Int, environment: ServiceEnvironment?) {
        self.item = item
        self.layerID = layerID
        self.environment = environment
        address = Mutex(nil)
        geodatabase = Mutex(nil)
        super.init()
    }

    init(url: URL, environment: ServiceEnvironment?) {
        address = Mutex(url)
        item = nil
        self.environment = environment
        layerID = Int(url.lastPathComponent) ?? 0
        geodatabase = Mutex(nil)
        super.init()
    }

    /// A layer whose service is loaded when it is.
    init(url: URL, geodatabase: ServiceGeodatabase) {
        address = Mutex(url)
        item = nil
        environment = nil
        layerID = Int(url.lastPathComponent) ?? 0
        self.geodatabase = Mutex(geodatabase)
        super.init()
    }

    /// A table that is not loaded, like another one.
    init(copying original: ServiceFeatureTable, _ context: MapCopy) {
        address = Mutex(original.url)
        item = original.item
        layerID = original.layerID
        environment = original.environment
        geodatabase = Mutex(original.serviceGeodatabase.map(context.geodatabase))
        super.init()
    }

    init(geodatabase: ServiceGeodatabase, layer: LayerDefinition, session: ServiceSession) {
        address = Mutex(geodatabase.root.appending(path: String(layer.id)))
        item = nil
        environment = nil
        layerID = layer.id
        self.geodatabase = Mutex(geodatabase)
        super.init(source: ServiceTableSource(layer: layer, session: session))
    }

    /// The address of the layer; nil for that of an item before it is loaded.
    public var url: URL? { address.withLock { $0 } }

    override var serviceAddress: URL? { url }

    /// The service that the table is of; nil for a table made by its address before it is loaded.
    public var serviceGeodatabase: ServiceGeodatabase? { geodatabase.withLock { $0 } }

    /// The same as `featureRequestMode`, by its older name.
    public var requestMode: FeatureRequestMode {
        get { featureRequestMode }
        set { featureRequestMode = newValue }
    }

    /// Where queries are answered. Set it before the table is loaded.
    public var featureRequestMode: FeatureRequestMode {
        get { state.withLock { $0.requestMode } }
        set { state.withLock { $0.requestMode = newValue } }
    }

    override func openSource() async throws -> any TableSource {
        if url == nil, let item {
            let service = try await ContentSource.service(of: item)
            address.withLock { $0 = service.appending(path: String(layerID)) }
        }
        guard let url else { throw CommonError.illegalState(details: "The table has no address.") }
        let owner = serviceGeodatabase ?? ServiceGeodatabase(url: url, environment: environment ?? .standard)
        try await owner.load()
        guard let session = owner.session, let layer = session.service.layer(id: layerID) else {
            throw CommonError.notFound(details: "The service has no layer \(layerID).")
        }
        owner.connect(self, layerID: layerID)
        geodatabase.withLock { $0 = owner }
        return ServiceTableSource(layer: layer, session: session)
    }

    private func session() async throws -> ServiceSession {
        _ = try await loadedSource()
        guard let session = serviceGeodatabase?.session else {
            throw MappingError.notLoaded(details: "The table is not loaded.")
        }
        return session
    }

    // MARK: Local edits

    private func edits() async throws -> [LocalEdit] { try await session().local.edits(in: [layerID]) }

    /// Whether the table has edits that the service does not have.
    public func hasLocalEdits() async throws -> Bool { try await !edits().isEmpty }

    /// Added and updated features.
    public func localEdits() async throws -> [Feature] { pendingFeatures(in: try await session()) }

    func pendingFeatures(in session: ServiceSession) -> [Feature] {
        guard let layer = definition else { return [] }
        return session.local.edits(in: [layerID]).compactMap(\.current).map {
            ArcGISFeature(table: self, record: $0, layer: layer, isComplete: true)
        }
    }

    /// The number of features that were added and not applied.
    public func addedFeaturesCount() async throws -> Int { try await edits().count { $0.operation == .add } }

    /// The number of features that were updated and not applied.
    public func updatedFeaturesCount() async throws -> Int { try await edits().count { $0.operation == .update } }

    /// The number of features that were deleted and not applied.
    public func deletedFeaturesCount() async throws -> Int { try await edits().count { $0.operation == .delete } }

    /// Sends the edits of this table alone. Edits that belong together are better sent by the service geodatabase.
    public func applyEdits() async throws -> [FeatureEditResult] {
        try await session().applyEdits(in: [layerID]).flatMap(\.results)
    }

    /// Drops the edits of this table that were not applied. Feature objects in hand are stale afterwards.
    public func undoLocalEdits() async throws { try await session().undoLocalEdits(in: [layerID]) }

    /// Drops the edits of some features that were not applied; all others stay. The objects go back to the last version
    /// that the service is known to have; a feature that was only added is no longer part of the table. Not part of the
    /// vendor's API.
    public func undoLocalEdits(of features: [Feature]) async throws {
        let session = try await session()
        let own = features.compactMap { $0 as? ArcGISFeature }
        guard own.count == features.count, own.allSatisfy({ $0.table === self }) else {
            throw GeodatabaseError.invalidArgument(details: "The feature is not one of this table.")
        }
        let known = own.compactMap { feature -> (ArcGISFeature, LocalEdit.Key, LocalEdit)? in
            guard let id = feature.objectID else { return nil }
            let key = session.local.resolved(.init(layerID: layerID, objectID: id))
            return session.local.edit(key).map { (feature, key, $0) }
        }
        try await session.undoLocalEdits(of: known.map(\.1))
        guard let layer = definition else { return }
        for (feature, _, edit) in known { feature.goBack(to: edit.base, layer: layer) }
    }

    // MARK: Queries

    /// The features that parameters choose, with as much of each as is asked for.
    public func queryFeatures(
        using parameters: QueryParameters, queryFeatureFields: QueryFeatureFields
    ) async throws -> FeatureQueryResult {
        let layer = try await loadedSource().layer
        switch queryFeatureFields {
        case .loadAll: return try await query(parameters, outFields: nil)
        case .idsOnly: return try await query(parameters, outFields: Self.ids(of: layer))
        case .minimum:
            let shown = [layer.displayField, layer.typeIDField].compactMap(\.self).compactMap {
                layer.field(named: $0)?.name
            }
            let drawn = RendererFields.names(in: layer.drawingInfo).compactMap { layer.field(named: $0)?.name }
            let wanted = Set(Self.ids(of: layer) + shown + drawn)
            return try await query(parameters, outFields: layer.fields.map(\.name).filter(wanted.contains))
        }
    }

    private static func ids(of layer: LayerDefinition) -> [String] {
        [layer.objectIDField] + [layer.globalIDField].compactMap(\.self)
    }

    override func table(besideWithID id: Int) -> ArcGISFeatureTable? {
        id == layerID ? self : serviceGeodatabase?.table(withLayerID: id)
    }

    override var tablesBeside: [ArcGISFeatureTable] {
        [self] + (serviceGeodatabase?.connectedTables ?? []).filter { $0 !== self }
    }

    /// The features that are related to a feature, local edits included, with as much of each as is asked for.
    public func queryRelatedFeatures(
        to feature: ArcGISFeature, using parameters: RelatedQueryParameters, queryFeatureFields: QueryFeatureFields
    ) async throws -> [RelatedFeatureQueryResult] {
        try await relatedFeatures(to: feature, using: parameters, fields: queryFeatureFields)
    }

    /// Brings features to this device, for `manualCache`, page by page. Features with edits that were not applied stay as
    /// they are here. When it fails, what was here before is still here.
    /// - Returns: the features, at most 10,000 of them; all are found by queries.
    /// - Parameters:
    ///   - parameters: which features; nil for all.
    ///   - clearCache: whether what was brought before goes.
    ///   - outFields: the fields to return with the features; `["*"]` or none for all. The device always gets all.
    public func populateFromService(
        using parameters: QueryParameters?, clearCache: Bool, outFields: [String]
    ) async throws -> FeatureQueryResult {
        let session = try await session()
        let layer = try await loadedSource().layer
        var query = LayerQuery((parameters ?? QueryParameters()).values, layer: layer)
        query.condition = try LocalCondition.both(definitionExpression, query.condition)
        query.outSpatialReference = nil
        query.maxAllowableOffset = 0
        query.returnsGeometry = !layer.isTable
        query.isExact = true
        let page: FeaturePage
        if query.limit == nil, query.offset == 0, query.order.isEmpty, query.objectIDs.isEmpty {
            page = try await ServicePopulation(session: session, layer: layer, query: query)
                .run(clearsCache: clearCache)
        } else {
            page = try await session.remote.features(query, in: layer)
            try await session.local.cache(page.records, of: layer, clears: clearCache)
        }
        let population = Population(parameters: parameters?.values)
        state.withLock { state in
            state.populations = (clearCache ? [] : state.populations.filter { $0 != population }) + [population]
        }
        var shown = query
        if !outFields.isEmpty, !outFields.contains("*") {
            let wanted = Set(outFields.compactMap { layer.field(named: $0)?.name } + Self.ids(of: layer))
            shown.outFields = layer.fields.map(\.name).filter(wanted.contains)
        }
        return result(page.limited(to: shown.outFields), layer, shown)
    }

    /// Fetches what queries left out of features.
    public func loadOrRefreshFeatures(_ features: [ArcGISFeature]) async throws {
        let known = Set(try await completeAll(features).map(ObjectIdentifier.init))
        if let missing = features.first(where: { $0.objectID != nil && !known.contains(ObjectIdentifier($0)) }) {
            throw GeodatabaseError.itemNotFound(
                details: "The feature \(missing.objectID ?? 0) does not exist any more.")
        }
    }

    /// Fetches the attributes and the geometry that a query left out.
    func complete(_ feature: ArcGISFeature) async throws {
        let source = try await loadedSource()
        guard let id = feature.objectID else { return }
        var query = LayerQuery()
        query.objectIDs = [id]
        query.isExact = true
        query.returnsGeometry = !source.layer.isTable
        let page = try await source.records(query, mode: featureRequestMode)
        guard let record = page.records.first else {
            throw GeodatabaseError.itemNotFound(details: "The feature \(id) does not exist any more.")
        }
        feature.complete(with: record, layer: source.layer)
    }
}

extension FeaturePage {
    /// The same rows with some of their fields; all for nil.
    fileprivate func limited(to fields: [String]?) -> FeaturePage {
        guard let fields else { return self }
        let names = Set(fields)
        return FeaturePage(
            records: records.map { record in
                var record = record
                record.attributes = record.attributes.filter { names.contains($0.key) }
                return record
            }, exceededTransferLimit: exceededTransferLimit)
    }
}
