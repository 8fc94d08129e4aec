import FieldworkGeometry
import Synchronization

/// What a web map's author says of the work offline with it.
public struct OfflineSettings: Sendable, Hashable {
    /// What comes along of layers that may be edited.
    public enum EditableLayersDownload: String, Sendable {
        /// The features alone, the features with their attachments, or neither.
        case features, featuresAndAttachments, none
    }

    /// What a synchronisation brings of layers that may be edited.
    public enum EditableLayersSync: String, Sendable {
        /// Features both ways and attachments to the service, all both ways, or all to the service only.
        case syncFeaturesUploadAttachments, syncFeaturesAndAttachments, uploadFeaturesAndAttachments
    }

    /// Of layers that may be edited.
    public let editableLayersDownload: EditableLayersDownload
    /// Of layers that may be edited.
    public let editableLayersSync: EditableLayersSync
    /// Whether the attachments of other layers come along.
    public let readOnlyLayersDownloadAttachments: Bool
    /// The name of a file of tiles that people have on their devices already; empty for none.
    public let referenceBasemapFilename: String

    /// nil for a web map that says nothing of it.
    init?(_ document: JSONObject) {
        guard let offline = document["applicationProperties"]?["offline"], offline.objectValue != nil else {
            return nil
        }
        let editable = offline["editableLayers"]
        editableLayersDownload =
            editable?["download"]?.stringValue.flatMap(EditableLayersDownload.init) ?? .featuresAndAttachments
        editableLayersSync =
            editable?["sync"]?.stringValue.flatMap(EditableLayersSync.init) ?? .syncFeaturesAndAttachments
        readOnlyLayersDownloadAttachments = offline["readonlyLayers"]?["downloadAttachments"]?.boolValue ?? true
        referenceBasemapFilename = offline["offlinebasemap"]?["referenceBasemapName"]?.stringValue ?? ""
    }
}

extension Map {
    /// What the map's author says of the work offline with it; nil where nothing is said, and before the map is loaded.
    public var offlineSettings: OfflineSettings? { state.withLock { $0.document }.flatMap(OfflineSettings.init) }
}
