import FieldworkGeometry
import FieldworkREST

/// Makes the definitions of new tables and fields of what a client describes.
struct TableDefinitionMaker {
    let service: ServiceDefinition

    /// The id of the next table: no id is used twice, also not that of a table that was deleted.
    private var nextID: Int {
        let last = service.unknownMembers["lastLayerId"]?.integerValue.flatMap { Int(exactly: $0) } ?? -1
        return max(last, service.layers.map(\.id).max() ?? -1) + 1
    }

    /// Throws `GeodatabaseError.itemAlreadyExists` and `.invalidArgument`.
    func layer(_ description: TableDescription) throws -> LayerDefinition {
        let name = description.name
        guard !name.isEmpty else { throw GeodatabaseError.invalidArgument(details: "A table needs a name.") }
        if service.layers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
            throw GeodatabaseError.itemAlreadyExists(details: "There is a table \(name) already.")
        }
        let type = try description.geometryType.map(Self.layerGeometryType)
        if type != nil, description.spatialReference == nil {
            throw GeodatabaseError.invalidArgument(details: "A table with geometries needs a spatial reference.")
        }
        let values = description.values
        let ids = [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
        ]
        return LayerDefinition(
            id: nextID, name: name, geometryType: type, hasZ: values.hasZ, hasM: values.hasM,
            spatialReference: type == nil ? nil : description.spatialReference,
            fields: ids + (try values.fields.map(field)), globalIDField: "GlobalID",
            hasAttachments: values.hasAttachments)
    }

    func field(_ description: FieldDescription) throws -> FieldDefinition {
        guard let type = FieldworkREST.FieldType(description.fieldType) else {
            throw GeodatabaseError.invalidArgument(
                details: "A field of the type of \(description.name) can't be made.")
        }
        var field = FieldDefinition(
            name: description.name, alias: description.alias.isEmpty ? nil : description.alias, type: type,
            length: description.length, isNullable: description.isNullable, isEditable: description.isEditable)
        if !description.domainName.isEmpty {
            let domains =
                service.layers.flatMap(\.fields).compactMap(\.domain) + service.madeDomains.map(\.domain)
            guard let domain = domains.first(where: { $0.name == description.domainName }) else {
                throw GeodatabaseError.itemNotFound(details: "There is no domain \(description.domainName).")
            }
            field.domain = domain
        }
        field.defaultValue = try AttributeConversion.stored(description.defaultValue, in: field)
        return field
    }

    private static func layerGeometryType(_ type: Geometry.Type) throws -> LayerGeometryType {
        if type == Point.self { return .point }
        if type == Multipoint.self { return .multipoint }
        if type == Polyline.self { return .polyline }
        if type == Polygon.self { return .polygon }
        throw GeodatabaseError.shapeWrongType(details: "A table keeps points, multipoints, polylines or polygons.")
    }
}

extension FieldworkREST.FieldType {
    /// nil for types that only the geodatabase itself makes.
    fileprivate init?(_ type: FieldType) {
        switch type {
        case .int16: self = .smallInteger
        case .int32: self = .integer
        case .int64: self = .bigInteger
        case .float32: self = .single
        case .float64: self = .double
        case .text: self = .string
        case .date: self = .date
        case .dateOnly: self = .dateOnly
        case .timeOnly: self = .timeOnly
        case .timestampOffset: self = .timestampOffset
        case .guid: self = .guid
        case .blob: self = .blob
        case .oid, .globalID, .geometry, .raster, .xml: return nil
        }
    }
}
