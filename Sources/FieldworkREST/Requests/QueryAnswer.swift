package import FieldworkGeometry

/// The answers to queries that ask for no features: number, ids, extent (rest-api §3.5).
package enum QueryAnswer {
    package static func count(_ count: Int) -> JSONValue { ["count": JSONValue(count)] }

    /// As bytes: there may be a million of them.
    package static func objectIDs(_ ids: [Int64], layer: LayerDefinition) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ids.count * 8 + 64)
        bytes.append(contentsOf: "{\"objectIdFieldName\":".utf8)
        JSONBytes.append(layer.objectIDField, to: &bytes)
        bytes.append(contentsOf: ",\"objectIds\":[".utf8)
        for (index, id) in ids.enumerated() {
            if index > 0 { bytes.append(0x2C) }
            JSONBytes.append(id, to: &bytes)
        }
        bytes.append(contentsOf: "]}".utf8)
        return bytes
    }

    /// - Parameter extent: in the reference of the answer; nil when no feature has a geometry.
    package static func extent(_ extent: Envelope?, count: Int, format: QueryRequest.Format) -> JSONValue {
        guard format == .geojson else {
            return ["extent": extent.map { GeoServicesJSON.json(for: $0) } ?? emptyExtent, "count": JSONValue(count)]
        }
        var answer = JSONObject()
        answer.append("type", "FeatureCollection")
        if let extent, !extent.isEmpty {
            // GDAL reads the extent only when it comes directly after the type.
            answer.append(
                "bbox", [.number(extent.xMin), .number(extent.yMin), .number(extent.xMax), .number(extent.yMax)])
        }
        answer.append("features", [])
        answer.append("count", JSONValue(count))
        return .object(answer)
    }

    /// What the vendor's servers say when there is no extent.
    private static let emptyExtent: JSONValue = ["xmin": "NaN", "ymin": "NaN", "xmax": "NaN", "ymax": "NaN"]
}
