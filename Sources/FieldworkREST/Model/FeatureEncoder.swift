/// Takes the features of an answer value by value and turns them into bytes. A store drives it from its cursor, so that
/// nothing stands between a row and the answer. Calls come in this order: `begin`, then for each feature
/// `beginFeature`, one call a column in the order of the answer's fields, the geometry if asked for, `endFeature`; `end`.
/// In rows of statistics the geometries of a group take the place of the geometry, one call each.
package protocol FeatureEncoder: Sendable {
    /// What has been written and not been taken yet. The driver takes it when it is large enough and clears it.
    var bytes: [UInt8] { get set }

    mutating func begin()
    mutating func beginFeature()
    mutating func null(column: Int)
    mutating func integer(_ value: Int64, column: Int)
    mutating func real(_ value: Double, column: Int)
    /// UTF-8 text.
    mutating func text(_ value: UnsafeRawBufferPointer, column: Int)
    mutating func data(_ value: UnsafeRawBufferPointer, column: Int)
    /// A GeoPackage geometry blob in the layer's spatial reference; nil for a feature without geometry.
    mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws
    /// What the geometries of a group make together, likewise; nil for a group without geometries.
    mutating func aggregate(_ blob: UnsafeRawBufferPointer?, number: Int) throws
    mutating func endFeature()
    mutating func end(exceededTransferLimit: Bool)
}

extension FeatureEncoder {
    /// Most answers have no place for them, and are never asked for any.
    package mutating func aggregate(_ blob: UnsafeRawBufferPointer?, number: Int) throws {}
}
