package import FieldworkGeometry

/// Which fields tell when a feature was there (`timeInfo`).
package struct TimeInfoDefinition: Sendable, Hashable {
    package var startTimeField: String
    /// nil where a feature has one moment.
    package var endTimeField: String?
    package var trackIDField: String?
    /// First and last moment in milliseconds since 1970, as the definition's author counted them.
    package var timeExtent: ClosedRange<Int64>?
    /// Members that this type does not know; written back unchanged.
    package var unknownMembers: JSONObject

    package init(
        startTimeField: String, endTimeField: String? = nil, trackIDField: String? = nil,
        timeExtent: ClosedRange<Int64>? = nil, unknownMembers: JSONObject = JSONObject()
    ) {
        self.startTimeField = startTimeField
        self.endTimeField = endTimeField
        self.trackIDField = trackIDField
        self.timeExtent = timeExtent
        self.unknownMembers = unknownMembers
    }

    private static let readMembers: Set<String> = ["startTimeField", "endTimeField", "trackIdField", "timeExtent"]

    /// nil for what names no field: an empty object means a layer without times.
    init?(json: JSONValue?) {
        guard let object = json?.objectValue, let start = object.string("startTimeField"), !start.isEmpty else {
            return nil
        }
        func named(_ key: String) -> String? { object.string(key).flatMap { $0.isEmpty ? nil : $0 } }
        let moments = object.array("timeExtent").compactMap(\.integerValue)
        self.init(
            startTimeField: start, endTimeField: named("endTimeField"), trackIDField: named("trackIdField"),
            timeExtent: moments.count == 2 && moments[0] <= moments[1] ? moments[0]...moments[1] : nil,
            unknownMembers: object.without(Self.readMembers))
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.append("startTimeField", .string(startTimeField))
        object.append("endTimeField", JSONValue(endTimeField))
        object.append("trackIdField", JSONValue(trackIDField))
        object.append(
            "timeExtent", timeExtent.map { [.integer($0.lowerBound), .integer($0.upperBound)] } ?? .null)
        object.merge(unknownMembers)
        return .object(object)
    }
}

extension LayerDefinition {
    /// nil for a layer without times.
    package var timeInfo: TimeInfoDefinition? {
        get { TimeInfoDefinition(json: unknownMembers["timeInfo"]) }
        set { unknownMembers["timeInfo"] = newValue?.json }
    }
}
