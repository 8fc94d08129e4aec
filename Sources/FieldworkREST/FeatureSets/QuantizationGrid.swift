import FieldworkGeometry

/// The integer grid of a quantized answer.
struct QuantizationGrid: Sendable {
    private let quantization: Quantization

    /// Cells of heights and measures: a tenth of a millimetre, in JSON as in protocol buffers. They are written whole, never
    /// as steps.
    static let heightScale = 0.0001
    static let heightOrigin = -100_000.0

    init(_ quantization: Quantization) { self.quantization = quantization }

    static func height(_ value: Double) -> Int64 { cell((value - heightOrigin) / heightScale) }

    var isViewMode: Bool { quantization.isViewMode }

    func column(_ x: Double) -> Int64 { Self.cell((x - quantization.originX) / quantization.tolerance) }

    func row(_ y: Double) -> Int64 {
        let offset = quantization.isUpperLeftOrigin ? quantization.originY - y : y - quantization.originY
        return Self.cell(offset / quantization.tolerance)
    }

    /// Far outside the grid the cell is the outermost that fits: JSON's numbers count up to it, and a step between two
    /// such cells is still an integer, however fine a grid a request names.
    static func cell(_ value: Double) -> Int64 {
        value.isNaN ? 0 : Int64(max(-0x1p53, min(0x1p53, value.rounded())))
    }

    /// The transform as it stands in an answer: x, y and after them z and m, where there are any.
    func json(hasZ: Bool, hasM: Bool) -> JSONValue {
        let heights = (hasZ ? 1 : 0) + (hasM ? 1 : 0)
        let scale =
            [quantization.tolerance, quantization.tolerance] + Array(repeating: Self.heightScale, count: heights)
        let origin = [quantization.originX, quantization.originY] + Array(repeating: Self.heightOrigin, count: heights)
        return [
            "originPosition": .string(quantization.isUpperLeftOrigin ? "upperLeft" : "lowerLeft"),
            "scale": .array(scale.map(JSONValue.number)), "translate": .array(origin.map(JSONValue.number)),
        ]
    }
}

/// Base64 of binary attributes.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Appends the text with its quotes.
    static func append(_ data: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        bytes.append(0x22)
        for start in stride(from: 0, to: data.count, by: 3) {
            let (one, two, three) = (
                data[start], start + 1 < data.count ? data[start + 1] : 0, start + 2 < data.count ? data[start + 2] : 0
            )
            bytes.append(alphabet[Int(one >> 2)])
            bytes.append(alphabet[Int((one & 3) << 4 | two >> 4)])
            bytes.append(start + 1 < data.count ? alphabet[Int((two & 15) << 2 | three >> 6)] : 0x3D)
            bytes.append(start + 2 < data.count ? alphabet[Int(three & 63)] : 0x3D)
        }
        bytes.append(0x22)
    }
}
