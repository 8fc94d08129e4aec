package import FieldworkGeometry

/// The answers to queries that ask for no features: number, ids, extent.
package enum QueryAnswer {
    package static func count(_ count: Int) -> JSONValue { ["count": JSONValue(count)] }

    /// - Parameters:
    ///   - extent: in the reference of the answer; nil when no feature has a geometry.
    ///   - isReferenceExplicit: whether the client named that reference, or the layer has no other.
    package static func extent(
        _ extent: Envelope?, count: Int, format: QueryRequest.Format, isReferenceExplicit: Bool
    ) -> JSONValue {
        guard format == .geojson else {
            return ["extent": extent.map { GeoServicesJSON.json(for: $0) } ?? emptyExtent, "count": JSONValue(count)]
        }
        var answer = JSONObject()
        answer.append("type", "FeatureCollection")
        let bounds = extent.flatMap { extent -> JSONValue? in
            if extent.isEmpty { return nil }
            return [.number(extent.xMin), .number(extent.yMin), .number(extent.xMax), .number(extent.yMax)]
        }
        // GDAL takes every `bbox` as one in its layer's own reference, whatever GeoJSON says; without one it reads the
        // features. So the bounds are named as such only when there is no doubt about their reference.
        if let bounds, isReferenceExplicit { answer.append("bbox", bounds) }
        answer.append("features", [])
        if let extent, !isReferenceExplicit { answer.append("extent", GeoServicesJSON.json(for: extent)) }
        answer.append("count", JSONValue(count))
        return .object(answer)
    }

    // MARK: The client's side

    /// Reads the number of features; nil for what is no such answer.
    package static func readCount(_ answer: JSONValue) -> Int? {
        answer["count"]?.integerValue.flatMap { Int(exactly: $0) }
    }

    /// Reads the object ids in their order, and the field that they are of where the service names it; nil for what is no
    /// such answer. No ids are null in old services' answers.
    package static func readObjectIDs(_ answer: JSONValue) -> (field: String?, ids: [Int64])? {
        guard let ids = answer["objectIds"] else { return nil }
        return (answer["objectIdFieldName"]?.stringValue, (ids.arrayValue ?? []).compactMap(\.integerValue))
    }

    package static func objectIDs(_ ids: [Int64], field: String) -> JSONValue {
        ["objectIdFieldName": .string(field), "objectIds": .array(ids.map(JSONValue.integer))]
    }

    /// What the vendor's servers say when there is no extent.
    private static let emptyExtent: JSONValue = ["xmin": "NaN", "ymin": "NaN", "xmax": "NaN", "ymax": "NaN"]
}
