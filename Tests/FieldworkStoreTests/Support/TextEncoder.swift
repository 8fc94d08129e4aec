import FieldworkGeometry
import FieldworkREST
import Foundation

/// Writes features as plain lines, `column=value` joined by `|`, so that a test reads what the store handed over. The
/// protocol's own encoders have their own tests.
struct TextEncoder: FeatureEncoder {
    var bytes: [UInt8] = []
    private var values: [String] = []

    mutating func begin() { line("begin") }
    mutating func beginFeature() { values = [] }
    mutating func null(column: Int) { values.append("\(column)=null") }
    mutating func integer(_ value: Int64, column: Int) { values.append("\(column)=\(value)") }
    mutating func real(_ value: Double, column: Int) { values.append("\(column)=\(value)") }
    mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        values.append("\(column)='\(String(decoding: value, as: UTF8.self))'")
    }
    mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {
        values.append("\(column)=\(value.count) bytes")
    }
    mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        guard let blob else { return values.append("no geometry") }
        let geometry = try GeoPackageBinary.geometry(from: blob, spatialReference: nil)
        if let point = geometry as? Point { values.append("(\(point.x) \(point.y))") } else { values.append("shape") }
    }
    mutating func endFeature() { line(values.joined(separator: "|")) }
    mutating func end(exceededTransferLimit: Bool) { line(exceededTransferLimit ? "more" : "end") }

    private mutating func line(_ text: String) { bytes.append(contentsOf: (text + "\n").utf8) }
}
