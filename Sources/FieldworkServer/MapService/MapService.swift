import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Logging

/// The map service face of a feature service: the same layers, read only, for clients that look for a
/// `MapServer`, and images of them.
struct MapService: Sendable {
    let features: FeatureService
    let tiles: TileService
    let shelf: ImageShelf
    /// The first segment of the protocol's addresses.
    let instance: String
    let logger: Logger

    var store: any FeatureStore { features.store }

    /// The root resource.
    func root(_ published: PublishedService) async throws -> JSONValue {
        let definition = published.definition
        let service = try await features.root(published)
        var object = JSONObject()
        object.append("currentVersion", .number(ServerInfo.currentVersion))
        object.append("serviceDescription", .string(definition.serviceDescription ?? definition.description))
        object.append("mapName", .string(definition.name.name))
        object.append("description", .string(definition.description))
        object.append("copyrightText", .string(definition.copyrightText))
        object.append("supportsDynamicLayers", true)
        object.append("layers", service["layers"] ?? [])
        object.append("tables", service["tables"] ?? [])
        object.append("singleFusedMapCache", false)
        for name in ["spatialReference", "initialExtent", "fullExtent", "units"] {
            if let value = service[name] { object.append(name, value) }
        }
        let scales = Self.scales(of: definition)
        let draws = definition.layers.contains { !$0.isTable }
        object.append("minScale", .number(scales.min))
        object.append("maxScale", .number(scales.max))
        object.append("supportedImageFormatTypes", .string(draws ? ImageFormat.names : ""))
        object.append("capabilities", .string(Self.capabilities(definition.capabilities, draws: draws)))
        object.append("supportedQueryFormats", service["supportedQueryFormats"] ?? "JSON")
        object.append("supportedExtensions", .string(draws ? "FeatureServer,WMSServer" : "FeatureServer"))
        object.append("exportTilesAllowed", false)
        object.append("hasVersionedData", false)
        object.append("supportsClipping", false)
        object.append("supportsSpatialFilter", false)
        object.append("supportsTimeRelation", false)
        object.append("supportsQueryDataElements", false)
        object.append("maxRecordCount", JSONValue(definition.maxRecordCount))
        object.append("maxImageHeight", JSONValue(FieldworkDrawing.Limits.imageSide))
        object.append("maxImageWidth", JSONValue(FieldworkDrawing.Limits.imageSide))
        object.append("archivingInfo", ["supportsHistoricMoment": false])
        return .object(object)
    }

    /// All layers and tables at once.
    func layers(_ published: PublishedService) async throws -> JSONValue {
        var layers: [JSONValue] = []
        var tables: [JSONValue] = []
        for definition in published.definition.layers {
            let json = try await layer(definition, of: published)
            if definition.isTable { tables.append(json) } else { layers.append(json) }
        }
        return ["layers": .array(layers), "tables": .array(tables)]
    }

    /// Members of a layer resource that tell of editing, or of resources that only the feature service has.
    private static let editingMembers = [
        "templates", "allowGeometryUpdates", "allowUpdateWithoutMValues", "allowTrueCurvesUpdates",
        "onlyAllowTrueCurveUpdatesByTrueCurveClients", "supportsRollbackOnFailureParameter",
        "supportsApplyEditsWithGlobalIds", "supportsAppend", "supportsTruncate", "supportsCalculate",
        "advancedEditingCapabilities", "enableZDefaults", "zDefault", "editFieldsInfo", "editingInfo",
        "ownershipBasedAccessControlForFeatures", "fieldGroups", "attachmentProperties", "attachmentFields",
        "supportsAttachmentsByUploadId", "supportsAttachmentsResizing", "supportsValidateSQL", "syncCanReturnChanges",
    ]

    /// The layer or table resource: that of the feature service without what tells of editing.
    func layer(_ layer: LayerDefinition, of published: PublishedService) async throws -> JSONValue {
        guard var object = try await features.layer(layer, of: published).objectValue else { return .null }
        for name in Self.editingMembers { object[name] = nil }
        object["types"] = .array((object["types"]?.arrayValue ?? []).map(Self.withoutTemplates))
        // Attachments and the operations on them stand under the feature service alone.
        object["hasAttachments"] = false
        let allowed = layer.capabilities.intersection(published.definition.capabilities)
        object["capabilities"] = .string(Self.capabilities(allowed, draws: !layer.isTable))
        object["supportsDynamicLegends"] = .bool(!layer.isTable)
        object["canModifyLayer"] = false
        object["canScaleSymbols"] = false
        object["hasLabels"] = .bool(layer.drawingInfo?["labelingInfo"]?.arrayValue?.isEmpty == false)
        if var abilities = object["advancedQueryCapabilities"]?.objectValue {
            for member in abilities.members where Self.featureServiceAbilities.contains(member.key) {
                abilities[member.key] = false
            }
            object["advancedQueryCapabilities"] = .object(abilities)
        }
        return .object(object)
    }

    private static let featureServiceAbilities: Set<String> = [
        "supportsQueryAttachments", "supportsQueryAttachmentsWithReturnUrl", "supportsQueryAttachmentsCountOnly",
        "supportsQueryAttachmentOrderByFields", "supportsTopFeaturesQuery",
    ]

    private static func withoutTemplates(_ type: JSONValue) -> JSONValue {
        guard var object = type.objectValue else { return type }
        object["templates"] = nil
        return .object(object)
    }

    /// `Data` is the protocol's word for `identify` and `find`.
    private static func capabilities(_ allowed: Set<Capability>, draws: Bool) -> String {
        guard allowed.contains(.query) else { return "" }
        return draws ? "Map,Query,Data" : "Query,Data"
    }

    /// The scales between which some layer shows: 0 is no limit.
    private static func scales(of definition: ServiceDefinition) -> (min: Double, max: Double) {
        let layers = definition.layers.filter { !$0.isTable }
        let isOpen = layers.isEmpty || layers.contains { $0.minScale == 0 }
        return (isOpen ? 0 : layers.map(\.minScale).max() ?? 0, layers.map(\.maxScale).min() ?? 0)
    }
}
