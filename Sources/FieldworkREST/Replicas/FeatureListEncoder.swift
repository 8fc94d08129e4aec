import FieldworkGeometry

/// Writes features as the protocol's JSON without anything around them, separated by commas: for documents that hold many
/// lists of them.
package struct FeatureListEncoder: FeatureEncoder {
    private var features: JSONFeatureEncoder
    private var continues: Bool

    /// - Parameter continues: whether features of the same list have been written before.
    package init(layer: LayerDefinition, query: FeatureQuery, continues: Bool) throws(ServiceError) {
        features = try JSONFeatureEncoder(layer: layer, query: query)
        self.continues = continues
    }

    package var bytes: [UInt8] {
        get { features.bytes }
        set { features.bytes = newValue }
    }

    package mutating func begin() {}

    package mutating func beginFeature() {
        if continues { bytes.append(0x2C) }
        continues = false
        features.beginFeature()
    }

    package mutating func null(column: Int) { features.null(column: column) }
    package mutating func integer(_ value: Int64, column: Int) { features.integer(value, column: column) }
    package mutating func real(_ value: Double, column: Int) { features.real(value, column: column) }
    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) { features.text(value, column: column) }
    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) { features.data(value, column: column) }
    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws { try features.geometry(blob) }
    package mutating func endFeature() { features.endFeature() }
    package mutating func end(exceededTransferLimit: Bool) {}
}
