package import FieldworkArcade
import FieldworkGeometry
package import FieldworkREST

/// Gathers the values of a feature from a store's cursor, and gives what the expressions of the layer's looks make of them.
///
/// A class, since an encoder is copied and its interpreter is not. The cursor drives one encoder from one place at a time.
package final class FeatureExpressions: @unchecked Sendable {
    private let runner: DrawnExpressionRunner
    private let schema: ArcadeSchema
    private let reference: SpatialReference?
    private let needsGeometry: Bool
    /// The place in the schema of each column that is read.
    private let places: [Int?]
    private let empty: [ArcadeValue]
    private var values: [ArcadeValue]
    private var geometry: Geometry?

    /// - Parameters:
    ///   - schema: of the layer.
    ///   - columns: the names of the values, in the order in which they come.
    ///   - now: milliseconds since 1970.
    ///   - scale: the denominator of the map's scale.
    package init(
        _ expressions: DrawnExpressions, _ layer: LayerDefinition, _ schema: ArcadeSchema, columns: [String],
        now: Int64,
        scale: Double?
    ) {
        var context = ArcadeContext(profile: .visualization, now: Double(now))
        context.spatialReference = layer.spatialReference
        context.viewScale = scale
        runner = DrawnExpressionRunner(expressions, context)
        self.schema = schema
        reference = layer.spatialReference
        needsGeometry = expressions.needGeometry
        places = columns.map { schema.place(of: $0) }
        empty = [ArcadeValue](repeating: .null, count: schema.fields.count)
        values = empty
    }

    package func beginFeature() {
        values = empty
        geometry = nil
    }

    private func set(_ value: ArcadeValue, _ column: Int) {
        guard places.indices.contains(column), let place = places[column] else { return }
        values[place] = value
    }

    package func integer(_ value: Int64, column: Int) { set(.number(Double(value)), column) }
    package func real(_ value: Double, column: Int) { set(.number(value), column) }

    package func text(_ value: UnsafeRawBufferPointer, column: Int) {
        guard places.indices.contains(column), let place = places[column] else { return }
        values[place] = FeatureJSON.value(String(decoding: value, as: UTF8.self), ofType: schema.fields[place].type)
    }

    /// A GeoPackage geometry blob in the layer's reference. One that can't be read is drawn by nobody.
    package func geometry(_ blob: UnsafeRawBufferPointer?) {
        guard needsGeometry, let blob else { return }
        geometry = try? GeoPackageBinary.geometry(from: blob, spatialReference: reference)
    }

    /// What the feature carries.
    package func results() -> [(name: String, value: DrawnExpressions.Value)] {
        runner.values(ArcadeFeature(schema: schema, values: values, geometry: geometry))
    }
}
