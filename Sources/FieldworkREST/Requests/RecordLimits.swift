import FieldworkGeometry

/// How many features one answer of a layer holds: by `resultType`, `maxRecordCountFactor` and what the definition says.
struct RecordLimits {
    let plain: Int
    let tile: Int
    let standard: Int
    let standardWithoutGeometry: Int

    /// Members of a definition document that set them.
    static let members = [
        "tileMaxRecordCount", "standardMaxRecordCount", "standardMaxRecordCountNoGeometry",
    ]

    /// - Parameter serviceMaximum: the service's own count, which a layer's plain one can't exceed.
    init(layer: LayerDefinition, serviceMaximum: Int?) {
        let plain = max(1, min(layer.maxRecordCount, serviceMaximum ?? layer.maxRecordCount, Limits.recordCount))
        func count(_ name: String, or usual: Int) -> Int {
            let named = layer.unknownMembers[name]?.integerValue.flatMap { $0 > 0 ? Int(clamping: $0) : nil }
            return min(named ?? max(usual, plain), Limits.recordCount)
        }
        self.plain = plain
        tile = count("tileMaxRecordCount", or: Limits.tileRecordCount)
        standard = count("standardMaxRecordCount", or: Limits.standardRecordCount)
        standardWithoutGeometry = count("standardMaxRecordCountNoGeometry", or: Limits.standardRecordCount)
    }

    /// What the layer resource shows.
    var json: JSONObject {
        var object = JSONObject()
        object.append("maxRecordCount", JSONValue(plain))
        object.append("tileMaxRecordCount", JSONValue(tile))
        object.append("standardMaxRecordCount", JSONValue(standard))
        object.append("standardMaxRecordCountNoGeometry", JSONValue(standardWithoutGeometry))
        object.append("maxRecordCountFactor", 1)
        return object
    }

    /// The most features that the answer to a request may hold.
    func maximum(_ parameters: RequestParameters) throws(ServiceError) -> Int {
        let base: Int
        switch try ResultType(parameters) {
        case .none: base = plain
        case .tile: base = tile
        case .standard: base = try parameters.bool("returnGeometry") == false ? standardWithoutGeometry : standard
        }
        guard let factor = try parameters.number("maxRecordCountFactor") else { return base }
        guard (1...Double(Limits.recordCountFactor)).contains(factor) else {
            throw .invalidParameter("'maxRecordCountFactor' must be from 1 to \(Limits.recordCountFactor).")
        }
        return min(Int(Double(base) * factor), Limits.recordCount)
    }
}

/// `resultType`: what the features are for, which decides how many come at once.
enum ResultType: String {
    case none, standard, tile

    init(_ parameters: RequestParameters) throws(ServiceError) {
        guard let name = parameters["resultType"] else {
            self = .none
            return
        }
        guard let type = ResultType(rawValue: name.lowercased()) else {
            throw .invalidParameter("'resultType' must be none, standard or tile.")
        }
        self = type
    }
}
