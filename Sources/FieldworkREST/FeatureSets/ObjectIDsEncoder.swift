import FieldworkGeometry

/// Writes the answer of `returnIdsOnly`: it is not cut by the record count, so it goes out piece by piece, as
/// features do. Its rows have one column, the object id.
package struct ObjectIDsEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let objectIDField: String
    private var isFirst = true

    package init(layer: LayerDefinition) { objectIDField = layer.objectIDField }

    package mutating func begin() {
        bytes.append(contentsOf: #"{"objectIdFieldName":"#.utf8)
        JSONBytes.append(objectIDField, to: &bytes)
        bytes.append(contentsOf: #","objectIds":["#.utf8)
    }

    package mutating func beginFeature() {
        if isFirst { isFirst = false } else { bytes.append(0x2C) }
    }

    package mutating func integer(_ value: Int64, column: Int) { JSONBytes.append(value, to: &bytes) }
    package mutating func endFeature() {}
    package mutating func end(exceededTransferLimit: Bool) { bytes.append(contentsOf: "]}".utf8) }

    // An object id is an integer that is never null.
    package mutating func null(column: Int) {}
    package mutating func real(_ value: Double, column: Int) {}
    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {}
    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {}
    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) {}
}
