public import FieldworkGeometry
import FieldworkREST
public import Foundation
import Synchronization

/// How a query changes the selection.
public enum SelectionMode: Sendable {
    /// The features join the selection, become it, or leave it.
    case add, new, subtract
}

/// A layer that shows the features of a table, and in which features are selected.
///
/// What changes is behind locks.
public final class FeatureLayer: Layer, PopupSource, @unchecked Sendable {
    struct Content: Sendable {
        var definitionExpression = ""
        var renderer: Renderer?
        /// Whether the renderer was set, and not taken from the service.
        var hasOwnRenderer = false
        var displayFilters: DisplayFilterDefinition?
        var selection: [ArcGISFeature] = []
        var hidden: Set<Int64> = []
        var labelsAreEnabled = false
        /// nil for the service's.
        var labelDefinitions: [LabelDefinition]?
        /// The service's, as objects that stay the same.
        var serviceLabels: [LabelDefinition] = []
        var popupsAreEnabled = true
        var popupDefinition: PopupDefinition?
        var formDefinition: FeatureFormDefinition?
        /// nil for what the service says.
        var scalesSymbols: Bool?
        var renderingMode = FeatureRenderingMode.automatic
        var timeOffset: TimeValue?
        var isTimeFilteringEnabled = true
        var refresh = LayerRefresh()
    }

    /// When features were brought anew last, by the refresh interval or `refresh`. Not part of the vendor's API.
    @Streamed public internal(set) var refreshDate: Date?
    let table: FeatureTable
    let content = Mutex(Content())

    /// A layer of a table's features.
    public init(featureTable: FeatureTable) {
        table = featureTable
        super.init()
        featureTable.state.withLock { $0.layer = self }
    }

    /// The features of the first layer of a feature service's item.
    public convenience init(item: any Item) { self.init(item: item, layerID: 0) }

    /// The features of a layer of a feature service's item. Loading throws `CommonError.invalidArgument` for an item of
    /// another kind.
    public convenience init(item: any Item, layerID: Int) {
        self.init(featureTable: ServiceFeatureTable(item: item, layerID: layerID))
    }

    /// The item that the table comes from; nil for others.
    public override var item: (any Item)? { (table as? ServiceFeatureTable)?.item }

    required init(copying original: Layer, _ context: MapCopy) {
        let source = original as? FeatureLayer
        table = source.map { context.table($0.table) } ?? FeatureTable()
        super.init(copying: original, context)
        if let source { takeContent(of: source) }
        table.state.withLock { $0.layer = self }
    }

    deinit { content.withLock { $0.refresh.timer }?.cancel() }

    /// The table whose features are shown.
    public var featureTable: FeatureTable? { table }

    override func loadContent(retries: Bool) async throws {
        try await (retries ? table.retryLoad() : table.load())
        guard let layer = table.definition else { return }
        shared.withLock { shared in
            if !shared.hasOwnMinScale { shared.minScale = layer.minScale > 0 ? layer.minScale : nil }
            if !shared.hasOwnMaxScale { shared.maxScale = layer.maxScale > 0 ? layer.maxScale : nil }
        }
        let drawn = layer.drawingInfo?["renderer"].flatMap { Renderer.make($0) }
        content.withLock { $0.renderer = $0.renderer ?? drawn }
    }

    override var defaultName: String { table.displayName }

    /// What the features cover, as the service said when the table was loaded.
    public override var fullExtent: Envelope? { table.extent }
    /// The reference of the features.
    public override var spatialReference: SpatialReference? { table.spatialReference }

    // MARK: Looks

    /// How features are drawn; after the layer is loaded the service's, unless another was set.
    public var renderer: Renderer? {
        get { content.withLock { $0.renderer } }
        set {
            content.withLock { content in
                content.renderer = newValue
                content.hasOwnRenderer = newValue != nil
            }
        }
    }

    /// Goes back to the service's renderer.
    public func resetRenderer() {
        let drawn = table.definition?.drawingInfo?["renderer"].flatMap { Renderer.make($0) }
        content.withLock { content in
            content.renderer = drawn
            content.hasOwnRenderer = false
        }
    }

    /// Conditions for what is drawn and identified; queries find all features.
    public var displayFilterDefinition: DisplayFilterDefinition? {
        get { content.withLock { $0.displayFilters } }
        set { content.withLock { $0.displayFilters = newValue } }
    }

    // MARK: Web maps

    /// Takes over what a web map says of features; the table says the same of them.
    func takeContent(_ json: JSONObject, _ entry: LayerEntry) {
        let popup = entry.popup?.objectValue.map(PopupDefinition.init)
        let form = entry.form?.objectValue.map(FeatureFormDefinition.init)
        content.withLock { content in
            content.definitionExpression = entry.definitionExpression
            content.renderer = entry.renderer.flatMap { Renderer.make($0) }
            content.hasOwnRenderer = content.renderer != nil
            content.labelsAreEnabled = entry.showsLabels
            content.labelDefinitions = entry.labels.map { $0.compactMap(\.objectValue).map(LabelDefinition.init) }
            content.popupsAreEnabled = !entry.disablesPopup
            content.popupDefinition = popup
            content.formDefinition = form
            content.displayFilters = DisplayFilterDefinition.make(json["layerDefinition"])
            content.scalesSymbols = entry.scalesSymbols
        }
        refreshInterval = entry.refreshMinutes.map { $0 * 60 }
        table.state.withLock { state in
            state.popupDefinition = popup
            state.formDefinition = form
            state.popupsAreEnabled = !entry.disablesPopup
        }
    }

    func writeContent(to entry: inout LayerEntry) {
        let content = content.withLock { $0 }
        entry.definitionExpression = content.definitionExpression
        // What comes from the service is not the map's to say.
        if content.hasOwnRenderer {
            entry.renderer = content.renderer?.json
        } else if entry.renderer.flatMap({ Renderer.make($0) }) != nil {
            entry.renderer = nil
        }
        entry.showsLabels = content.labelsAreEnabled
        entry.labels = content.labelDefinitions.map { $0.map(\.json) }
        entry.disablesPopup = !content.popupsAreEnabled
        entry.popup = content.popupDefinition?.json
        entry.form = content.formDefinition?.json
        entry.scalesSymbols = content.scalesSymbols
        entry.refreshMinutes = content.refresh.interval.map { $0 / 60 }
    }

    /// A condition for what is shown and selected; empty for all.
    public var definitionExpression: String {
        get { content.withLock { $0.definitionExpression } }
        set { content.withLock { $0.definitionExpression = newValue } }
    }

    /// Whether features have labels.
    public var labelsAreEnabled: Bool {
        get { content.withLock { $0.labelsAreEnabled } }
        set { content.withLock { $0.labelsAreEnabled = newValue } }
    }

    /// What labels say and how they look: those of the web map or of the app, else the service's.
    public var labelDefinitions: [LabelDefinition] {
        let drawn = table.definition?.drawingInfo?["labelingInfo"]?.arrayValue?.compactMap(\.objectValue) ?? []
        return content.withLock { content in
            if let own = content.labelDefinitions { return own }
            if content.serviceLabels.count != drawn.count { content.serviceLabels = drawn.map(LabelDefinition.init) }
            return content.serviceLabels
        }
    }

    /// Adds a class of labels.
    public func addLabelDefinition(_ definition: LabelDefinition) { addLabelDefinitions([definition]) }

    /// Adds classes of labels.
    public func addLabelDefinitions<S: Sequence>(_ definitions: S) where S.Element: LabelDefinition {
        let added: [LabelDefinition] = definitions.map { $0 }
        let all = labelDefinitions + added
        content.withLock { $0.labelDefinitions = all }
    }

    /// Takes a class of labels away.
    public func removeLabelDefinition(_ definition: LabelDefinition) {
        let rest = labelDefinitions.filter { $0 !== definition }
        content.withLock { $0.labelDefinitions = rest }
    }

    /// Takes all labels away, the service's too.
    public func removeAllLabelDefinitions() { content.withLock { $0.labelDefinitions = [] } }

    /// Whether features have pop-ups.
    public var popupsAreEnabled: Bool {
        get { content.withLock { $0.popupsAreEnabled } }
        set { content.withLock { $0.popupsAreEnabled = newValue } }
    }

    /// What the pop-ups of the layer's features are made of: as set here, else the table's.
    public var popupDefinition: PopupDefinition? {
        get { content.withLock { $0.popupDefinition } ?? table.popupDefinition }
        set { content.withLock { $0.popupDefinition = newValue } }
    }

    /// The form of the layer's features: as set here, else the table's.
    public var featureFormDefinition: FeatureFormDefinition? {
        get { content.withLock { $0.formDefinition } ?? table.featureFormDefinition }
        set { content.withLock { $0.formDefinition = newValue } }
    }

    /// Shows or hides one feature.
    public func setVisible(_ visible: Bool, for feature: Feature) {
        guard let id = (feature as? ArcGISFeature)?.objectID else { return }
        content.withLock { content in
            if visible { content.hidden.remove(id) } else { content.hidden.insert(id) }
        }
    }

    /// Shows all features again.
    public func resetFeaturesVisible() { content.withLock { $0.hidden = [] } }

    /// Whether a feature is shown.
    func isShown(_ feature: Feature) -> Bool {
        guard let id = (feature as? ArcGISFeature)?.objectID else { return true }
        return !content.withLock { $0.hidden.contains(id) }
    }

    // MARK: Selection

    /// The features that are selected, as they were handed over.
    public var selectedFeatures: FeatureQueryResult {
        get async throws {
            try Task.checkCancellation()
            return result(content.withLock { $0.selection })
        }
    }

    /// Adds a feature to the selection.
    public func selectFeature(_ feature: Feature) { selectFeatures([feature]) }

    /// Adds features to the selection.
    public func selectFeatures<S: Sequence>(_ features: S) where S.Element: Feature {
        let added = features.compactMap { $0 as? ArcGISFeature }.filter { $0.table === table }
        content.withLock { content in
            for feature in added {
                content.selection.removeAll { Self.areSame($0, feature) }
                content.selection.append(feature)
            }
        }
    }

    /// Queries features and changes the selection by them. The layer's condition holds as well.
    @discardableResult
    public func selectFeatures(
        withQuery parameters: QueryParameters, mode: SelectionMode
    ) async throws -> FeatureQueryResult {
        let found = try await table.queryFeatures(using: try narrowed(parameters))
        switch mode {
        case .add: selectFeatures(found.features())
        case .subtract: unselectFeatures(found.features())
        case .new:
            let new = found.features().compactMap { $0 as? ArcGISFeature }
            content.withLock { $0.selection = new }
        }
        return found
    }

    /// Takes a feature out of the selection.
    public func unselectFeature(_ feature: Feature) { unselectFeatures([feature]) }

    /// Takes features out of the selection.
    public func unselectFeatures<S: Sequence>(_ features: S) where S.Element: Feature {
        let removed = features.compactMap { $0 as? ArcGISFeature }
        content.withLock { content in
            content.selection.removeAll { selected in removed.contains { Self.areSame($0, selected) } }
        }
    }

    /// Selects nothing.
    public func clearSelection() { content.withLock { $0.selection = [] } }

    private static func areSame(_ one: ArcGISFeature, _ other: ArcGISFeature) -> Bool {
        if one === other { return true }
        guard let id = one.objectID else { return false }
        return id == other.objectID
    }

    func result(_ features: [Feature]) -> FeatureQueryResult {
        FeatureQueryResult(
            features: features, fields: table.fields, spatialReference: table.spatialReference,
            geometryType: table.geometryType)
    }

    /// The parameters with the layer's condition added.
    func narrowed(_ parameters: QueryParameters) throws -> QueryParameters {
        let narrowed = QueryParameters()
        var values = parameters.values
        values.whereClause = try LocalCondition.both(definitionExpression, values.whereClause)
        values.timeExtent = values.timeExtent.flatMap(ownTime)
        narrowed.replaceValues(values)
        return narrowed
    }
}
