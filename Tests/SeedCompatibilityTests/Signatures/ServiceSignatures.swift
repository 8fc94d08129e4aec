import ArcGIS
import Foundation

/// The members of services and the results of edits that clients rely on, each with the type that they rely on. That it compiles is the test.
enum ServiceSignatures {
    static func editResult() {
        let _: KeyPath<EditResult, Bool> = \.didCompleteWithErrors
        let _: KeyPath<EditResult, (any Error)?> = \.error
    }

    static func featureEditResult() {
        let _: KeyPath<FeatureEditResult, [EditResult]> = \.attachmentResults
    }

    static func featureTableEditResult() {
        let _: KeyPath<FeatureTableEditResult, [FeatureEditResult]> = \.editResults
        let _: KeyPath<FeatureTableEditResult, ServiceFeatureTable?> = \.featureTable
    }

    static func serviceGeodatabase() {
        let _: (URL) -> ServiceGeodatabase = ServiceGeodatabase.init(url:)
        let _: KeyPath<ServiceGeodatabase, ArcGISFeatureServiceInfo?> = \.serviceInfo
        let _: (ServiceGeodatabase) -> (Int) -> ServiceFeatureTable? = ServiceGeodatabase.table(withLayerID:)
        let _: KeyPath<ServiceGeodatabase, Bool> = \.hasLocalEdits
        let _: (ServiceGeodatabase) -> () async throws -> [FeatureTableEditResult] = ServiceGeodatabase.applyEdits
        let _: (ServiceGeodatabase) -> () async throws -> Void = ServiceGeodatabase.undoLocalEdits
        let _: KeyPath<ServiceGeodatabase, String> = \.versionName
        let _: KeyPath<ServiceGeodatabase, String> = \.defaultVersionName
    }

    static func arcGISFeatureServiceInfo() {
        let _: KeyPath<ArcGISFeatureServiceInfo, URL?> = \.url
        let _: KeyPath<ArcGISFeatureServiceInfo, [FeatureServiceLayerIDInfo]> = \.layerInfos
        let _: KeyPath<ArcGISFeatureServiceInfo, SpatialReference?> = \.spatialReference
        let _: KeyPath<ArcGISFeatureServiceInfo, Envelope?> = \.fullExtent
        let _: KeyPath<ArcGISFeatureServiceInfo, Bool> = \.canUseServiceGeodatabaseApplyEdits
        let _: KeyPath<ArcGISFeatureServiceInfo, Bool> = \.supportsTrueCurve
        let _: KeyPath<ArcGISFeatureServiceInfo, Bool> = \.allowsTrueCurvesUpdates
        let _: KeyPath<ArcGISFeatureServiceInfo, Bool> = \.onlyAllowsTrueCurveUpdatesByTrueCurveClients
    }

    static func serviceCurveGeometryMode() {
        let _: [ServiceCurveGeometryMode] = [.densifyCurves, .trueCurveClient]
    }

    static func featureServiceLayerIDInfo() {
        let _: KeyPath<FeatureServiceLayerIDInfo, Int?> = \.id
    }

    static func arcGISFeatureLayerInfo() {
        let _: KeyPath<ArcGISFeatureLayerInfo, String> = \.displayFieldName
        let _: KeyPath<ArcGISFeatureLayerInfo, Int> = \.serviceLayerID
        let _: KeyPath<ArcGISFeatureLayerInfo, [RelationshipInfo]> = \.relationshipInfos
    }
}
