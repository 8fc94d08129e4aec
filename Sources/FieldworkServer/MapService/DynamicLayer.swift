import FieldworkGeometry
import FieldworkREST

/// A layer of the map that a request draws in another way: a member of the parameter `dynamicLayers`.
struct DynamicLayer: Sendable {
    /// With the drawing, the scales and the id that the request gives it.
    var layer: LayerDefinition
    /// What the request leaves of its features; nil for all.
    var condition: String?
    /// The layer of the service that has the features.
    let sourceID: Int

    init(layer: LayerDefinition, condition: String?, sourceID: Int) {
        self.layer = layer
        self.condition = condition
        self.sourceID = sourceID
    }

    /// The top one first; nil without the parameter.
    static func read(
        _ parameters: RequestParameters, among layers: [LayerDefinition]
    ) throws(ServiceError) -> [DynamicLayer]? {
        guard let json = try parameters.json("dynamicLayers"), !json.isNull else { return nil }
        guard let members = json.arrayValue, members.count <= Limits.mapLayers else {
            throw .invalidParameter("'dynamicLayers' must be a list of at most \(Limits.mapLayers) layers.")
        }
        var result: [DynamicLayer] = []
        for member in members { result.append(try DynamicLayer(member, among: layers)) }
        return result
    }

    private init(_ json: JSONValue, among layers: [LayerDefinition]) throws(ServiceError) {
        let source = json["source"]
        if let type = source?["type"]?.stringValue, type != "mapLayer" {
            throw .invalidParameter("'dynamicLayers': a source of the type '\(type.prefix(40))' is not supported.")
        }
        let number = source?["mapLayerId"]?.integerValue ?? json["id"]?.integerValue
        guard let number, var layer = layers.first(where: { Int64($0.id) == number }) else {
            throw .invalidParameter("'dynamicLayers' has a 'mapLayerId' that is no layer of the map.")
        }
        if let id = json["id"]?.integerValue.flatMap(Int.init(exactly:)) { layer.id = id }
        if let name = json["name"]?.stringValue { layer.name = name }
        layer.minScale = max(json["minScale"]?.doubleValue ?? layer.minScale, 0)
        layer.maxScale = max(json["maxScale"]?.doubleValue ?? layer.maxScale, 0)
        layer.isVisibleByDefault = true
        if let given = json["drawingInfo"]?.objectValue {
            var info = layer.drawingInfo?.objectValue ?? JSONObject()
            for member in given.members { info[member.key] = member.value }
            layer.drawingInfo = .object(info)
        }
        self.layer = layer
        condition = json["definitionExpression"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
        sourceID = Int(clamping: number)
    }
}
