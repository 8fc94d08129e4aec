import FieldworkGeometry
package import Foundation

/// Cuts features out of a stream of GeoJSON: those of the array `features` of a collection, and those that stand by themselves.
package struct FeatureCutter {
    private static let featureBytesMax = 256 << 20
    private static let crsBytesMax = 64 << 10

    /// What is open and not yet closed, outermost first.
    private var open: [UInt8] = []
    private var depth: Int { open.count }
    private var isInString = false
    private var isEscaped = false
    private var key: [UInt8] = []
    private var lastString: [UInt8] = []
    private var featuresDepth: Int?
    private var feature: [UInt8] = []
    /// The object that is open, as long as it may be a feature itself.
    private var whole: [UInt8]?
    private var hasFeatures = false
    /// The object `crs` of the collection, where there is one.
    private(set) var crs: [UInt8] = []
    private var isInCRS = false

    package var isComplete: Bool { hasFeatures && depth == 0 }

    package mutating func feed(_ data: Data, _ body: ([UInt8]) throws -> Void) throws {
        for byte in data {
            if let featuresDepth, depth > featuresDepth { feature.append(byte) }
            if isInCRS, crs.count < Self.crsBytesMax { crs.append(byte) }
            whole?.append(byte)
            if isInString {
                string(byte)
                continue
            }
            switch byte {
            case 0x22:
                guard depth != 1 || key != Array("crs".utf8) else {
                    throw PublishingError(.badData, "The file's crs is in a form that Fieldwork does not read.")
                }
                isInString = true
                lastString.removeAll(keepingCapacity: true)
            case 0x3A: if depth == 1 { key = lastString }
            case 0x2C: if depth == 1 { key = [] }
            case 0x7B, 0x5B: begin(byte)
            case 0x7D, 0x5D: try end(byte, body)
            default: break
            }
            guard feature.count <= Self.featureBytesMax, whole?.count ?? 0 <= Self.featureBytesMax else {
                throw PublishingError(.badData, "A feature is too large.")
            }
        }
    }

    private mutating func begin(_ byte: UInt8) {
        if depth == 0, byte == 0x7B {
            whole = [byte]
            key = []
        }
        if byte == 0x5B, depth == 1, key == Array("features".utf8) {
            featuresDepth = depth + 1
            hasFeatures = true
            whole = nil
        }
        if byte == 0x7B, depth == 1, key == Array("crs".utf8) { (isInCRS, crs) = (true, [byte]) }
        open.append(byte)
        if let featuresDepth, byte == 0x7B, depth == featuresDepth + 1 { feature = [byte] }
    }

    private mutating func end(_ byte: UInt8, _ body: ([UInt8]) throws -> Void) throws {
        // `{` and `}`, `[` and `]` are two apart.
        guard open.popLast() == byte - 2 else {
            throw PublishingError(.badData, "The JSON closes what it did not open.")
        }
        if depth == 1 { isInCRS = false }
        if let featuresDepth {
            if byte == 0x7D, depth == featuresDepth { try body(feature) }
            if depth < featuresDepth { self.featuresDepth = nil }
        }
        if depth == 0, let object = whole {
            whole = nil
            guard let feature = try Self.feature(object) else { return }
            hasFeatures = true
            try body(feature)
        }
    }

    /// An object that stands by itself, if it is a feature, or a geometry that can be made one.
    private static func feature(_ object: [UInt8]) throws -> [UInt8]? {
        guard let json = try? JSONParser.parse(object) else {
            throw PublishingError(.badData, "An object of the file is not JSON.")
        }
        switch json["type"]?.stringValue {
        case "Feature": return object
        case "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon":
            return Array(#"{"type":"Feature","properties":{},"geometry":"#.utf8) + object + Array("}".utf8)
        default: return nil
        }
    }

    private mutating func string(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == 0x5C {
            isEscaped = true
        } else if byte == 0x22 {
            isInString = false
        } else if depth == 1, lastString.count < 64 {
            lastString.append(byte)
        }
    }
}
