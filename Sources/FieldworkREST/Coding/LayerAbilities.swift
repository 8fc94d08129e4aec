import FieldworkGeometry

/// What this server can do with a layer, as the layer resource advertises it. An ability is listed as true only when the
/// operation works: clients take the word for it.
enum LayerAbilities {
    static let queryFormats = "JSON, geoJSON, PBF"

    /// - Parameter historyStart: milliseconds since 1970 of the first moment whose state can be asked for; nil without a
    ///   history.
    static func members(of layer: LayerDefinition, historyStart: Int64? = nil) -> JSONObject {
        var object = members(
            isTable: layer.isTable, isArea: layer.geometryType == .polygon, hasAttachments: layer.hasAttachments,
            hasHistory: historyStart != nil)
        if let historyStart {
            object["archivingInfo"] = [
                "supportsQueryWithHistoricMoment": true, "startArchivingMoment": .integer(historyStart),
            ]
        }
        return object
    }

    static func members(
        isTable: Bool, isArea: Bool = false, hasAttachments: Bool, hasHistory: Bool = false
    ) -> JSONObject {
        var object = JSONObject([
            "supportsRollbackOnFailureParameter": true, "supportsStatistics": true, "supportsAdvancedQueries": true,
            "supportsValidateSQL": true, "supportsCalculate": true, "supportsASyncCalculate": false,
            "supportsTruncate": false,
            "supportsCoordinatesQuantization": true, "supportsApplyEditsWithGlobalIds": true,
            "supportsReturningQueryGeometry": false, "supportsDatumTransformation": .bool(!isTable),
            "supportsQuantizationEditMode": .bool(!isTable), "supportsAppend": false, "isDataVersioned": false,
            "supportsAttachmentsByUploadId": .bool(hasAttachments), "supportsAttachmentsResizing": false,
            "useStandardizedQueries": true, "supportedQueryFormats": .string(queryFormats),
            "hasStaticData": false, "htmlPopupType": "esriServerHTMLPopupTypeNone",
            "dateFieldsTimeReference": ["timeZone": "UTC", "respectsDaylightSaving": false],
        ])
        object["advancedQueryCapabilities"] = [
            "supportsPagination": true, "supportsPaginationOnAggregatedQueries": true,
            "supportsQueryRelatedPagination": true, "supportsAdvancedQueryRelated": true,
            "supportsQueryWithDistance": .bool(!isTable), "supportsReturningQueryExtent": .bool(!isTable),
            "supportsStatistics": true, "supportsHavingClause": true, "supportsOrderBy": true,
            "supportsDistinct": true, "supportsCountDistinct": true, "supportsPercentileStatistics": true,
            "supportsSqlExpression": true, "supportsOutFieldSQLExpression": false,
            "supportsQueryWithResultType": true, "supportsMaxRecordCountFactor": true,
            "supportsReturningGeometryCentroid": .bool(isArea),
            "supportsQueryWithDatumTransformation": .bool(!isTable), "supportsDefaultSR": .bool(!isTable),
            "supportsTopFeaturesQuery": true,
            "supportsQueryAttachments": .bool(hasAttachments),
            "supportsQueryAttachmentsWithReturnUrl": .bool(hasAttachments),
            "supportsQueryAttachmentsCountOnly": .bool(hasAttachments),
            "supportsQueryAttachmentOrderByFields": .bool(hasAttachments), "supportsTrueCurve": false,
            "supportsDisjointSpatialRel": .bool(!isTable), "supportsFullTextSearch": false,
            "supportsQueryWithHistoricMoment": .bool(hasHistory),
            "supportsSpatialAggregationStatistics": .bool(!isTable),
        ]
        if !isTable {
            object["supportedSpatialRelationships"] = .array(
                SpatialFilter.Relation.allCases.filter { $0 != .equals }.map { .string($0.rawValue) })
        }
        guard hasAttachments else { return object }
        object["attachmentProperties"] = .array(
            ["name", "size", "contentType", "keywords", "exifInfo"].map { ["name": .string($0), "isEnabled": true] })
        object["attachmentFields"] = .array(AttachmentFields.definition.fields.map(\.json))
        return object
    }
}
