import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// Turns what a client has set on a feature object into what is kept, checked against the layer.
struct FeatureDraft {
    let layer: LayerDefinition

    /// A new row, with the defaults of fields that were left out and a global id of its own.
    func newRecord(_ feature: ArcGISFeature) throws -> FeatureRecord {
        var record = try record(feature)
        let tracked = Set(
            [
                layer.editFields?.creationDateField, layer.editFields?.creatorField, layer.editFields?.editDateField,
                layer.editFields?.editorField,
            ].compactMap { $0?.lowercased() })
        for field in layer.fields where record.attributes[field.name] ?? .null == .null {
            if !field.defaultValue.isNull {
                record.attributes[field.name] = AttributeConversion.normalised(field.defaultValue, type: field.type)
            } else if !field.isNullable, field.isEditable, !tracked.contains(field.name.lowercased()),
                ![.oid, .globalID, .geometry].contains(field.type)
            {
                throw GeodatabaseError.valueIsNull(details: "The field \(field.name) needs a value.")
            }
        }
        record.globalID = record.globalID ?? DeviceIDs.next()
        if let name = layer.globalIDField {
            record.attributes[name] = record.globalID.map { .text(GUID.normalForm($0)) }
        }
        return record
    }

    /// What the client changed since the object was read or handed over last, and the whole record as the client has it.
    func update(
        of feature: ArcGISFeature, since origin: FeatureRecord
    ) throws -> (update: LocalStore.Update, record: FeatureRecord) {
        var record = try record(feature)
        record.objectID = origin.objectID
        record.globalID = origin.globalID
        let changes = LocalEdit.changes(from: origin, to: record, layer: layer)
        for change in changes where change.value.isNull && layer.field(named: change.name)?.isNullable == false {
            throw GeodatabaseError.valueIsNull(details: "The field \(change.name) needs a value.")
        }
        let geometry: FeatureEdit.GeometryEdit =
            record.geometry == origin.geometry ? .unchanged : record.geometry.map { .geometry($0) } ?? .null
        let update = LocalStore.Update(
            objectID: origin.objectID, base: origin, attributes: changes, geometry: geometry)
        return (update, record)
    }

    private func record(_ feature: ArcGISFeature) throws -> FeatureRecord {
        let (values, geometry) = feature.state.withLock { ($0.attributes, $0.geometry) }
        var attributes: [String: AttributeValue] = [:]
        for (name, value) in values {
            guard let field = layer.field(named: name) else {
                throw GeodatabaseError.fieldNotFound(details: "The table \(layer.name) has no field \(name).")
            }
            attributes[field.name] = try AttributeConversion.stored(value, in: field)
        }
        let globalID = layer.globalIDField.flatMap { attributes[$0]?.textValue }.flatMap(GUID.parse)
        return FeatureRecord(
            objectID: 0, globalID: globalID, attributes: AttributeValues(attributes),
            geometry: try geometry.map(checked))
    }

    private func checked(_ geometry: Geometry) throws -> Geometry {
        guard let type = layer.geometryType, let reference = layer.spatialReference else {
            throw GeodatabaseError.geometryFieldMissing(details: "The table \(layer.name) has no geometries.")
        }
        guard LayerGeometryType(geometry) == type else {
            throw GeodatabaseError.shapeWrongType(details: "The table \(layer.name) takes other kinds of geometries.")
        }
        return try GeometryEngine.projected(geometry, into: reference)
    }
}
