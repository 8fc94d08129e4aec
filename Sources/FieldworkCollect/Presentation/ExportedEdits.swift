import Fieldwork
import Foundation

/// The edits that no server has, as a file that other programs read: for when a server never answers again. GeoJSON; what an edit
/// did and the geometry as the service has it, with all its digits, are in each feature's member `fieldwork`.
struct ExportedEdits: Encodable {
    struct Item: Encodable {
        let id: String
        let geometry: GeoJSONGeometry?
        let properties: [String: FeatureSnapshot.Value]
        let fieldwork: Edit

        private enum CodingKeys: CodingKey {
            case type, id, geometry, properties, fieldwork
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode("Feature", forKey: .type)
            try container.encode(id, forKey: .id)
            // A feature of GeoJSON has the member in any case.
            try container.encode(geometry, forKey: .geometry)
            try container.encode(properties.mapValues(PlainValue.init), forKey: .properties)
            try container.encode(fieldwork, forKey: .fieldwork)
        }
    }

    struct Edit: Encodable {
        let layer: String
        let kind: EditEntry.Kind
        let title: String
        let detail: String
        let date: String
        /// Why the server refused it; nil where it wasn't asked.
        let refusal: String?
        /// The geometry in the protocol's JSON.
        let geometry: String?
    }

    let features: [Item]

    /// In the order in which they were made. What was taken back is left out.
    init(_ map: OpenMap) {
        features = map.journal.entries.filter { !$0.isUndone && $0.undoes == nil }.compactMap { entry in
            let refusal: String?
            switch entry.progress {
            case .onServer: return nil
            case .onDevice: refusal = nil
            case .refused(let reason): refusal = reason
            }
            guard let snapshot = entry.after ?? entry.before else { return nil }
            let reference = map.journal.current(entry.feature)
            return Item(
                id: reference.text,
                geometry: GeoJSONGeometry(snapshot.geometry.flatMap { try? Geometry.fromJSON($0) }),
                properties: snapshot.attributes,
                fieldwork: Edit(
                    layer: map.layer(reference.layer)?.name ?? "\(reference.layer)", kind: entry.kind,
                    title: entry.title, detail: entry.detail, date: entry.date.ISO8601Format(), refusal: refusal,
                    geometry: snapshot.geometry.map { String(decoding: $0, as: UTF8.self) }))
        }
    }

    private enum CodingKeys: CodingKey {
        case type, features
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("FeatureCollection", forKey: .type)
        try container.encode(features, forKey: .features)
    }
}

/// A value as JSON has it: a date as its text, bytes in base 64.
private struct PlainValue: Encodable {
    let value: FeatureSnapshot.Value

    init(_ value: FeatureSnapshot.Value) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .integer(let number): try container.encode(number)
        case .real(let number) where number.isFinite: try container.encode(number)
        case .real(let number): try container.encode("\(number)")
        case .text(let text): try container.encode(text)
        case .date(let date): try container.encode(date.ISO8601Format())
        case .guid(let uuid): try container.encode(uuid.uuidString)
        case .bytes(let data): try container.encode(data.base64EncodedString())
        }
    }
}
