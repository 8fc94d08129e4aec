import FieldworkArcade
public import FieldworkGeometry
import FieldworkREST
import FieldworkStore
package import Foundation
import Synchronization

/// Rows with the same fields, and with geometries of one kind or none.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public class FeatureTable: Loadable, PopupSource, @unchecked Sendable {
    struct State: Sendable {
        var source: (any TableSource)?
        var displayName: String?
        weak var layer: Layer?
        var requestMode = FeatureRequestMode.onInteractionCache
        var definitionExpression = ""
        var popupDefinition: PopupDefinition?
        var popupsAreEnabled = true
        var formDefinition: FeatureFormDefinition?
        /// The table's entry in the web map that it was read from.
        var entry: JSONObject?
        /// Whether the map that the table is part of lets nobody edit it.
        var isReadOnly = false
        /// The zone in which a map shows dates; nil for the device's own.
        var timeZone: TimeZone?
        /// What the map that the table is part of wants kept when features are added, and when records of theirs change.
        var creationRules: [ContainingFeatureRule] = []
        var recordRules: [NewestRecordRule] = []
        /// What of a service was brought to this device since the cache was cleared last.
        var populations: [Population] = []
        /// Made when it is asked for first.
        var contingentValues: ContingentValuesDefinition?
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    let loading: LoadOnce
    let state: Mutex<State>

    init(source: (any TableSource)? = nil) {
        state = Mutex(State(source: source))
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Loads what the table is.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            if state.withLock({ $0.source == nil }) {
                let source = try await openSource()
                state.withLock { $0.source = source }
            }
        }
    }

    /// Finds the rows; for subclasses that are not made with them.
    func openSource() async throws -> any TableSource {
        throw CommonError.illegalState(details: "The table has no rows to load.")
    }

    func loadedSource() async throws -> any TableSource {
        try await load()
        guard let source = state.withLock({ $0.source }) else {
            throw MappingError.notLoaded(details: "The table is not loaded.")
        }
        return source
    }

    /// Where the features' attachments are; nil for a table without.
    var attachmentSource: (any AttachmentSource)? {
        definition?.hasAttachments == true ? state.withLock { $0.source } as? any AttachmentSource : nil
    }

    var definition: LayerDefinition? { state.withLock { $0.source?.layer } }

    // MARK: Description

    /// The name in the data source; empty before the table is loaded.
    public var tableName: String { definition?.name ?? "" }

    /// The name that people see.
    public var displayName: String {
        get { state.withLock { $0.displayName ?? $0.source?.layer.name ?? "" } }
        set { state.withLock { $0.displayName = newValue } }
    }

    /// The columns; none before the table is loaded.
    public var fields: [Field] { definition?.fields.map(Field.init) ?? [] }

    /// The kind of the geometries (`Point.self`…); nil for a table without.
    public var geometryType: Geometry.Type? { definition?.geometryType?.metatype }

    /// Whether rows have geometries.
    public var hasGeometry: Bool { definition?.geometryType != nil }

    /// What the rows cover, as the data source said it when the table was loaded.
    public var extent: Envelope? { definition?.extent }

    /// The reference of the geometries.
    public var spatialReference: SpatialReference? { definition?.spatialReference }

    /// How many features are on this device: of a geodatabase's table all, of a service's those that were brought here and
    /// those with edits that were not applied. 0 before the table is loaded.
    public var numberOfFeatures: Int { state.withLock { $0.source }?.knownCount ?? 0 }

    /// Why what holds the rows takes no edits at all; nil where it does.
    var bar: String? { nil }

    /// Whether any edit is allowed.
    public var isEditable: Bool { allows(.create) || allows(.update) || allows(.delete) }

    /// Whether features may be added.
    public var canAdd: Bool { allows(.create) }

    /// The layer that shows the table.
    public var layer: Layer? { state.withLock { $0.layer } }

    /// The field of a name, without regard to case.
    public func field(named name: String) -> Field? { definition?.field(named: name).map(Field.init) }

    /// Whether a feature may be changed: the table allows it, and where the service keeps features for those who created
    /// them, the feature is one of this device or open to all.
    public func canUpdate(_ feature: Feature) -> Bool { allows(.update) && isOpen(feature, to: .update) }

    /// Whether a feature may be deleted, like `canUpdate`.
    public func canDelete(_ feature: Feature) -> Bool { allows(.delete) && isOpen(feature, to: .delete) }

    /// Whether the feature belongs to who has signed in, or the service lets others do it as well.
    private func isOpen(_ feature: Feature, to action: OwnershipAccess.Action) -> Bool {
        guard let id = (feature as? ArcGISFeature)?.objectID, id >= 0, let layer = definition,
            let access = layer.ownershipAccess, layer.editFields?.creatorField != nil
        else { return true }
        let user = serviceAddress.flatMap { ArcGISEnvironment.authenticationManager.username(for: $0) }
        if let user, let field = layer.editFields?.creatorField,
            let creator = feature.attributes[field] as? String, Self.isSame(creator, user)
        {
            return true
        }
        return access.allows(action, by: user)
    }

    /// Where the table's service is; for subclasses.
    var serviceAddress: URL? { nil }

    /// Names differ in no letter's case, and a realm may follow the one that a service keeps.
    private static func isSame(_ creator: String, _ user: String) -> Bool {
        let creator = creator.lowercased()
        let user = user.lowercased()
        return creator == user || creator.hasPrefix("\(user)@")
    }

    /// Whether a feature's geometry may be changed.
    public func canEditGeometry(of feature: Feature) -> Bool {
        canUpdate(feature) && hasGeometry && definition?.allowsGeometryUpdates == true
    }

    /// "Editing" alone stands for all three kinds of edits.
    func allows(_ capability: Capability) -> Bool {
        guard let capabilities = definition?.capabilities else { return false }
        if [.create, .update, .delete].contains(capability), bar != nil || state.withLock({ $0.isReadOnly }) {
            return false
        }
        if capabilities.contains(capability) { return true }
        return capabilities.contains(.editing) && capabilities.isDisjoint(with: [.create, .update, .delete])
    }

    // MARK: Pop-ups and forms

    /// The form of the table's features; nil where nobody has made one.
    public var featureFormDefinition: FeatureFormDefinition? {
        get { state.withLock { $0.formDefinition } }
        set { state.withLock { $0.formDefinition = newValue } }
    }

    /// What the table's pop-ups are made of; nil where nobody has said.
    public var popupDefinition: PopupDefinition? {
        get { state.withLock { $0.popupDefinition } }
        set { state.withLock { $0.popupDefinition = newValue } }
    }

    /// Whether the table's features have pop-ups. They are shown when there is a definition as well.
    public var popupIsEnabled: Bool {
        get { state.withLock { $0.popupsAreEnabled } }
        set { state.withLock { $0.popupsAreEnabled = newValue } }
    }

    /// The same as `popupIsEnabled`, by the name that layers have for it.
    public var popupsAreEnabled: Bool {
        get { popupIsEnabled }
        set { popupIsEnabled = newValue }
    }

    /// The zone in which dates of the table are shown.
    package var timeZone: TimeZone { state.withLock { $0.timeZone } ?? .current }

    // MARK: New features

    /// A new feature, which is not part of the table before it is added.
    public func makeFeature(attributes: [String: any Sendable] = [:], geometry: Geometry? = nil) -> Feature {
        ArcGISFeature(table: self, attributes: attributes, geometry: geometry)
    }

    /// A new feature with the attributes of a type's first template.
    public func makeFeature(type: FeatureType, geometry: Geometry? = nil) -> Feature {
        var attributes = type.templates.first?.prototypeAttributes ?? [:]
        if let field = definition?.typeIDField { attributes[field] = type.id }
        return makeFeature(attributes: attributes, geometry: geometry)
    }

    /// A new feature with the attributes of a template.
    public func makeFeature(template: FeatureTemplate, geometry: Geometry? = nil) -> Feature {
        makeFeature(attributes: template.prototypeAttributes, geometry: geometry)
    }

    // MARK: Edits

    /// Adds a feature made by this table. It is on this device's disk when the call returns, with a temporary negative
    /// object id until the service gives its own. One with the global id of a feature that was deleted here, of which the
    /// service has not been told, is that feature again, with its object id.
    public func add(_ feature: Feature) async throws { try await add([feature]) }

    /// Adds features, all or none.
    public func add<S: Sequence>(_ features: S) async throws where S.Element: Feature {
        let own = try own(Array(features))
        let source = try await loadedSource()
        guard canAdd else { throw notAllowed("add") }
        try await source.add(own, mode: state.withLock { $0.requestMode })
    }

    /// Keeps a feature's present attributes and geometry. They are on this device's disk when the call returns.
    public func update(_ feature: Feature) async throws { try await update([feature]) }

    /// Keeps the present state of features, all or none.
    public func update<S: Sequence>(_ features: S) async throws where S.Element: Feature {
        let own = try own(Array(features))
        let source = try await loadedSource()
        if let refused = own.first(where: { !canUpdate($0) && ($0.objectID ?? 0) >= 0 }) {
            throw notAllowed("update", refused)
        }
        try await source.update(own)
    }

    /// Deletes a feature on this device; the service is told by `applyEdits`.
    public func delete(_ feature: Feature) async throws { try await delete([feature]) }

    /// Deletes features, all or none.
    public func delete<S: Sequence>(_ features: S) async throws where S.Element: Feature {
        let own = try own(Array(features))
        let source = try await loadedSource()
        if let refused = own.first(where: { !canDelete($0) && ($0.objectID ?? 0) >= 0 }) {
            throw notAllowed("delete", refused)
        }
        try await source.delete(own)
    }

    private func own(_ features: [Feature]) throws -> [ArcGISFeature] {
        try features.map { feature in
            guard let own = feature as? ArcGISFeature, feature.table === self else {
                throw GeodatabaseError.invalidArgument(details: "The feature is not one of this table.")
            }
            return own
        }
    }

    private func notAllowed(_ what: String, _ feature: Feature? = nil) -> GeodatabaseError {
        .tableNotEditable(
            details: bar.map { "The table \(displayName) takes no edits: \($0)." }
                ?? "The table \(displayName) does not allow to \(what) features.")
    }

    // MARK: Queries

    /// The features that parameters choose, local edits included.
    public func queryFeatures(using parameters: QueryParameters) async throws -> FeatureQueryResult {
        try await query(parameters, outFields: nil)
    }

    /// The number of features that parameters choose, local edits included.
    public func queryFeatureCount(using parameters: QueryParameters) async throws -> Int {
        let (source, query, mode) = try await prepared(parameters, outFields: nil)
        return try await source.count(query, mode: mode)
    }

    /// The extent of the features that parameters choose, local edits included; empty when there are none.
    public func queryExtent(using parameters: QueryParameters) async throws -> Envelope {
        let (source, query, mode) = try await prepared(parameters, outFields: nil)
        let none = Envelope(
            xMin: .nan, yMin: .nan, xMax: .nan, yMax: .nan,
            spatialReference: query.outSpatialReference ?? source.layer.spatialReference)
        return try await source.extent(query, mode: mode) ?? none
    }

    /// Rows of statistics over the features that parameters choose, computed by the database or the service that has them; nil where neither
    /// can.
    func statistics(_ statistics: ArcadeStatistics, _ parameters: QueryParameters) async throws -> [[ArcadeValue]]? {
        let (source, query, mode) = try await prepared(parameters, outFields: nil)
        return try await source.statistics(query, statistics, mode: mode)?.map(statistics.values)
    }

    /// - Parameter outFields: nil for all.
    func query(_ parameters: QueryParameters, outFields: [String]?) async throws -> FeatureQueryResult {
        let (source, query, mode) = try await prepared(parameters, outFields: outFields)
        let page = try await source.records(query, mode: mode)
        return result(page, source.layer, query)
    }

    func result(_ page: FeaturePage, _ layer: LayerDefinition, _ query: LayerQuery) -> FeatureQueryResult {
        let isComplete =
            query.outFields == nil && query.returnsGeometry != layer.isTable && query.maxAllowableOffset == 0
            && (query.outSpatialReference == nil || query.outSpatialReference == layer.spatialReference)
        let fields = ClientFields(layer)
        return FeatureQueryResult(
            features: page.records.map {
                ArcGISFeature(table: self, reading: $0, fields: fields, isComplete: isComplete)
            },
            fields: layer.fields.map(Field.init), spatialReference: query.outSpatialReference ?? layer.spatialReference,
            geometryType: layer.geometryType?.metatype, isTransferLimitExceeded: page.exceededTransferLimit)
    }

    private func prepared(
        _ parameters: QueryParameters, outFields: [String]?
    ) async throws -> (any TableSource, LayerQuery, FeatureRequestMode) {
        let source = try await loadedSource()
        let (mode, expression) = state.withLock { ($0.requestMode, $0.definitionExpression) }
        var query = LayerQuery(parameters.values, layer: source.layer, outFields: outFields)
        query.condition = try LocalCondition.both(expression, query.condition)
        return (source, query, mode)
    }
}
