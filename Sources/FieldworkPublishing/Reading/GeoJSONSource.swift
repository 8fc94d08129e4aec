import FieldworkGeometry
package import FieldworkREST
package import Foundation

/// GeoJSON: a feature collection, features one after the other (a line each, as a rule), or a single one. It is read feature by
/// feature: memory does not grow with the file.
package struct GeoJSONSource: FeatureSource {
    package var url: URL
    package var options = SourceOptions()
    /// Whether the features are rows of a spreadsheet: two of their properties may be coordinates.
    package var isSheet = false

    package init(url: URL, options: SourceOptions = SourceOptions(), isSheet: Bool = false) {
        self.url = url
        self.options = options
        self.isSheet = isSheet
    }

    /// The property for the `id` of features whose properties have none of that name.
    private static let idName = "id"

    package func schema(progress: (Int) -> Void) throws -> SourceSchema {
        var columns: [String: FieldInference] = [:]
        var order: [String] = []
        var types: Set<String> = []
        var hasZ = false
        var count = 0
        var identity = IdentitySurvey(wanted: options.globalID)
        let reference = try features { feature, number in
            for member in Self.properties(of: feature) {
                if columns[member.key] == nil {
                    columns[member.key] = FieldInference(name: member.key, readsNumbersInText: false, options.settings)
                    order.append(member.key)
                    identity.see(title: member.key)
                }
                let value = Self.value(member.value)
                columns[member.key]?.see(value)
                try identity.see(value, of: member.key, at: name(of: number))
            }
            if let type = feature["geometry"]?["type"]?.stringValue { types.insert(type) }
            if let geometry = feature["geometry"], !hasZ {
                hasZ = ((try? GeoJSONCodec.geometry(from: geometry)) ?? nil)?.hasZ ?? false
            }
            count += 1
            progress(count)
        }
        let kinds = Set(types.compactMap(Self.kind))
        guard !kinds.isEmpty || types.isEmpty else {
            throw PublishingError(
                .badData,
                "A layer has points, lines or polygons; the file has \(types.sorted().joined(separator: ", ")).")
        }
        if let expected = options.reference, !kinds.isEmpty, expected.latestWKID != reference.latestWKID {
            throw PublishingError(
                .badData,
                """
                The file is in the spatial reference \(reference.wkid.map { "\($0.rawValue)" } ?? "of its own"), which --wkid \
                can't change. To transform it: ogr2ogr -t_srs EPSG:\(expected.wkid.map { "\($0.rawValue)" } ?? "…") \
                OUT.gpkg \(url.lastPathComponent)
                """)
        }
        var schema = SourceSchema(
            fields: [], readings: [], kinds: LayerGeometryType.inLayerOrder.filter(kinds.contains),
            spatialReference: kinds.isEmpty ? nil : reference, hasZ: hasZ, featureCount: count)
        (schema.identity, schema.notes) = try identity.columns()
        let inOrder = order.compactMap { columns[$0] }
        if isSheet { try setPlace(of: &schema, inOrder) }
        let hints = ColumnHints(inOrder, options.settings)
        for column in inOrder where !schema.identity.contains(column.name) {
            var (field, reading, doubt) = column.conclusion(hints)
            field.alias = reading.title
            schema.fields.append(field)
            schema.readings.append(reading)
            if let doubt { schema.notes.append(doubt) }
        }
        for (index, name) in FieldNames.unique(schema.readings.map(\.title)).enumerated() {
            schema.fields[index].name = name
        }
        return schema
    }

    /// The properties of a feature, and its id.
    private static func properties(of feature: JSONValue) -> [(key: String, value: JSONValue)] {
        let properties = feature["properties"]?.objectValue
        let members = properties?.members.map { (key: $0.key, value: $0.value) } ?? []
        guard let id = feature[idName], id != .null, properties?[idName] == nil else { return members }
        return [(idName, id)] + members
    }

    private func setPlace(of schema: inout SourceSchema, _ columns: [FieldInference]) throws {
        if options.isTable { return }
        if let wanted = options.coordinates {
            func title(_ name: String) throws -> String {
                guard let column = columns.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                    let titles = columns.map(\.name).joined(separator: ", ")
                    throw PublishingError(.badData, "There is no column \(name). The columns are: \(titles).")
                }
                return column.name
            }
            schema.place = .coordinates(x: try title(wanted.x), y: try title(wanted.y))
            schema.spatialReference = options.reference ?? .wgs84
        } else {
            let (found, words) = PlaceColumns.find(columns, [:], options.reference)
            schema.place = found?.columns
            schema.spatialReference = found?.reference
            if let words { schema.notes.append(words) }
        }
        if schema.place != nil { schema.kinds = [.point] }
    }

    /// One kind of geometry a layer: simple and multiple ones of a kind go together.
    private static func kind(_ type: String) -> LayerGeometryType? {
        switch type {
        case "Point": .point
        case "MultiPoint": .multipoint
        case "LineString", "MultiLineString": .polyline
        case "Polygon", "MultiPolygon": .polygon
        default: nil
        }
    }

    package func name(of place: Int) -> String { "feature \(place)" }

    package func forEach(_ schema: SourceSchema, _ body: (Result<FeatureEdit, BadRow>, Int) throws -> Void) throws {
        let place = PlaceReader(schema)
        _ = try features { feature, number in try body(Self.feature(feature, schema, place), number) }
    }

    private static func feature(
        _ json: JSONValue, _ schema: SourceSchema, _ place: PlaceReader
    ) -> Result<FeatureEdit, BadRow> {
        let properties = Dictionary(properties(of: json)) { first, _ in first }
        let attributes = zip(schema.fields, schema.readings).map { field, reading in
            (
                name: field.name,
                value: FieldInference.value(properties[reading.title].map(value) ?? .null, for: field, reading)
            )
        }
        let ids = schema.identity.ids { properties[$0].map(value) }
        var feature = FeatureEdit(
            objectID: ids.objectID, globalID: ids.globalID, attributes: attributes, geometry: .null)
        if schema.place != nil {
            return place.geometry { properties[$0].map(text) ?? "" }.map { geometry in
                feature.geometry = geometry
                return feature
            }
        }
        do {
            let geometry = try json["geometry"].flatMap {
                try GeoJSONCodec.geometry(from: $0, spatialReference: schema.spatialReference ?? .wgs84)
            }
            guard let geometry else { return .success(feature) }
            return place.checked(geometry, " Are they swapped? GeoJSON writes the longitude first.").map { checked in
                feature.geometry = checked
                return feature
            }
        } catch {
            let details = (error as? GeometryError)?.details ?? "\(error)"
            return .failure(BadRow(reason: details))
        }
    }

    /// A value as a table would write it.
    private static func text(_ json: JSONValue) -> String {
        switch json {
        case .null: ""
        case .string(let text): text
        default: json.text
        }
    }

    private static func value(_ json: JSONValue) -> AttributeValue {
        switch json {
        case .null: .null
        case .bool(let value): .integer(value ? 1 : 0)
        case .integer(let value): .integer(value)
        case .number(let value): .real(value)
        case .string(let value): .text(value)
        case .array, .object: .text(json.text)
        }
    }

    // MARK: Reading

    /// Gives the spatial reference that the file names.
    private func features(_ body: (JSONValue, Int) throws -> Void) throws -> SpatialReference {
        let source = try ByteSource(url)
        defer { source.close() }
        var cutter = FeatureCutter()
        var number = 0
        while let piece = try source.next() {
            try Task.checkCancellation()
            try cutter.feed(piece) { bytes in
                number += 1
                do {
                    try body(try JSONParser.parse(bytes), number)
                } catch let error as JSONError {
                    throw PublishingError(.badData, "Feature \(number) is not JSON (at its byte \(error.offset)).")
                }
            }
        }
        guard cutter.isComplete else {
            throw PublishingError(
                .badData,
                "\(url.lastPathComponent) ends in the midst of an object, or has no features of GeoJSON in it.")
        }
        return try Self.spatialReference(cutter.crs)
    }

    /// The standard of 2016 knows WGS 84 only; files in its older form name another reference in `crs`. To take their
    /// coordinates for degrees would put the features elsewhere.
    private static func spatialReference(_ bytes: [UInt8]) throws -> SpatialReference {
        guard !bytes.isEmpty else { return .wgs84 }
        guard let name = try? JSONParser.parse(bytes)["properties"]?["name"]?.stringValue else {
            throw PublishingError(.badData, "The file's crs is in a form that Fieldwork does not read.")
        }
        if name.hasSuffix("CRS84") || name.hasSuffix("CRS84h") { return .wgs84 }
        let parts = name.uppercased().split(separator: ":", omittingEmptySubsequences: true)
        guard parts.contains("EPSG"), let code = parts.last.flatMap({ Int($0) }), let wkid = WKID(code),
            let reference = SpatialReference(wkid: wkid)
        else { throw PublishingError(.badData, "The file's spatial reference \(name) is unknown.") }
        return reference
    }
}
