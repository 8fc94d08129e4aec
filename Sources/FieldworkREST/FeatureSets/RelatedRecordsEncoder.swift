import FieldworkGeometry

/// Writes the answer of `queryRelatedRecords`: one group for each source that has related features. The
/// first column of every row is the object id of its source; rows of one source follow each other.
package struct RelatedRecordsEncoder: FeatureEncoder {
    private var records: JSONFeatureEncoder
    private let head: JSONObject
    private var group: Int64?

    package var bytes: [UInt8] {
        get { records.bytes }
        set { records.bytes = newValue }
    }

    /// - Parameters:
    ///   - layer: the layer or table of the related features.
    ///   - query: what is asked of them.
    package init(layer: LayerDefinition, query: FeatureQuery) throws(ServiceError) {
        records = try JSONFeatureEncoder(layer: layer, query: query)
        let layout = records.layout
        var head = JSONObject()
        if let type = layout.geometryType {
            head.append("geometryType", .string(type.rawValue))
            if let reference = layout.spatialReference {
                head.append("spatialReference", GeoServicesJSON.json(for: reference))
            }
            head.append("hasZ", .bool(layout.hasZ))
            head.append("hasM", .bool(layout.hasM))
        }
        head.append("fields", .array(layout.fields.map(\.json)))
        self.head = head
    }

    package mutating func begin() {
        JSONValue.object(head).write(to: &records.bytes)
        // The object stays open for the groups.
        records.bytes.removeLast()
        records.bytes.append(contentsOf: #","relatedRecordGroups":["#.utf8)
    }

    /// The feature begins when its source is known.
    package mutating func beginFeature() {}

    package mutating func integer(_ value: Int64, column: Int) {
        guard column == 0 else { return records.integer(value, column: column - 1) }
        if group != value {
            if group != nil { records.bytes.append(contentsOf: "]},".utf8) }
            group = value
            records.bytes.append(contentsOf: #"{"objectId":"#.utf8)
            JSONBytes.append(value, to: &records.bytes)
            records.bytes.append(contentsOf: #","relatedRecords":["#.utf8)
            records.beginList()
        }
        records.beginFeature()
    }

    package mutating func null(column: Int) { records.null(column: column - 1) }
    package mutating func real(_ value: Double, column: Int) { records.real(value, column: column - 1) }
    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) { records.text(value, column: column - 1) }
    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) { records.data(value, column: column - 1) }
    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws { try records.geometry(blob) }
    package mutating func endFeature() { records.endFeature() }

    package mutating func end(exceededTransferLimit: Bool) {
        if group != nil { records.bytes.append(contentsOf: "]}".utf8) }
        records.bytes.append(0x5D)
        if exceededTransferLimit { records.bytes.append(contentsOf: #","exceededTransferLimit":true"#.utf8) }
        records.bytes.append(0x7D)
    }
}

/// Writes the answer of `queryRelatedRecords` with `returnCountOnly`: rows of a source's object id and a number.
package struct RelatedCountsEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private var isFirst = true

    package init() {}

    package mutating func begin() { bytes.append(contentsOf: #"{"relatedRecordGroups":["#.utf8) }

    package mutating func beginFeature() {
        if isFirst { isFirst = false } else { bytes.append(0x2C) }
    }

    package mutating func integer(_ value: Int64, column: Int) {
        bytes.append(contentsOf: (column == 0 ? #"{"objectId":"# : #","count":"#).utf8)
        JSONBytes.append(value, to: &bytes)
    }

    package mutating func endFeature() { bytes.append(0x7D) }
    package mutating func end(exceededTransferLimit: Bool) { bytes.append(contentsOf: "]}".utf8) }

    // Both columns are integers that are never null.
    package mutating func null(column: Int) {}
    package mutating func real(_ value: Double, column: Int) {}
    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {}
    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {}
    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) {}
}
