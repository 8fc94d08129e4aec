import ArcGIS
import Foundation

/// The members of tables and features that clients rely on, each with the type that they rely on. That it compiles is the test.
enum TableSignatures {
    static func featureTable() {
        let _: KeyPath<FeatureTable, String> = \.tableName
        let _: WritableKeyPath<FeatureTable, String> = \.displayName
        let _: KeyPath<FeatureTable, [Field]> = \.fields
        let _: KeyPath<FeatureTable, Geometry.Type?> = \.geometryType
        let _: KeyPath<FeatureTable, Envelope?> = \.extent
        let _: KeyPath<FeatureTable, SpatialReference?> = \.spatialReference
        let _: KeyPath<FeatureTable, Int> = \.numberOfFeatures
        let _: KeyPath<FeatureTable, Layer?> = \.layer
        let _: WritableKeyPath<FeatureTable, PopupDefinition?> = \.popupDefinition
        let _: WritableKeyPath<FeatureTable, Bool> = \.popupIsEnabled
        let _: (FeatureTable) -> (String) -> Field? = FeatureTable.field(named:)
        let _: (FeatureTable) -> ([String: any Sendable], Geometry?) -> Feature = FeatureTable.makeFeature(
            attributes:geometry:)
        let _: (FeatureTable) -> (FeatureType, Geometry?) -> Feature = FeatureTable.makeFeature(type:geometry:)
        let _: (FeatureTable) -> (Feature) async throws -> Void = FeatureTable.add(_:)
        let _: (FeatureTable) -> (Feature) async throws -> Void = FeatureTable.update(_:)
        let _: (FeatureTable) -> (Feature) async throws -> Void = FeatureTable.delete(_:)
        let _: (FeatureTable) -> (Feature) -> Bool = FeatureTable.canUpdate(_:)
        let _: (FeatureTable) -> (Feature) -> Bool = FeatureTable.canDelete(_:)
        let _: (FeatureTable) -> (QueryParameters) async throws -> FeatureQueryResult = FeatureTable.queryFeatures(
            using:)
        let _: (FeatureTable) -> (QueryParameters) async throws -> Int = FeatureTable.queryFeatureCount(using:)
        let _: (FeatureTable) -> (QueryParameters) async throws -> Envelope = FeatureTable.queryExtent(using:)
        let _: (FeatureTable) -> (StatisticsQueryParameters) async throws -> StatisticsQueryResult = FeatureTable
            .queryStatistics(using:)
    }

    static func arcGISFeatureTable() {
        let _: KeyPath<ArcGISFeatureTable, [FeatureType]> = \.featureTypes
        let _: KeyPath<ArcGISFeatureTable, String> = \.objectIDField
        let _: KeyPath<ArcGISFeatureTable, Bool> = \.hasAttachments
        let _: KeyPath<ArcGISFeatureTable, ArcGISFeatureLayerInfo?> = \.layerInfo
        let _: KeyPath<ArcGISFeatureTable, Int64> = \.serviceLayerID
        let _: KeyPath<ArcGISFeatureTable, ContingentValuesDefinition> = \.contingentValuesDefinition
        let _:
            (ArcGISFeatureTable) -> (ArcGISFeature, RelatedQueryParameters?) async throws -> [RelatedFeatureQueryResult] =
                ArcGISFeatureTable.queryRelatedFeatures(to:using:)
        let _: (ArcGISFeatureTable) -> (ArcGISFeature, String) -> ContingentValuesResult? = ArcGISFeatureTable
            .contingentValues(with:forFieldNamed:)
        let _: (ArcGISFeatureTable) -> (ArcGISFeature) -> [ContingencyConstraintViolation] = ArcGISFeatureTable
            .validateContingencyConstraints(for:)
    }

    static func serviceFeatureTable() {
        let _: (URL) -> ServiceFeatureTable = ServiceFeatureTable.init(url:)
        let _: (any Item, Int) -> ServiceFeatureTable = ServiceFeatureTable.init(item:layerID:)
        let _: KeyPath<ServiceFeatureTable, URL?> = \.url
        let _: KeyPath<ServiceFeatureTable, (any Item)?> = \.item
        let _: KeyPath<ServiceFeatureTable, ServiceGeodatabase?> = \.serviceGeodatabase
        let _: WritableKeyPath<ServiceFeatureTable, FeatureRequestMode> = \.featureRequestMode
        let _: (ServiceFeatureTable) -> () async throws -> Bool = ServiceFeatureTable.hasLocalEdits
        let _: (ServiceFeatureTable) -> () async throws -> [FeatureEditResult] = ServiceFeatureTable.applyEdits
        let _: (ServiceFeatureTable) -> () async throws -> Void = ServiceFeatureTable.undoLocalEdits
        let _: (ServiceFeatureTable) -> (QueryParameters?, Bool, [String]) async throws -> FeatureQueryResult =
            ServiceFeatureTable.populateFromService(using:clearCache:outFields:)
        let _: (ServiceFeatureTable) -> (QueryParameters, QueryFeatureFields) async throws -> FeatureQueryResult =
            ServiceFeatureTable.queryFeatures(using:queryFeatureFields:)
        let _:
            (ServiceFeatureTable) -> (ArcGISFeature, RelatedQueryParameters, QueryFeatureFields) async throws ->
                [RelatedFeatureQueryResult] = ServiceFeatureTable.queryRelatedFeatures(to:using:queryFeatureFields:)
    }

    static func featureRequestMode() {
        let _: [FeatureRequestMode] = [.undefined, .onInteractionCache, .onInteractionNoCache, .manualCache]
    }

    static func queryFeatureFields() {
        let _: [QueryFeatureFields] = [.idsOnly, .minimum, .loadAll]
    }

    static func geodatabaseFeatureTable() {
        let _: KeyPath<GeodatabaseFeatureTable, Geodatabase?> = \.geodatabase
    }

    static func feature() {
        let _: KeyPath<Feature, [String: any Sendable]> = \.attributes
        let _: WritableKeyPath<Feature, Geometry?> = \.geometry
        let _: KeyPath<Feature, FeatureTable?> = \.table
        let _: (Feature) -> (String) -> (any Sendable)? = Feature.attributeValue(forKey:)
        let _: (Feature) -> ((any Sendable)?, String) -> Void = Feature.setAttributeValue(_:forKey:)
    }

    static func arcGISFeature() {
        let _: (ArcGISFeature) -> () async throws -> Void = ArcGISFeature.load
        let _: (ArcGISFeature) -> () -> Void = ArcGISFeature.refresh
        let _: (ArcGISFeature) async throws -> [Attachment] = { try await $0.attachments }
        let _: (ArcGISFeature) -> (String, String, Data) async throws -> Attachment = ArcGISFeature.addAttachment(
            named:contentType:data:)
        let _: (ArcGISFeature) -> (Attachment) async throws -> Void = ArcGISFeature.deleteAttachment(_:)
        let _: (ArcGISFeature) -> (ArcGISFeature, RelationshipInfo?) throws -> Void = ArcGISFeature.relate(to:using:)
    }

    static func geoElement() {
        let _: (any GeoElement) -> [String: any Sendable] = { $0.attributes }
        let _: (any GeoElement) -> Geometry? = { $0.geometry }
        let _: (any GeoElement, String) -> (any Sendable)? = { (x, a0) in x.attributeValue(forKey: a0) }
        let _: (any GeoElement, (any Sendable)?, String) -> Void = { (x, a0, a1) in x.setAttributeValue(a0, forKey: a1)
        }
    }

    static func attachment() {
        let _: KeyPath<Attachment, Int> = \.id
        let _: KeyPath<Attachment, String> = \.name
        let _: KeyPath<Attachment, String> = \.contentType
        let _: (Attachment) async throws -> Data = { try await $0.data }
    }

    static func field() {
        let _: (FieldType, String, String, Int, Domain?, Bool, Bool) -> Field = Field.init(
            type:name:alias:length:domain:isEditable:allowsNull:)
        let _: (String, String, Int) -> Field = Field.text(name:alias:length:)
        let _: KeyPath<Field, String> = \.name
        let _: KeyPath<Field, String> = \.alias
        let _: KeyPath<Field, FieldType?> = \.type
        let _: KeyPath<Field, Domain?> = \.domain
        let _: KeyPath<Field, Bool> = \.isEditable
    }

    static func fieldType() {
        let _: [FieldType] = [
            .int16, .int32, .int64, .float32, .float64, .text, .date, .dateOnly, .timeOnly, .timestampOffset, .oid,
            .globalID, .guid, .blob, .geometry, .raster, .xml,
        ]
    }

    static func domain() {
        let _: KeyPath<Domain, String> = \.name
        let _: KeyPath<Domain, FieldType?> = \.fieldType
    }

    static func codedValueDomain() {
        let _: KeyPath<CodedValueDomain, [CodedValue]> = \.codedValues
    }

    static func codedValue() {
        let _: KeyPath<CodedValue, (any Sendable)?> = \.code
        let _: KeyPath<CodedValue, String> = \.name
    }

    static func featureType() {
        let _: KeyPath<FeatureType, String> = \.name
    }

    static func contingentValuesResult() {
        let _: KeyPath<ContingentValuesResult, [ContingentValue]> = \.contingentValues
        let _: KeyPath<ContingentValuesResult, [String: [ContingentValue]]> = \.contingentValuesByFieldGroup
    }

    static func contingentCodedValue() {
        let _: KeyPath<ContingentCodedValue, CodedValue> = \.codedValue
    }

    static func contingentRangeValue() {
        let _: KeyPath<ContingentRangeValue, (any Sendable)?> = \.minValue
        let _: KeyPath<ContingentRangeValue, (any Sendable)?> = \.maxValue
    }
}
