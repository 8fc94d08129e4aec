/// What a path names within the map service face of a service. It is read only: the operations that edit, and those that
/// draw, are not there.
enum MapServiceResource: Sendable, Hashable {
    case root
    case layers
    case identify
    case find
    case legend
    case layer(Int)
    case feature(layerID: Int, objectID: Int64)
    case query(layerID: Int)
    case queryRelatedRecords(layerID: Int)
    /// A swatch of the legend, by its name there.
    case image(layerID: Int, name: String)
    /// An operation of map services that draws.
    case drawing(String)
    case unknown

    private static let drawings = [
        "export", "exportTiles", "estimateExportTilesSize", "tile", "tilemap", "generateKml", "queryLegends",
        "dynamicLayer",
    ]

    /// - Parameter segments: what follows `MapServer`.
    init(_ segments: ArraySlice<String>) {
        guard let first = segments.first else {
            self = .root
            return
        }
        let rest = segments.dropFirst()
        if let layerID = Int(first), layerID >= 0 {
            self = Self.within(layerID: layerID, rest)
        } else if let name = Self.drawings.first(where: { $0.equalsIgnoringCase(first) }) {
            self = .drawing(name)
        } else if !rest.isEmpty {
            self = .unknown
        } else if first.equalsIgnoringCase("layers") {
            self = .layers
        } else if first.equalsIgnoringCase("identify") {
            self = .identify
        } else if first.equalsIgnoringCase("find") {
            self = .find
        } else if first.equalsIgnoringCase("legend") {
            self = .legend
        } else {
            self = .unknown
        }
    }

    private static func within(layerID: Int, _ segments: ArraySlice<String>) -> MapServiceResource {
        guard let first = segments.first else { return .layer(layerID) }
        let rest = segments.dropFirst()
        if first.equalsIgnoringCase("images"), rest.count == 1, let name = rest.first {
            return .image(layerID: layerID, name: name)
        }
        guard rest.isEmpty else { return .unknown }
        if let objectID = Int64(first) { return .feature(layerID: layerID, objectID: objectID) }
        if first.equalsIgnoringCase("query") { return .query(layerID: layerID) }
        if first.equalsIgnoringCase("queryRelatedRecords") { return .queryRelatedRecords(layerID: layerID) }
        return .unknown
    }

    /// What the request is counted under.
    var operation: ServerMetrics.Operation {
        switch self {
        case .root, .layers: .service
        case .layer: .layer
        case .feature: .feature
        case .query: .query
        case .queryRelatedRecords: .queryRelatedRecords
        case .identify: .identify
        case .find: .find
        case .legend, .image: .legend
        case .drawing, .unknown: .other
        }
    }
}
