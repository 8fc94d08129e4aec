import FieldworkGeometry
import Synchronization

/// What a sync brings which way.
public final class SyncGeodatabaseParameters: Sendable {
    /// Which way changes go.
    public enum SyncDirection: String, Sendable {
        /// Neither way, from the service, to it, or both ways.
        case none, download, upload, bidirectional
    }

    struct Values: Sendable {
        var layerOptions: [SyncLayerOption] = []
        var direction = SyncDirection.bidirectional
        var rollsBackOnFailure = false
        var keepsDeltas = false
    }

    private let state = Mutex(Values())

    /// Parameters for all layers, both ways.
    public init() {}

    var values: Values { state.withLock { $0 } }

    /// The direction of each layer, for files that count by layer; none for the geodatabase's direction in all.
    public var layerOptions: [SyncLayerOption] { values.layerOptions }

    /// Adds the direction of a layer.
    public func addLayerOption(_ option: SyncLayerOption) { state.withLock { $0.layerOptions.append(option) } }

    /// Adds the directions of layers.
    public func addLayerOptions(_ options: [SyncLayerOption]) { state.withLock { $0.layerOptions += options } }

    /// Takes the direction of a layer away.
    public func removeLayerOption(_ option: SyncLayerOption) {
        state.withLock { $0.layerOptions.removeAll { $0 === option } }
    }

    /// Takes the directions of all layers away.
    public func removeAllLayerOptions() { state.withLock { $0.layerOptions = [] } }

    /// The direction of layers without one of their own.
    public var geodatabaseSyncDirection: SyncDirection {
        get { values.direction }
        set { state.withLock { $0.direction = newValue } }
    }

    /// Whether one refused edit makes the service refuse all.
    public var rollsBackOnFailure: Bool {
        get { values.rollsBackOnFailure }
        set { state.withLock { $0.rollsBackOnFailure = newValue } }
    }

    /// Whether what was exchanged is kept beside the file, for support.
    public var keepsGeodatabaseDeltas: Bool {
        get { values.keepsDeltas }
        set { state.withLock { $0.keepsDeltas = newValue } }
    }

    func sends(_ layerID: Int) -> Bool { [.upload, .bidirectional].contains(direction(of: layerID)) }

    func receives(_ layerID: Int) -> Bool { [.download, .bidirectional].contains(direction(of: layerID)) }

    func direction(of layerID: Int) -> SyncDirection {
        let values = values
        return values.layerOptions.first { $0.layerID == layerID }?.syncDirection ?? values.direction
    }
}

/// The direction of one layer.
public final class SyncLayerOption: Sendable {
    private let state: Mutex<(layerID: Int, direction: SyncGeodatabaseParameters.SyncDirection)>

    /// - Parameters:
    ///   - layerID: the layer's id in the service.
    ///   - syncDirection: which way its changes go.
    public init(layerID: Int, syncDirection: SyncGeodatabaseParameters.SyncDirection = .bidirectional) {
        state = Mutex((layerID, syncDirection))
    }

    /// The layer's id in the service.
    public var layerID: Int {
        get { state.withLock { $0.layerID } }
        set { state.withLock { $0.layerID = newValue } }
    }

    /// Which way the layer's changes go.
    public var syncDirection: SyncGeodatabaseParameters.SyncDirection {
        get { state.withLock { $0.direction } }
        set { state.withLock { $0.direction = newValue } }
    }
}

/// What became of a layer's edits that the service did not take.
public final class SyncLayerResult: Sendable {
    /// The layer's id in the service.
    public let layerID: Int
    /// The table's name.
    public let tableName: String
    /// The refused edits; they stay in the file and are sent again with the next sync.
    public let editResults: [FeatureEditResult]

    init(layerID: Int, tableName: String, editResults: [FeatureEditResult]) {
        self.layerID = layerID
        self.tableName = tableName
        self.editResults = editResults
    }
}

// MARK: - JSON

extension SyncGeodatabaseParameters {
    var json: JSONValue {
        let values = values
        let layers = values.layerOptions.map { option -> JSONValue in
            ["id": .integer(Int64(option.layerID)), "syncDirection": .string(option.syncDirection.rawValue)]
        }
        return [
            "layers": .array(layers), "direction": .string(values.direction.rawValue),
            "rollsBackOnFailure": .bool(values.rollsBackOnFailure), "keepsDeltas": .bool(values.keepsDeltas),
        ]
    }

    convenience init(json: JSONValue) {
        self.init()
        for layer in json["layers"]?.arrayValue ?? [] {
            guard let id = layer["id"]?.integerValue.flatMap({ Int(exactly: $0) }) else { continue }
            let direction = layer["syncDirection"]?.stringValue.flatMap(SyncDirection.init) ?? .bidirectional
            addLayerOption(SyncLayerOption(layerID: id, syncDirection: direction))
        }
        geodatabaseSyncDirection = json["direction"]?.stringValue.flatMap(SyncDirection.init) ?? .bidirectional
        rollsBackOnFailure = json["rollsBackOnFailure"]?.boolValue ?? false
        keepsGeodatabaseDeltas = json["keepsDeltas"]?.boolValue ?? false
    }
}
