import FieldworkGeometry
import FieldworkREST

/// Which layers of a map an operation works on: the parameter `layers` of `identify` and `find`.
struct MapLayerChoice: Sendable, Hashable {
    enum Mode: String, Sendable, Hashable {
        case top, visible, all
    }

    var mode: Mode
    /// nil for every layer.
    var ids: Set<Int>?

    /// Reads `top`, `visible`, `all`, `visible:0,2`; as `find` and lenient servers take it also `0,2` alone.
    init(_ text: String?) throws(ServiceError) {
        mode = .top
        guard let text = text?.filter({ $0 != " " }), !text.isEmpty else { return }
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var list = words.last ?? ""
        if words.count == 2 || words[0].first?.isNumber != true {
            guard let mode = Mode(rawValue: words[0].lowercased()) else {
                throw .invalidParameter("'layers' must be top, visible or all, with or without ids.")
            }
            self.mode = mode
            if words.count == 1 { list = "" }
        } else {
            mode = .all
        }
        guard !list.isEmpty else { return }
        var ids: Set<Int> = []
        for word in list.split(separator: ",") {
            guard let id = Int(word), ids.count < Limits.mapLayers else {
                throw .invalidParameter("'layers' has '\(word.prefix(40))', which is no layer's id.")
            }
            ids.insert(id)
        }
        self.ids = ids
    }

    /// The layers in the order in which a map stacks them, the top one first.
    /// - Parameter scale: the denominator of the map's scale; nil when it doesn't matter.
    func layers(of service: ServiceDefinition, scale: Double?) -> [LayerDefinition] {
        service.layers.filter { layer in
            guard !layer.isTable, ids?.contains(layer.id) != false else { return false }
            guard mode == .all || layer.isVisibleByDefault else { return false }
            return scale.map { layer.isShown(at: $0) } ?? true
        }
    }
}

/// Conditions by layer id: the parameter `layerDefs`, as `{"0":"…"}` or, as old clients write it, `0:…;1:…`.
enum LayerConditions {
    static func read(_ parameters: RequestParameters) throws(ServiceError) -> [Int: String] {
        guard let text = try parameters.list("layerDefs") else { return [:] }
        var conditions: [Int: String] = [:]
        if text.hasPrefix("{") {
            for member in try parameters.json("layerDefs")?.objectValue?.members ?? [] {
                guard let id = Int(member.key), let condition = member.value.stringValue else { throw malformed }
                conditions[id] = condition
            }
        } else {
            for part in text.split(separator: ";") {
                let words = part.split(separator: ":", maxSplits: 1)
                guard words.count == 2, let id = Int(words[0].filter { $0 != " " }) else { throw malformed }
                conditions[id] = String(words[1])
            }
        }
        return conditions
    }

    private static var malformed: ServiceError {
        .invalidParameter("'layerDefs' must be an object with a condition for each layer's id.")
    }

    /// The features of a layer that its condition leaves.
    static func query(
        _ layer: LayerDefinition, _ conditions: [Int: String]
    ) throws(ServiceError) -> FeatureQuery {
        var parameters = RequestParameters()
        if let condition = conditions[layer.id], !condition.isEmpty { parameters.set("where", condition) }
        return try FeatureQuery(filter: parameters, layer: layer)
    }
}

extension FeatureQuery {
    /// Leaves out what was not there at the `time` of a map. Layers without times are there at all times, beside others that have
    /// some.
    mutating func restrict(
        toTimeOf parameters: RequestParameters, _ layer: LayerDefinition, of service: ServiceDefinition
    ) throws(ServiceError) {
        guard layer.timeInfo != nil || service.layers.allSatisfy({ $0.timeInfo == nil }) else { return }
        try restrictToTime(parameters, layer)
    }
}
