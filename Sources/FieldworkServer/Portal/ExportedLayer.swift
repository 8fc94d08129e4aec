import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkStore

/// A layer that `export` writes, with the condition that its features meet.
struct ExportedLayer: Sendable {
    var layer: LayerDefinition
    var condition: String

    /// The layers that `exportParameters` names; all of them where it names none.
    static func layers(_ parameters: JSONObject, of service: ServiceDefinition) throws(ServiceError) -> [ExportedLayer]
    {
        guard parameters["targetSR"] == nil else {
            throw .invalidParameter(
                "'exportParameters': 'targetSR' is not supported; each format has the reference it needs.")
        }
        guard let wanted = parameters["layers"] else {
            return service.layers.map { ExportedLayer(layer: $0, condition: "1=1") }
        }
        guard let list = wanted.arrayValue, !list.isEmpty else {
            throw .invalidParameter("'exportParameters': 'layers' is a list of objects with an 'id'.")
        }
        var layers: [ExportedLayer] = []
        for json in list {
            guard let id = json["id"]?.integerValue, let layer = service.layer(id: Int(clamping: id)),
                !layers.contains(where: { $0.layer.id == layer.id })
            else {
                throw .invalidParameter("'exportParameters': a layer's 'id' is none of the service's, or comes twice.")
            }
            let condition = json["where"]?.stringValue ?? "1=1"
            let exported = ExportedLayer(layer: layer, condition: condition.isEmpty ? "1=1" : condition)
            // What is wrong with the condition is told at once.
            _ = try exported.query(in: service, after: nil, outSR: nil)
            layers.append(exported)
        }
        return layers
    }

    /// The layer, read as a client reads it: page by page, each after the last id of the one before.
    func source(in service: ServiceDefinition, _ store: any FeatureStore) -> FeatureExport.Layer {
        FeatureExport.Layer(layer) { outSR, body in
            var last: Int64?
            while true {
                try Task.checkCancellation()
                let query = try query(in: service, after: last, outSR: outSR)
                guard case .features(let features) = query.content else { throw ServiceError.internalFailure }
                let pieces = try await store.encodedFeatures(
                    features, in: LayerAddress(service: service.name, layerID: layer.id),
                    encoder: try JSONFeatureEncoder(layer: layer, query: features))
                let set = try FeatureSetReader.read(
                    json: try JSONParser.parse(try await FeatureService.collected(pieces)))
                let newest = set.features.compactMap { $0.attributes[layer.objectIDField]?.integerValue }.max()
                if !set.features.isEmpty || last == nil { try await body(set) }
                guard set.exceededTransferLimit, let newest, newest > last ?? .min else { return }
                last = newest
            }
        }
    }

    private func query(
        in service: ServiceDefinition, after last: Int64?, outSR: Int?
    ) throws(ServiceError) -> QueryRequest {
        let key = layer.objectIDField
        var fields = [
            (name: "where", value: last.map { "(\(condition)) AND \(key) > \($0)" } ?? condition),
            (name: "outFields", value: "*"), (name: "orderByFields", value: key),
            (name: "resultRecordCount", value: String(Limits.exportPageFeatures)),
        ]
        if layer.hasZ { fields.append((name: "returnZ", value: "true")) }
        if layer.hasM { fields.append((name: "returnM", value: "true")) }
        if let outSR { fields.append((name: "outSR", value: String(outSR))) }
        return try QueryRequest(parameters: RequestParameters(fields), layer: layer, service: service)
    }
}
