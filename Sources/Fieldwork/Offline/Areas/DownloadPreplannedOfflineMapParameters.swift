import FieldworkGeometry
import Synchronization

/// What of a preplanned area comes along, and how it is kept in step later.
public final class DownloadPreplannedOfflineMapParameters: Sendable {
    /// How an area is kept in step with its services.
    public enum UpdateMode: String, Sendable {
        /// It stays as it was prepared, and edits in it go nowhere.
        case noUpdates
        /// It is brought to the state of the area each time that its author prepares the area anew, by packages of changes that are made
        /// once for all crews. It takes no edits, and the services keep nothing for it.
        case downloadScheduledUpdates
        /// It is synchronised, both ways.
        case syncWithFeatureServices
    }

    private struct Values: Sendable {
        var continuesOnErrors = true
        var includesBasemap = true
        var updateMode = UpdateMode.syncWithFeatureServices
    }

    /// The area.
    public let preplannedMapArea: PreplannedMapArea
    private let state = Mutex(Values())

    /// Parameters that bring the whole area and keep it in step.
    public init(preplannedMapArea: PreplannedMapArea) { self.preplannedMapArea = preplannedMapArea }

    /// Whether the map comes without the layers that can't come; else the first error ends the job.
    public var continuesOnErrors: Bool {
        get { state.withLock { $0.continuesOnErrors } }
        set { state.withLock { $0.continuesOnErrors = newValue } }
    }

    /// Whether the basemap comes along.
    public var includesBasemap: Bool {
        get { state.withLock { $0.includesBasemap } }
        set { state.withLock { $0.includesBasemap = newValue } }
    }

    /// How the area is kept in step with its services.
    public var updateMode: UpdateMode {
        get { state.withLock { $0.updateMode } }
        set { state.withLock { $0.updateMode = newValue } }
    }

    var json: JSONValue {
        [
            "continuesOnErrors": .bool(continuesOnErrors), "includesBasemap": .bool(includesBasemap),
            "updateMode": .string(updateMode.rawValue),
        ]
    }

    convenience init(json: JSONValue, area: PreplannedMapArea) {
        self.init(preplannedMapArea: area)
        continuesOnErrors = json["continuesOnErrors"]?.boolValue ?? true
        includesBasemap = json["includesBasemap"]?.boolValue ?? true
        updateMode = json["updateMode"]?.stringValue.flatMap(UpdateMode.init) ?? .syncWithFeatureServices
    }
}
