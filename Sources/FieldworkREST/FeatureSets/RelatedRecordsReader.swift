package import FieldworkGeometry

/// The related features of an answer as values, by the features that they belong to.
package struct RelatedRecords: Sendable, Hashable {
    package struct Group: Sendable, Hashable {
        /// The feature that the records are related to.
        package var objectID: Int64
        package var records: [FeatureSet.Feature]
    }

    /// What the answer says of all records: fields, geometry type, reference. It has no features itself.
    package var head: FeatureSet
    package var groups: [Group]
}

/// Reads the answer of `queryRelatedRecords` in JSON.
package enum RelatedRecordsReader {
    /// Throws the service's own error when the answer is one, and `ServiceError` when a record can't be read.
    package static func read(json: JSONValue) throws(ServiceError) -> RelatedRecords {
        if let error = ServiceError(answer: json) { throw error }
        guard var head = json.objectValue, let groups = head["relatedRecordGroups"]?.arrayValue else {
            throw ServiceError(code: 500, message: "The service's answer is not a set of related records.")
        }
        head["relatedRecordGroups"] = nil
        // Records are features of a set with the same head.
        head["features"] = []
        var related = RelatedRecords(head: try FeatureSetReader.read(json: .object(head)), groups: [])
        for group in groups {
            // Without the feature that they belong to, records say nothing.
            guard let objectID = group["objectId"]?.integerValue else { continue }
            let records = try FeatureSetReader.features(group["relatedRecords"]?.arrayValue ?? [], of: related.head)
            related.groups.append(RelatedRecords.Group(objectID: objectID, records: records))
        }
        return related
    }
}

extension RelatedRecords {
    /// The answer that says the same.
    package var json: JSONValue {
        var object = head.json.objectValue ?? JSONObject()
        object["features"] = nil
        object["relatedRecordGroups"] = .array(
            groups.map { group in
                var set = head
                set.features = group.records
                return ["objectId": .integer(group.objectID), "relatedRecords": set.json["features"] ?? []]
            })
        return .object(object)
    }
}
