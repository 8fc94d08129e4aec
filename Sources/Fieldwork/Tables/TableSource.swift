import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// Where a table's rows are: a service with its edits on this device; later a geodatabase.
protocol TableSource: Sendable {
    var layer: LayerDefinition { get }

    func add(_ features: [ArcGISFeature], mode: FeatureRequestMode) async throws
    func update(_ features: [ArcGISFeature]) async throws
    func delete(_ features: [ArcGISFeature]) async throws

    func records(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> FeaturePage
    func count(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> Int
    func extent(_ query: LayerQuery, mode: FeatureRequestMode) async throws -> Envelope?
    /// Rows of statistics over the rows that a query chooses, computed where the rows are; nil where that can't be done.
    func statistics(
        _ query: LayerQuery, _ statistics: ArcadeStatistics, mode: FeatureRequestMode
    ) async throws -> [[AttributeValue]]?
    /// How many rows are on this device, without waiting.
    var knownCount: Int { get }

    /// Fields whose values depend on each other.
    func fieldGroups() async throws -> [FieldGroupDefinition]

    /// The versions of a row that edits replaced, the newest first.
    func history(of record: FeatureRecord) async throws -> FeatureHistory
}

extension TableSource {
    func fieldGroups() async throws -> [FieldGroupDefinition] { layer.fieldGroups }

    func statistics(
        _ query: LayerQuery, _ statistics: ArcadeStatistics, mode: FeatureRequestMode
    ) async throws -> [[AttributeValue]]? { nil }
}

/// Where a service table's queries are answered.
public enum FeatureRequestMode: Sendable {
    /// Not chosen; like `onInteractionCache`.
    case undefined
    /// From the service; features that were handed over and not sent yet come from this device.
    case onInteractionCache
    /// From the service each time.
    case onInteractionNoCache
    /// From what `populateFromService` brought to this device.
    case manualCache
}
