public import FieldworkGeometry
public import Foundation
import Synchronization

/// Which part of a map is taken along, and how it is kept in step later.
public final class GenerateOfflineMapParameters: Sendable {
    /// Whose attachments come along.
    public enum ReturnLayerAttachmentOption: String, Sendable {
        /// None, those of all layers, of layers that can't be edited, or of those that can.
        case none, allLayers, readOnlyLayers, editableLayers
    }

    struct Values: Sendable {
        var area: Geometry?
        var minScale = 0.0
        var maxScale = 0.0
        var includesBasemap = true
        var attachmentSyncDirection = AttachmentSyncDirection.bidirectional
        var attachments = ReturnLayerAttachmentOption.allLayers
        var returnsSchemaOnly = false
        var filters = true
        var continuesOnErrors = true
        var itemInfo: OfflineMapItemInfo?
        var updateMode = GenerateOfflineMapUpdateMode.syncWithFeatureServices
        var referenceDirectory: URL?
        var referenceFilename = ""
        var onlineOnly = OnlineOnlyServicesOption.exclude
        var includesLocator = true
        var scheduledArea: URL?
    }

    private let state = Mutex(Values())

    /// - Parameters:
    ///   - areaOfInterest: a polygon or an envelope, in any reference.
    ///   - minScale: the scale to zoom out to, as a denominator; 0 for the first level of the tiles.
    ///   - maxScale: the scale to zoom in to, as a denominator; 0 for the deepest level of the tiles.
    public init(areaOfInterest: Geometry, minScale: Double, maxScale: Double) {
        state.withLock { state in
            (state.area, state.minScale, state.maxScale) = (areaOfInterest, minScale, maxScale)
        }
    }

    private init() {}

    var values: Values { state.withLock { $0 } }

    /// A polygon or an envelope, in any reference.
    public var areaOfInterest: Geometry? {
        get { values.area }
        set { state.withLock { $0.area = newValue } }
    }

    /// The scale to zoom out to, for tiles, as a denominator; 0 for no limit.
    public var minScale: Double {
        get { values.minScale }
        set { state.withLock { $0.minScale = newValue } }
    }

    /// The scale to zoom in to, for tiles, as a denominator; 0 for no limit.
    public var maxScale: Double {
        get { values.maxScale }
        set { state.withLock { $0.maxScale = newValue } }
    }

    /// Whether the basemap comes along.
    public var includesBasemap: Bool {
        get { values.includesBasemap }
        set { state.withLock { $0.includesBasemap = newValue } }
    }

    /// Which way attachments are kept in step.
    public var attachmentSyncDirection: AttachmentSyncDirection {
        get { values.attachmentSyncDirection }
        set { state.withLock { $0.attachmentSyncDirection = newValue } }
    }

    /// Whose attachments come along.
    public var returnLayerAttachmentOption: ReturnLayerAttachmentOption {
        get { values.attachments }
        set { state.withLock { $0.attachments = newValue } }
    }

    /// Whether layers that may be edited come without their features: for people who only add.
    public var returnsSchemaOnlyForEditableLayers: Bool {
        get { values.returnsSchemaOnly }
        set { state.withLock { $0.returnsSchemaOnly = newValue } }
    }

    /// Whether a layer's condition restricts what comes along of it.
    public var isDefinitionExpressionFilterEnabled: Bool {
        get { values.filters }
        set { state.withLock { $0.filters = newValue } }
    }

    /// Whether the map comes without what can't come along; else the first error ends the job.
    public var continuesOnErrors: Bool {
        get { values.continuesOnErrors }
        set { state.withLock { $0.continuesOnErrors = newValue } }
    }

    /// What the offline map says of itself.
    public var itemInfo: OfflineMapItemInfo? {
        get { values.itemInfo }
        set { state.withLock { $0.itemInfo = newValue } }
    }

    /// How the map is kept in step later.
    public var updateMode: GenerateOfflineMapUpdateMode {
        get { values.updateMode }
        set { state.withLock { $0.updateMode = newValue } }
    }

    /// The folder of a file of tiles that is on this device already and is taken in place of the map's basemap.
    public var referenceBasemapDirectoryURL: URL? {
        get { values.referenceDirectory }
        set { state.withLock { $0.referenceDirectory = newValue } }
    }

    /// The name of that file.
    public var referenceBasemapFilename: String {
        get { values.referenceFilename }
        set { state.withLock { $0.referenceFilename = newValue } }
    }

    /// What becomes of layers that can't come along.
    public var onlineOnlyServicesOption: OnlineOnlyServicesOption {
        get { values.onlineOnly }
        set { state.withLock { $0.onlineOnly = newValue } }
    }

    /// Whether the part of the server's first locator comes along, where the server gives parts. Not part of the vendor's API.
    public var includesLocator: Bool {
        get { values.includesLocator }
        set { state.withLock { $0.includesLocator = newValue } }
    }

    /// The address of the item of the prepared area whose packages of changes keep the map in step; nil for a map that has none.
    var scheduledArea: URL? {
        get { values.scheduledArea }
        set { state.withLock { $0.scheduledArea = newValue } }
    }

    /// The file of tiles on this device that takes the place of the basemap; nil where there is none.
    var referenceBasemap: URL? {
        guard let folder = values.referenceDirectory, !values.referenceFilename.isEmpty,
            !values.referenceFilename.contains("/")
        else { return nil }
        let file = folder.appending(path: values.referenceFilename, directoryHint: .notDirectory)
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }
}

/// How an offline map is kept in step with its services.
public enum GenerateOfflineMapUpdateMode: String, Sendable {
    /// It is synchronised, or it stays as it is.
    case syncWithFeatureServices, noUpdates
}

/// What becomes of layers that can't come along.
public enum OnlineOnlyServicesOption: String, Sendable {
    /// The offline map is without them, or shows them where there is a network.
    case exclude, include
}

// MARK: - JSON

extension GenerateOfflineMapParameters {
    var json: JSONValue {
        let values = values
        var object = JSONObject()
        if let area = values.area { object.append("area", GeoServicesJSON.json(for: area)) }
        object.append("minScale", .number(values.minScale))
        object.append("maxScale", .number(values.maxScale))
        object.append("includesBasemap", .bool(values.includesBasemap))
        object.append("attachmentSyncDirection", .string(values.attachmentSyncDirection.rawValue))
        object.append("attachments", .string(values.attachments.rawValue))
        object.append("returnsSchemaOnly", .bool(values.returnsSchemaOnly))
        object.append("filters", .bool(values.filters))
        object.append("continuesOnErrors", .bool(values.continuesOnErrors))
        if let info = values.itemInfo { object.append("itemInfo", info.json) }
        object.append("updateMode", .string(values.updateMode.rawValue))
        if let folder = values.referenceDirectory { object.append("referenceDirectory", .string(folder.path)) }
        object.append("referenceFilename", .string(values.referenceFilename))
        object.append("onlineOnly", .string(values.onlineOnly.rawValue))
        object.append("includesLocator", .bool(values.includesLocator))
        if let area = values.scheduledArea { object.append("scheduledArea", .string(area.absoluteString)) }
        return .object(object)
    }

    convenience init(json: JSONValue) throws {
        self.init()
        var values = Values()
        values.area = try json["area"].flatMap { try GeoServicesJSON.geometry(from: $0) }
        values.minScale = json["minScale"]?.doubleValue ?? 0
        values.maxScale = json["maxScale"]?.doubleValue ?? 0
        values.includesBasemap = json["includesBasemap"]?.boolValue ?? true
        values.attachmentSyncDirection =
            json["attachmentSyncDirection"]?.stringValue.flatMap(AttachmentSyncDirection.init) ?? .bidirectional
        values.attachments = json["attachments"]?.stringValue.flatMap(ReturnLayerAttachmentOption.init) ?? .allLayers
        values.returnsSchemaOnly = json["returnsSchemaOnly"]?.boolValue ?? false
        values.filters = json["filters"]?.boolValue ?? true
        values.continuesOnErrors = json["continuesOnErrors"]?.boolValue ?? true
        values.itemInfo = json["itemInfo"].map { OfflineMapItemInfo(json: $0) }
        values.updateMode =
            json["updateMode"]?.stringValue.flatMap(GenerateOfflineMapUpdateMode.init) ?? .syncWithFeatureServices
        values.referenceDirectory = json["referenceDirectory"]?.stringValue.map { URL(filePath: $0) }
        values.referenceFilename = json["referenceFilename"]?.stringValue ?? ""
        values.onlineOnly = json["onlineOnly"]?.stringValue.flatMap(OnlineOnlyServicesOption.init) ?? .exclude
        values.includesLocator = json["includesLocator"]?.boolValue ?? true
        values.scheduledArea = json["scheduledArea"]?.stringValue.flatMap(URL.init(string:))
        let read = values
        state.withLock { $0 = read }
    }
}
