public import FieldworkGeometry
import FieldworkREST
public import Foundation

/// What a feature service says about itself.
public final class ArcGISFeatureServiceInfo: Sendable {
    /// The root of the service.
    public let url: URL?
    /// The layers: id, name, geometry type.
    public let layerInfos: [FeatureServiceLayerIDInfo]
    /// The tables: id and name.
    public let tableInfos: [FeatureServiceLayerIDInfo]
    /// The reference of its data.
    public let spatialReference: SpatialReference?
    /// What its data covers.
    public let fullExtent: Envelope?
    /// What to show first.
    public let initialExtent: Envelope?
    /// What the service is.
    public let serviceDescription: String
    /// Whose data it is.
    public let copyrightText: String
    /// The most features of one answer.
    public let maxRecordCount: Int
    /// Whether the edits of several tables go in one request.
    public let canUseServiceGeodatabaseApplyEdits: Bool
    /// Whether replicas are allowed.
    public let isSyncEnabled: Bool
    /// Whether curve segments are stored as they are.
    public let supportsTrueCurve: Bool
    /// Whether curve segments may be sent.
    public let allowsTrueCurvesUpdates: Bool
    /// Whether only clients that know curves may change features that have some.
    public let onlyAllowsTrueCurveUpdatesByTrueCurveClients: Bool

    init(_ definition: ServiceDefinition, url: URL) {
        self.url = url
        layerInfos = definition.layers.filter { !$0.isTable }.map(FeatureServiceLayerIDInfo.init)
        tableInfos = definition.layers.filter(\.isTable).map(FeatureServiceLayerIDInfo.init)
        spatialReference = definition.spatialReference
        fullExtent = definition.fullExtent
        initialExtent = definition.initialExtent
        serviceDescription = definition.serviceDescription ?? definition.description
        copyrightText = definition.copyrightText
        maxRecordCount = definition.maxRecordCount
        canUseServiceGeodatabaseApplyEdits = definition.capabilities.contains(.editing)
        isSyncEnabled = definition.capabilities.contains(.sync)
        supportsTrueCurve = Self.flag("supportsTrueCurve", definition)
        allowsTrueCurvesUpdates = Self.flag("allowTrueCurvesUpdates", definition)
        onlyAllowsTrueCurveUpdatesByTrueCurveClients =
            Self.flag("onlyAllowTrueCurveUpdatesByTrueCurveClients", definition)
    }

    private static func flag(_ name: String, _ definition: ServiceDefinition) -> Bool {
        definition.unknownMembers[name]?.boolValue ?? false
    }

    /// Whether a service stores curves and lets clients send them.
    static func takesCurves(_ definition: ServiceDefinition) -> Bool {
        flag("supportsTrueCurve", definition) && flag("allowTrueCurvesUpdates", definition)
    }
}

/// A layer or table as a service lists it.
public final class FeatureServiceLayerIDInfo: Sendable {
    /// Its id in the service.
    public let id: Int?
    /// Its name.
    public let name: String
    /// The kind of its geometries; nil for a table.
    public let geometryType: Geometry.Type?

    init(_ layer: LayerDefinition) {
        id = layer.id
        name = layer.name
        geometryType = layer.geometryType?.metatype
    }
}

/// What a layer or table says about itself.
public final class ArcGISFeatureLayerInfo: Sendable {
    /// The field whose value titles a feature.
    public let displayFieldName: String
    /// Its id in the service.
    public let serviceLayerID: Int
    /// Its name in the service.
    public let serviceLayerName: String
    /// Its relationships to other tables.
    public let relationshipInfos: [RelationshipInfo]

    init(_ layer: LayerDefinition) {
        displayFieldName = layer.displayField ?? ""
        serviceLayerID = layer.id
        serviceLayerName = layer.name
        relationshipInfos = layer.relationships.map(RelationshipInfo.init)
    }
}

/// The fields that a service fills with who and when.
public final class EditFieldsInfo: Sendable {
    /// When the feature was made; empty when this is not kept.
    public let creationDateField: String
    /// Who made it.
    public let creatorField: String
    /// When it was changed last.
    public let editDateField: String
    /// Who changed it last.
    public let editorField: String

    init(_ definition: EditFieldsDefinition) {
        creationDateField = definition.creationDateField ?? ""
        creatorField = definition.creatorField ?? ""
        editDateField = definition.editDateField ?? ""
        editorField = definition.editorField ?? ""
    }
}

extension LayerGeometryType {
    var metatype: Geometry.Type {
        switch self {
        case .point: Point.self
        case .multipoint: Multipoint.self
        case .polyline: Polyline.self
        case .polygon: Polygon.self
        case .envelope: Envelope.self
        }
    }

    init?(_ geometry: Geometry) {
        switch geometry {
        case is Point: self = .point
        case is Multipoint: self = .multipoint
        case is Polyline: self = .polyline
        case is Polygon: self = .polygon
        case is Envelope: self = .envelope
        default: return nil
        }
    }
}
