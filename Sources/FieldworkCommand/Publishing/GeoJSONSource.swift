import FieldworkGeometry
import FieldworkREST
import Foundation

/// A GeoJSON feature collection, read feature by feature: memory does not grow with the file.
struct GeoJSONSource: FeatureSource {
    var url: URL
    /// The reference that the caller says the file is in; nil for what the file says.
    var expectedReference: SpatialReference?

    func schema(progress: (Int) -> Void) throws -> SourceSchema {
        var columns: [String: FieldInference] = [:]
        var order: [String] = []
        var types: Set<String> = []
        var hasZ = false
        var count = 0
        let reference = try features { feature, _ in
            for member in feature["properties"]?.objectValue?.members ?? [] {
                if columns[member.key] == nil {
                    columns[member.key] = FieldInference(name: member.key, readsNumbersInText: false)
                    order.append(member.key)
                }
                columns[member.key]?.see(Self.value(member.value))
            }
            if let type = feature["geometry"]?["type"]?.stringValue { types.insert(type) }
            if let geometry = feature["geometry"], !hasZ {
                hasZ = ((try? GeoJSONCodec.geometry(from: geometry)) ?? nil)?.hasZ ?? false
            }
            count += 1
            progress(count)
        }
        let names = FieldNames.unique(order)
        let fields = zip(order, names).compactMap { key, name -> FieldDefinition? in
            guard var field = columns[key]?.field else { return nil }
            (field.name, field.alias) = (name, key)
            return field
        }
        let kinds = Set(types.compactMap(Self.kind))
        guard !kinds.isEmpty || types.isEmpty else {
            throw CommandFailure(
                .badData,
                "A layer has points, lines or polygons; the file has \(types.sorted().joined(separator: ", ")).")
        }
        if let expectedReference, !kinds.isEmpty, expectedReference.latestWKID != reference.latestWKID {
            throw CommandFailure(
                .badData,
                """
                The file is in the spatial reference \(reference.wkid.map { "\($0.rawValue)" } ?? "of its own"), which --wkid \
                can't change. To transform it: ogr2ogr -t_srs EPSG:\(expectedReference.wkid.map { "\($0.rawValue)" } ?? "…") \
                OUT.gpkg \(url.lastPathComponent)
                """)
        }
        return SourceSchema(
            fields: fields, kinds: Self.order.filter(kinds.contains), spatialReference: kinds.isEmpty ? nil : reference,
            hasZ: hasZ, featureCount: count)
    }

    private static let order: [LayerGeometryType] = [.point, .multipoint, .polyline, .polygon]

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

    func name(of place: Int) -> String { "feature \(place)" }

    func forEach(_ schema: SourceSchema, _ body: (Result<FeatureEdit, BadRow>, Int) throws -> Void) throws {
        let range = schema.spatialReference.flatMap(CoordinateRange.init)
        _ = try features { feature, number in try body(Self.feature(feature, schema, range), number) }
    }

    private static func feature(
        _ json: JSONValue, _ schema: SourceSchema, _ range: CoordinateRange?
    ) -> Result<FeatureEdit, BadRow> {
        var attributes: [(name: String, value: AttributeValue)] = []
        let properties = json["properties"]?.objectValue
        for field in schema.fields {
            let value = properties?[field.alias].map(value) ?? .null
            attributes.append((field.name, FieldInference.value(value, for: field)))
        }
        do {
            let geometry = try json["geometry"].flatMap {
                try GeoJSONCodec.geometry(from: $0, spatialReference: schema.spatialReference ?? .wgs84)
            }
            if let range, let corner = geometry.flatMap({ outside($0.extent, range) }) {
                let isSwapped = range.looksSwapped(x: corner.x, y: corner.y)
                let hint = isSwapped ? " Are they swapped? GeoJSON writes the longitude first." : ""
                return .failure(
                    BadRow(
                        reason:
                            "The coordinates \(corner.x), \(corner.y) are outside of the spatial reference.\(hint)"))
            }
            return .success(
                FeatureEdit(attributes: attributes, geometry: geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null))
        } catch {
            let details = (error as? GeometryError)?.details ?? "\(error)"
            return .failure(BadRow(reason: details))
        }
    }

    /// A corner that is outside of where coordinates can be.
    private static func outside(_ extent: Envelope, _ range: CoordinateRange) -> (x: Double, y: Double)? {
        [(extent.xMin, extent.yMin), (extent.xMax, extent.yMax)].first { !range.contains(x: $0.0, y: $0.1) }
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
                    throw CommandFailure(.badData, "Feature \(number) is not JSON (at its byte \(error.offset)).")
                }
            }
        }
        guard cutter.isComplete else {
            throw CommandFailure(.badData, "\(url.lastPathComponent) is not a whole GeoJSON feature collection.")
        }
        return try Self.spatialReference(cutter.crs)
    }

    /// The standard of 2016 knows WGS 84 only; files in its older form name another reference in `crs`. To take their
    /// coordinates for degrees would put the features elsewhere.
    private static func spatialReference(_ bytes: [UInt8]) throws -> SpatialReference {
        guard !bytes.isEmpty else { return .wgs84 }
        guard let name = try? JSONParser.parse(bytes)["properties"]?["name"]?.stringValue else {
            throw CommandFailure(.badData, "The file's crs is in a form that Fieldwork does not read.")
        }
        if name.hasSuffix("CRS84") || name.hasSuffix("CRS84h") { return .wgs84 }
        let parts = name.uppercased().split(separator: ":", omittingEmptySubsequences: true)
        guard parts.contains("EPSG"), let code = parts.last.flatMap({ Int($0) }), let wkid = WKID(code),
            let reference = SpatialReference(wkid: wkid)
        else { throw CommandFailure(.badData, "The file's spatial reference \(name) is unknown.") }
        return reference
    }
}

/// Cuts the objects of the array `features` out of a stream of JSON.
private struct FeatureCutter {
    private static let featureBytesMax = 256 << 20
    private static let crsBytesMax = 64 << 10

    /// What is open and not yet closed, outermost first.
    private var open: [UInt8] = []
    private var depth: Int { open.count }
    private var isInString = false
    private var isEscaped = false
    private var key: [UInt8] = []
    private var lastString: [UInt8] = []
    private var featuresDepth: Int?
    private var feature: [UInt8] = []
    private var hasFeatures = false
    /// The object `crs` of the collection, where there is one.
    private(set) var crs: [UInt8] = []
    private var isInCRS = false

    var isComplete: Bool { hasFeatures && depth == 0 }

    mutating func feed(_ data: Data, _ body: ([UInt8]) throws -> Void) throws {
        for byte in data {
            if let featuresDepth, depth > featuresDepth { feature.append(byte) }
            if isInCRS, crs.count < Self.crsBytesMax { crs.append(byte) }
            if isInString {
                string(byte)
                continue
            }
            switch byte {
            case 0x22:
                guard depth != 1 || key != Array("crs".utf8) else {
                    throw CommandFailure(.badData, "The file's crs is in a form that Fieldwork does not read.")
                }
                isInString = true
                lastString.removeAll(keepingCapacity: true)
            case 0x3A: if depth == 1 { key = lastString }
            case 0x2C: if depth == 1 { key = [] }
            case 0x7B, 0x5B:
                if byte == 0x5B, depth == 1, key == Array("features".utf8) {
                    featuresDepth = depth + 1
                    hasFeatures = true
                }
                if byte == 0x7B, depth == 1, key == Array("crs".utf8) { (isInCRS, crs) = (true, [byte]) }
                open.append(byte)
                if let featuresDepth, byte == 0x7B, depth == featuresDepth + 1 { feature = [byte] }
            case 0x7D, 0x5D:
                // `{` and `}`, `[` and `]` are two apart.
                guard open.popLast() == byte - 2 else {
                    throw CommandFailure(.badData, "The JSON closes what it did not open.")
                }
                if depth == 1 { isInCRS = false }
                if let featuresDepth {
                    if byte == 0x7D, depth == featuresDepth { try body(feature) }
                    if depth < featuresDepth { self.featuresDepth = nil }
                }
            default: break
            }
            guard feature.count <= Self.featureBytesMax else {
                throw CommandFailure(.badData, "A feature is too large.")
            }
        }
    }

    private mutating func string(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == 0x5C {
            isEscaped = true
        } else if byte == 0x22 {
            isInString = false
        } else if depth == 1, lastString.count < 64 {
            lastString.append(byte)
        }
    }
}
