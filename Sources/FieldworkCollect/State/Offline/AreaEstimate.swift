import Fieldwork

/// How large the file of an area will be, about: by how many features it holds, and what some of them take.
enum AreaEstimate {
    /// Bytes of a file without a feature: its tables and what is said of them.
    static let emptyBytes = 200_000.0
    /// Bytes that a feature takes beside its values: its row, its place in the indices of areas and of global ids.
    private static let rowBytes = 110.0
    /// Bytes of a number and of a date, which are kept in as few as they need.
    private static let numberBytes = 6.0
    /// Bytes of a geometry before its first vertex, and of each of its vertices.
    private static let geometryBytes = (head: 13.0, vertex: 16.0)

    /// Bytes of the mean of some features; 0 for none.
    static func mean(of features: [Feature]) -> Double {
        guard !features.isEmpty else { return 0 }
        return features.map(bytes).reduce(0, +) / Double(features.count)
    }

    private static func bytes(_ feature: Feature) -> Double {
        var sum = rowBytes
        for value in feature.attributes.values {
            // A byte says of which kind and length the value is.
            sum += 1
            switch FeatureSnapshot.Value(value) {
            case .null: continue
            case .integer, .real, .date: sum += numberBytes
            case .text(let text): sum += Double(text.utf8.count)
            case .guid: sum += 38
            case .bytes(let data): sum += Double(data.count)
            }
        }
        return sum + (feature.geometry.map(bytes) ?? 0)
    }

    private static func bytes(_ geometry: Geometry) -> Double {
        let vertices: Int =
            switch geometry {
            case let points as Multipoint: points.points.count
            case let lines as Multipart: lines.parts.reduce(0) { $0 + $1.points.count }
            default: 1
            }
        return geometryBytes.head + geometryBytes.vertex * Double(vertices)
    }
}
