package import FieldworkGeometry

/// The features of an answer as values: what a client makes of it.
package struct FeatureSet: Sendable, Hashable {
    package var fields: [FieldDefinition]
    package var objectIDField: String?
    package var globalIDField: String?
    package var geometryType: LayerGeometryType?
    package var spatialReference: SpatialReference?
    package var hasZ: Bool
    package var hasM: Bool
    package var features: [Feature]
    package var exceededTransferLimit: Bool
    /// What the answer tells besides, also fields of types that are not known, to be told again.
    package var unknownMembers = JSONObject()

    package struct Feature: Sendable, Hashable {
        package var attributes: AttributeValues
        package var geometry: Geometry?
        /// What comes with a feature besides: a centroid, say.
        package var unknownMembers = JSONObject()

        package init(attributes: AttributeValues, geometry: Geometry?) {
            self.attributes = attributes
            self.geometry = geometry
        }
    }

    package init(
        fields: [FieldDefinition] = [], objectIDField: String? = nil, globalIDField: String? = nil,
        geometryType: LayerGeometryType? = nil, spatialReference: SpatialReference? = nil, hasZ: Bool = false,
        hasM: Bool = false, features: [Feature] = [], exceededTransferLimit: Bool = false
    ) {
        self.fields = fields
        self.objectIDField = objectIDField
        self.globalIDField = globalIDField
        self.geometryType = geometryType
        self.spatialReference = spatialReference
        self.hasZ = hasZ
        self.hasM = hasM
        self.features = features
        self.exceededTransferLimit = exceededTransferLimit
    }

    /// The features with their identities, as a store gives them; those without an object id are left out.
    package var records: [FeatureRecord] {
        guard let objectIDField else { return [] }
        return features.compactMap { feature in
            guard let objectID = feature.attributes[objectIDField]?.integerValue else { return nil }
            let globalID = globalIDField.flatMap { feature.attributes[$0]?.textValue }.flatMap { GUID.parse($0) }
            return FeatureRecord(
                objectID: objectID, globalID: globalID, attributes: feature.attributes, geometry: feature.geometry)
        }
    }
}

/// Reads an answer in JSON: quantized or not, of new servers and old ones.
package enum FeatureSetReader {
    private static let readMembers: Set<String> = [
        "objectIdFieldName", "globalIdFieldName", "geometryType", "spatialReference", "hasZ", "hasM",
        "exceededTransferLimit", "fields", "features", "transform",
    ]
    private static let readMembersOfFeature: Set<String> = ["attributes", "geometry"]

    /// Throws the service's own error when the answer is one, and `ServiceError` when it isn't a feature set.
    package static func read(json: JSONValue) throws(ServiceError) -> FeatureSet {
        var (set, object) = try head(of: json)
        set.features = try features(object.array("features"), of: set, transform(of: object))
        return set
    }

    /// Reads the features one by one, without keeping them.
    /// - Returns: what the answer says besides.
    package static func read(
        json: JSONValue, each body: ([JSONObject.Member], Geometry?) throws(ServiceError) -> Void
    ) throws(ServiceError) -> FeatureSet {
        let (set, object) = try head(of: json)
        let transform = transform(of: object)
        for feature in object.array("features") {
            try body(
                feature["attributes"]?.objectValue?.members ?? [], try geometry(of: feature, set, transform))
        }
        return set
    }

    /// All but the features.
    private static func head(of json: JSONValue) throws(ServiceError) -> (FeatureSet, JSONObject) {
        if let error = ServiceError(answer: json) { throw error }
        guard let object = json.objectValue, object["features"]?.arrayValue != nil || object["fields"] != nil else {
            throw ServiceError(code: 500, message: "The service's answer is not a set of features.")
        }
        var set = FeatureSet()
        set.objectIDField = object.string("objectIdFieldName")
        set.globalIDField = object.string("globalIdFieldName").flatMap { $0.isEmpty ? nil : $0 }
        set.geometryType = object.string("geometryType").flatMap(LayerGeometryType.init(rawValue:))
        set.spatialReference = object["spatialReference"].flatMap { try? GeoServicesJSON.spatialReference(from: $0) }
        set.hasZ = object.bool("hasZ") ?? false
        set.hasM = object.bool("hasM") ?? false
        set.exceededTransferLimit = object.bool("exceededTransferLimit") ?? false
        set.unknownMembers = object.without(readMembers)
        readFields(object, &set)
        set.objectIDField = set.objectIDField ?? set.fields.first { $0.type == .oid }?.name
        return (set, object)
    }

    private static func transform(of object: JSONObject) -> GridTransform? {
        object["transform"].flatMap(GridTransform.init(json:))
    }

    /// Reads features of a set of which all else is known.
    static func features(
        _ list: [JSONValue], of set: FeatureSet, _ transform: GridTransform? = nil
    ) throws(ServiceError) -> [FeatureSet.Feature] {
        var features: [FeatureSet.Feature] = []
        features.reserveCapacity(list.count)
        var names = AttributeValues.Names([])
        for feature in list {
            let members = feature["attributes"]?.objectValue?.members ?? []
            // As a rule all have the same names in the same order.
            if !names.all.elementsEqual(members.lazy.map(\.key)) { names = .init(members.map(\.key)) }
            let attributes =
                names.all.count == members.count
                ? AttributeValues(names: names, values: members.map { AttributeValue(json: $0.value) })
                : AttributeValues(
                    Dictionary(members.map { ($0.key, AttributeValue(json: $0.value)) }) { _, last in last })
            var read = FeatureSet.Feature(
                attributes: attributes, geometry: try geometry(of: feature, set, transform))
            if let object = feature.objectValue,
                object.members.contains(where: { !readMembersOfFeature.contains($0.key) })
            {
                read.unknownMembers = object.without(readMembersOfFeature)
            }
            features.append(read)
        }
        return features
    }

    private static func geometry(
        of feature: JSONValue, _ set: FeatureSet, _ transform: GridTransform?
    ) throws(ServiceError) -> Geometry? {
        guard let json = feature["geometry"], !json.isNull else { return nil }
        return try read(geometry: json, set, transform)
    }

    /// A field of a type that is not known is only kept; its values still come with the attributes.
    private static func readFields(_ object: JSONObject, _ set: inout FeatureSet) {
        var unread: [JSONValue] = []
        for json in object.array("fields") {
            if let field = try? FieldDefinition(json: json) { set.fields.append(field) } else { unread.append(json) }
        }
        if !unread.isEmpty { set.unknownMembers["fields"] = .array(unread) }
        for (name, isRead) in [
            ("geometryType", set.geometryType != nil), ("spatialReference", set.spatialReference != nil),
        ] where !isRead {
            if let value = object[name], !value.isNull { set.unknownMembers[name] = value }
        }
    }

    private static func read(
        geometry json: JSONValue, _ set: FeatureSet, _ transform: GridTransform?
    ) throws(ServiceError) -> Geometry? {
        // Most are points without more.
        if transform == nil, !set.hasZ, !set.hasM, let object = json.objectValue, object.count == 2,
            let x = object["x"]?.doubleValue, let y = object["y"]?.doubleValue
        {
            return Point(x: x, y: y, spatialReference: set.spatialReference)
        }
        var json = json
        // The set says once what each geometry would say for itself.
        if var object = json.objectValue {
            if set.hasZ, object["hasZ"] == nil { object["hasZ"] = true }
            if set.hasM, object["hasM"] == nil { object["hasM"] = true }
            json = .object(object)
        }
        if let transform { json = transform.restored(json) }
        do {
            return try GeoServicesJSON.geometry(from: json, defaultSpatialReference: set.spatialReference)
        } catch {
            throw ServiceError(
                code: 500, message: "A geometry of the service's answer can't be read.", details: [error.details])
        }
    }
}

/// The grid of a quantized answer in JSON, read back.
struct GridTransform {
    private var scale: [Double]
    private var translate: [Double]
    private var isUpperLeft: Bool

    init?(json: JSONValue) {
        guard let scale = json["scale"]?.arrayValue?.compactMap(\.doubleValue), scale.count >= 2,
            let translate = json["translate"]?.arrayValue?.compactMap(\.doubleValue), translate.count >= 2
        else { return nil }
        (self.scale, self.translate) = (scale, translate)
        isUpperLeft = json["originPosition"]?.stringValue != "lowerLeft"
    }

    private func position(_ column: Double, _ row: Double) -> (JSONValue, JSONValue) {
        (
            .number(translate[0] + column * scale[0]),
            .number(isUpperLeft ? translate[1] - row * scale[1] : translate[1] + row * scale[1])
        )
    }

    /// A height or a measure, which is written whole; a service that names no grid for it means it as it stands.
    private func height(_ value: Double, _ index: Int) -> JSONValue {
        guard index < scale.count, index < translate.count else { return .number(value) }
        return .number(translate[index] + value * scale[index])
    }

    /// The geometry with its cells turned back into coordinates.
    func restored(_ json: JSONValue) -> JSONValue {
        guard var object = json.objectValue else { return json }
        if let x = object.double("x"), let y = object.double("y") {
            (object["x"], object["y"]) = position(x, y)
            if let z = object.double("z") { object["z"] = height(z, 2) }
            if let m = object.double("m") { object["m"] = height(m, object["z"] == nil ? 2 : 3) }
        }
        for key in ["paths", "rings"] {
            if let parts = object[key]?.arrayValue { object[key] = .array(parts.map(restoredPath)) }
        }
        if let points = object["points"] { object["points"] = restoredPath(points) }
        return .object(object)
    }

    private func restoredPath(_ json: JSONValue) -> JSONValue {
        var (column, row) = (0.0, 0.0)
        return .array(
            (json.arrayValue ?? []).map { vertex in
                guard var values = vertex.arrayValue, values.count >= 2, let dx = values[0].doubleValue,
                    let dy = values[1].doubleValue
                else { return vertex }
                column += dx
                row += dy
                (values[0], values[1]) = position(column, row)
                for index in 2..<max(2, values.count) {
                    if let value = values[index].doubleValue { values[index] = height(value, index) }
                }
                return .array(values)
            })
    }
}
