import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// The attribute rules of a layer with what they are run with for the edits of one batch.
struct RuledLayer {
    private let layer: StoredLayer
    private let rules: LayerAttributeRules
    private let batch: EditBatch
    private let place: AttributeRulePlace
    private let data: AttributeRuleData

    /// nil for a layer without rules.
    init?(
        _ layer: StoredLayer, _ rules: LayerAttributeRules?, _ catalogue: ServiceCatalogue?,
        _ connection: StoreConnection, _ batch: EditBatch, _ place: AttributeRulePlace
    ) {
        guard let rules, let catalogue else { return nil }
        self.layer = layer
        self.rules = rules
        self.batch = batch
        self.place = place
        data = AttributeRuleData(layer, catalogue, connection, now: Double(batch.moment.milliseconds))
    }

    func concerns(_ event: AttributeRuleDefinition.Event) -> Bool { rules.concerns(event) }

    /// Whether other rows are read, which those of a bulk load can't be.
    var readsData: Bool { rules.readsData }

    /// The rules for one edit; nil where none concerns it.
    /// - Parameters:
    ///   - geometry: the bytes of what the feature is going to have.
    ///   - globalID: the id that a new feature is going to have.
    ///   - original: the values that it had, by column, and the bytes of its geometry; nil for a new one.
    func run(
        _ event: AttributeRuleDefinition.Event, geometry: [UInt8]?, globalID: UUID? = nil,
        original: (values: [Int: AttributeValue], geometry: [UInt8]?)? = nil
    ) throws -> AttributeRuleRun? {
        guard concerns(event) else { return nil }
        // A script may take long; that of each row counts for the request.
        try WorkAllowance.check()
        let before = try original.map { original in
            AttributeRuleRun.feature(
                layer.columns.indices.map { original.values[$0] ?? .null }, layer, try read(original.geometry),
                rules.arcadeLayer)
        }
        let subject = AttributeRuleRun.Subject(
            event: event, geometry: try read(geometry), original: before, globalID: globalID)
        return AttributeRuleRun(subject, of: layer, rules: rules, batch: batch, place: place, data: data)
    }

    private func read(_ blob: [UInt8]?) throws -> Geometry? {
        guard let blob else { return nil }
        do {
            return try blob.withUnsafeBytes {
                try GeoPackageBinary.geometry(from: $0, spatialReference: layer.definition.spatialReference)
            }
        } catch {
            throw StoreError(.corrupt, "\(layer.definition.name) has a geometry that can't be read: \(error).")
        }
    }
}
