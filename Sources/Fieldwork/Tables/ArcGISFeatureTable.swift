import FieldworkREST
import Synchronization

/// A table with what layers of services and geodatabases have: types, templates, ids, editor tracking.
///
/// It adds no state of its own to its parent's.
public class ArcGISFeatureTable: FeatureTable, @unchecked Sendable {
    /// The field groups and the combinations of their values that belong together: the same object each time. Load it
    /// before contingent values are asked for.
    public var contingentValuesDefinition: ContingentValuesDefinition {
        state.withLock { state in
            if let known = state.contingentValues { return known }
            let made = ContingentValuesDefinition { [weak self] in
                guard let self else { throw CommonError.illegalState(details: "The table is gone.") }
                let source = try await loadedSource()
                return .init(groups: try await source.fieldGroups(), layer: source.layer)
            }
            state.contingentValues = made
            return made
        }
    }

    /// The kinds of features.
    public var featureTypes: [FeatureType] {
        guard let layer = definition else { return [] }
        return layer.types.map { FeatureType($0, layer: layer) }
    }

    /// Templates outside of any type.
    public var featureTemplates: [FeatureTemplate] {
        guard let layer = definition else { return [] }
        return layer.templates.map { FeatureTemplate($0, layer: layer) }
    }

    /// The field that says a feature's type; empty when there are no types.
    public var typeIDField: String { definition?.typeIDField ?? "" }

    /// The field of the global id; empty when there is none.
    public var globalIDField: String { definition?.globalIDField ?? "" }

    /// The field of the object id; empty before the table is loaded.
    public var objectIDField: String { definition?.objectIDField ?? "" }

    /// Whether features may have attachments.
    public var hasAttachments: Bool { attachmentSource != nil }

    /// Whether geometries have measures.
    public var hasM: Bool { definition?.hasM ?? false }

    /// Whether geometries have heights.
    public var hasZ: Bool { definition?.hasZ ?? false }

    /// What the layer says about itself; nil before the table is loaded.
    public var layerInfo: ArcGISFeatureLayerInfo? { definition.map(ArcGISFeatureLayerInfo.init) }

    /// The id in the source service.
    public var serviceLayerID: Int64 { Int64(definition?.id ?? -1) }

    /// The fields that the service fills with who and when.
    public var editFieldsInfo: EditFieldsInfo? { definition?.editFields.map(EditFieldsInfo.init) }

    /// A condition that holds for all that is queried; empty for none.
    public var definitionExpression: String {
        get { state.withLock { $0.definitionExpression } }
        set { state.withLock { $0.definitionExpression = newValue } }
    }

    /// The table on the other side of a relationship. nil when it is not at hand.
    func relatedTable(of info: RelationshipInfo) -> ArcGISFeatureTable? { table(besideWithID: info.relatedTableID) }

    /// A table of the same service or geodatabase; for subclasses. nil when it is not at hand.
    func table(besideWithID layerID: Int) -> ArcGISFeatureTable? { nil }

    /// The tables of the same service or geodatabase that are at hand, this one among them.
    var tablesBeside: [ArcGISFeatureTable] { [self] }
}
