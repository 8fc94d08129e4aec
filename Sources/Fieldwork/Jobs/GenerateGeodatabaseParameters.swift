public import FieldworkGeometry
import FieldworkREST
public import Foundation
import Synchronization

/// What to take offline of a feature service: which layers, which of their rows, and how it is kept in step later.
public final class GenerateGeodatabaseParameters: Sendable {
    struct Values: Sendable {
        var extent: Geometry?
        var layerOptions: [GenerateLayerOption] = []
        var returnsAttachments = false
        var attachmentSyncDirection = AttachmentSyncDirection.none
        var outSpatialReference: SpatialReference?
        var syncModel = Geodatabase.SyncModel.layer
        var syncContingentValues = false
        /// The replica of the service that was prepared for many, whose file is taken.
        var reference: UUID?
        var attachmentSources: [URL] = []

        /// What the service is asked for. Attachments that came along may be edited, so their edits go back; where none
        /// came, others' do not come later.
        var effectiveAttachmentDirection: AttachmentSyncDirection {
            switch (returnsAttachments, attachmentSyncDirection) {
            case (true, .none), (false, .bidirectional): .upload
            case (_, let direction): direction
            }
        }
    }

    fileprivate let state = Mutex(Values())

    /// Parameters that name nothing yet. `GeodatabaseSyncTask.makeDefaultGenerateGeodatabaseParameters` fills them.
    public init() {}

    var values: Values { state.withLock { $0 } }

    /// The area; edits outside of it are refused later.
    public var extent: Geometry? {
        get { values.extent }
        set { state.withLock { $0.extent = newValue } }
    }

    /// The layers and tables to take, with what to take of each.
    public var layerOptions: [GenerateLayerOption] { values.layerOptions }

    /// Adds a layer or table.
    public func addLayerOption(_ option: GenerateLayerOption) { state.withLock { $0.layerOptions.append(option) } }

    /// Adds layers and tables.
    public func addLayerOptions(_ options: [GenerateLayerOption]) {
        state.withLock { $0.layerOptions += options }
    }

    /// Leaves a layer or table out again.
    public func removeLayerOption(_ option: GenerateLayerOption) {
        state.withLock { $0.layerOptions.removeAll { $0 === option } }
    }

    /// Leaves all layers and tables out again.
    public func removeAllLayerOptions() { state.withLock { $0.layerOptions = [] } }

    /// Whether attachments come along.
    public var returnsAttachments: Bool {
        get { values.returnsAttachments }
        set { state.withLock { $0.returnsAttachments = newValue } }
    }

    /// Which way attachments are kept in step. With `none`, and none that come along, the tables of the file have no
    /// attachments.
    public var attachmentSyncDirection: AttachmentSyncDirection {
        get { values.attachmentSyncDirection }
        set { state.withLock { $0.attachmentSyncDirection = newValue } }
    }

    /// Geodatabases on this device that were taken of the same service: attachments that they have already, unchanged, are copied from
    /// there instead of being fetched. Where one of them consists for the larger part of attachments, the service sends the features
    /// and only the attachments that are missing, each on its own; otherwise it makes one file with all of them, which is quicker.
    /// What can't be read there is fetched. Not part of the vendor's API.
    public var attachmentSources: [URL] {
        get { values.attachmentSources }
        set { state.withLock { $0.attachmentSources = newValue } }
    }

    /// The reference of the file's geometries; nil for each layer's own.
    public var outSpatialReference: SpatialReference? {
        get { values.outSpatialReference }
        set { state.withLock { $0.outSpatialReference = newValue } }
    }

    /// Whether the file counts generations as a whole or layer by layer.
    public var syncModel: Geodatabase.SyncModel {
        get { values.syncModel }
        set { state.withLock { $0.syncModel = newValue } }
    }

    /// Whether contingent values come along; they are part of a layer's definition and always do.
    public var syncContingentValues: Bool {
        get { values.syncContingentValues }
        set { state.withLock { $0.syncContingentValues = newValue } }
    }
}

/// Which way attachments are kept in step.
public enum AttachmentSyncDirection: String, Sendable {
    /// Neither way, to the service alone, or both ways.
    case none, upload, bidirectional
}

/// What to take of one layer or table.
public final class GenerateLayerOption: Sendable {
    /// Which rows are taken.
    public enum QueryOption: String, Sendable {
        /// All rows, none but related ones, or those that the condition and the area choose.
        case all, none, useFilter
    }

    private struct Values: Sendable {
        var whereClause: String
        var queryOption = QueryOption.useFilter
        var usesGeometry = true
        var includesRelated: Bool
    }

    /// The layer's id in the service.
    public let layerID: Int
    private let state: Mutex<Values>

    /// - Parameters:
    ///   - layerID: the layer's id in the service.
    ///   - whereClause: a condition on the rows; nil for none.
    ///   - includesRelated: whether rows come along that are related to rows of other layers.
    public init(layerID: Int, whereClause: String? = nil, includesRelated: Bool = true) {
        self.layerID = layerID
        state = Mutex(Values(whereClause: whereClause ?? "", includesRelated: includesRelated))
    }

    /// A condition on the rows; empty for none.
    public var whereClause: String {
        get { state.withLock { $0.whereClause } }
        set { state.withLock { $0.whereClause = newValue } }
    }

    /// Which rows are taken.
    public var queryOption: QueryOption {
        get { state.withLock { $0.queryOption } }
        set { state.withLock { $0.queryOption = newValue } }
    }

    /// Whether the area counts.
    public var usesGeometry: Bool {
        get { state.withLock { $0.usesGeometry } }
        set { state.withLock { $0.usesGeometry = newValue } }
    }

    /// Whether rows come along that are related to rows of other layers.
    public var includesRelated: Bool {
        get { state.withLock { $0.includesRelated } }
        set { state.withLock { $0.includesRelated = newValue } }
    }
}

// MARK: - JSON

extension GenerateGeodatabaseParameters {
    var json: JSONValue {
        let values = values
        var object = JSONObject()
        if let extent = values.extent { object.append("extent", GeoServicesJSON.json(for: extent)) }
        object.append("layers", .array(values.layerOptions.map(\.json)))
        object.append("returnsAttachments", .bool(values.returnsAttachments))
        object.append("attachmentSyncDirection", .string(values.attachmentSyncDirection.rawValue))
        if let reference = values.outSpatialReference {
            object.append("outSpatialReference", GeoServicesJSON.json(for: reference))
        }
        object.append("syncModel", .string(values.syncModel.rawValue))
        if let reference = values.reference { object.append("reference", .string(reference.uuidString)) }
        if !values.attachmentSources.isEmpty {
            object.append("attachmentSources", .array(values.attachmentSources.map { .string($0.path) }))
        }
        return .object(object)
    }

    convenience init(json: JSONValue) throws {
        self.init()
        extent = try json["extent"].flatMap { try GeoServicesJSON.geometry(from: $0) }
        addLayerOptions(try (json["layers"]?.arrayValue ?? []).map(GenerateLayerOption.init(json:)))
        returnsAttachments = json["returnsAttachments"]?.boolValue ?? false
        attachmentSyncDirection =
            json["attachmentSyncDirection"]?.stringValue.flatMap(AttachmentSyncDirection.init) ?? .none
        outSpatialReference = try json["outSpatialReference"].map { try GeoServicesJSON.spatialReference(from: $0) }
        syncModel = json["syncModel"]?.stringValue.flatMap(Geodatabase.SyncModel.init) ?? .layer
        reference = json["reference"]?.stringValue.flatMap(UUID.init)
        attachmentSources = (json["attachmentSources"]?.arrayValue ?? []).compactMap { $0.stringValue }
            .map { URL(filePath: $0) }
    }

    /// The replica of the service that was prepared for many, whose file is taken.
    var reference: UUID? {
        get { values.reference }
        set { state.withLock { $0.reference = newValue } }
    }
}

extension GenerateLayerOption {
    var json: JSONValue {
        [
            "id": .integer(Int64(layerID)), "where": .string(whereClause), "queryOption": .string(queryOption.rawValue),
            "useGeometry": .bool(usesGeometry), "includeRelated": .bool(includesRelated),
        ]
    }

    convenience init(json: JSONValue) throws {
        guard let id = json["id"]?.integerValue.flatMap({ Int(exactly: $0) }) else {
            throw CommonError.invalidJSON(details: "A layer to take offline has no id.")
        }
        self.init(
            layerID: id, whereClause: json["where"]?.stringValue,
            includesRelated: json["includeRelated"]?.boolValue ?? true)
        queryOption = json["queryOption"]?.stringValue.flatMap(QueryOption.init) ?? .useFilter
        usesGeometry = json["useGeometry"]?.boolValue ?? true
    }
}
