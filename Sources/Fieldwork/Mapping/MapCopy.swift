import FieldworkGeometry
import Synchronization

/// One copying of layers and tables: what belonged together in the original belongs together in the copy. It is used by
/// one caller, from the first to the last object of a copy.
final class MapCopy {
    private var geodatabases: [ObjectIdentifier: ServiceGeodatabase] = [:]
    private var tables: [ObjectIdentifier: FeatureTable] = [:]

    func layer(_ original: Layer) -> Layer { type(of: original).init(copying: original, self) }

    /// Tables of one service share it in the copy.
    func geodatabase(_ original: ServiceGeodatabase) -> ServiceGeodatabase {
        if let known = geodatabases[ObjectIdentifier(original)] { return known }
        let copy = original.copy()
        geodatabases[ObjectIdentifier(original)] = copy
        return copy
    }

    func table(_ original: FeatureTable) -> FeatureTable {
        if let known = tables[ObjectIdentifier(original)] { return known }
        let copy: FeatureTable
        switch original {
        case let table as ServiceFeatureTable: copy = ServiceFeatureTable(copying: table, self)
        case let table as GeodatabaseFeatureTable:
            // A file that nobody holds any more can't be opened by its tables.
            guard let copied = GeodatabaseFeatureTable(copying: table) else { return original }
            copy = copied
        default: return original
        }
        copy.takeSettings(of: original)
        tables[ObjectIdentifier(original)] = copy
        return copy
    }
}

extension FeatureTable {
    /// Takes over what an app or a web map says of a table.
    fileprivate func takeSettings(of original: FeatureTable) {
        let known = original.state.withLock { $0 }
        let (popup, form) = (known.popupDefinition?.copy(), known.formDefinition?.copy())
        state.withLock { state in
            state.displayName = known.displayName
            state.requestMode = known.requestMode
            state.definitionExpression = known.definitionExpression
            state.popupDefinition = popup
            state.popupsAreEnabled = known.popupsAreEnabled
            state.formDefinition = form
            state.entry = known.entry
            state.isReadOnly = known.isReadOnly
            state.timeZone = known.timeZone
        }
    }
}

extension GeodatabaseFeatureTable {
    /// Another table object over the same rows; nil when the geodatabase is gone.
    convenience init?(copying original: GeodatabaseFeatureTable) {
        guard let geodatabase = original.geodatabase,
            let source = original.state.withLock({ $0.source }) as? GeodatabaseTableSource
        else { return nil }
        self.init(geodatabase: geodatabase, layer: source.layer, session: source.session)
    }
}

extension FeatureLayer {
    /// Takes over what an app or a web map says of a layer. What is selected and hidden is of the moment.
    func takeContent(of original: FeatureLayer) {
        let known = original.content.withLock { $0 }
        let (popup, form) = (known.popupDefinition?.copy(), known.formDefinition?.copy())
        let labels = known.labelDefinitions.map { $0.map { $0.copy() } }
        content.withLock { content in
            content.definitionExpression = known.definitionExpression
            content.renderer = known.hasOwnRenderer ? known.renderer : nil
            content.hasOwnRenderer = known.hasOwnRenderer
            content.displayFilters = known.displayFilters
            content.labelsAreEnabled = known.labelsAreEnabled
            content.labelDefinitions = labels
            content.popupsAreEnabled = known.popupsAreEnabled
            content.popupDefinition = popup
            content.formDefinition = form
            content.scalesSymbols = known.scalesSymbols
            content.renderingMode = known.renderingMode
            content.timeOffset = known.timeOffset
            content.isTimeFilteringEnabled = known.isTimeFilteringEnabled
        }
        refreshInterval = known.refresh.interval
    }
}

extension PopupDefinition {
    fileprivate func copy() -> PopupDefinition { PopupDefinition(json.objectValue ?? JSONObject()) }
}

extension FeatureFormDefinition {
    fileprivate func copy() -> FeatureFormDefinition { FeatureFormDefinition(json.objectValue ?? JSONObject()) }
}

extension LabelDefinition {
    fileprivate func copy() -> LabelDefinition { LabelDefinition(json.objectValue ?? JSONObject()) }
}
