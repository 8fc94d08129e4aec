import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// A feature of a service or a geodatabase.
public final class ArcGISFeature: Feature, Loadable, @unchecked Sendable {
    private let failure = Mutex<(any Error)?>(nil)

    convenience init(table: FeatureTable, record: FeatureRecord, layer: LayerDefinition, isComplete: Bool) {
        self.init(table: table, reading: record, fields: ClientFields(layer), isComplete: isComplete)
    }

    static func clientAttributes(_ record: FeatureRecord, layer: LayerDefinition) -> [String: any Sendable] {
        ClientFields(layer).attributes(of: record)
    }

    /// The row's identity in the SDK: negative until the service has given its own.
    var objectID: Int64? { state.withLock { $0.origin?.objectID } }

    /// The state that the object was read in or last handed over in; nil while it is not part of its table.
    var origin: FeatureRecord? { state.withLock { $0.origin } }

    /// The table has kept this state of the object.
    func handedOver(_ record: FeatureRecord, layer: LayerDefinition) {
        let attributes = Self.clientAttributes(record, layer: layer)
        state.withLock { state in
            let isNew = state.origin == nil
            state.origin = record
            // Defaults and ids that the table has given.
            for (name, value) in attributes where isNew && state.attributes[name] == nil {
                state.attributes[name] = value
            }
        }
    }

    /// `loaded` when all attributes are there.
    public var loadStatus: LoadStatus {
        if failure.withLock({ $0 != nil }) { return .failed }
        return state.withLock { $0.isComplete } ? .loaded : .notLoaded
    }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { failure.withLock { $0 } }

    /// Fetches the attributes and the geometry that a query left out. Values that were changed since stay.
    public func load() async throws {
        if state.withLock({ $0.isComplete }) { return }
        do {
            try await (table as? ServiceFeatureTable)?.complete(self)
            failure.withLock { $0 = nil }
        } catch {
            failure.withLock { $0 = error }
            throw error
        }
    }

    /// Loads again after a failure.
    public func retryLoad() async throws { try await load() }

    /// Does nothing: a load of a feature is one request, which ends with the task that waits for it.
    public func cancelLoad() {}

    /// Sets the object back to the state that it was read in or last handed over in.
    public func refresh() {
        guard let layer = table?.definition else { return }
        state.withLock { state in
            guard let origin = state.origin else { return }
            state.attributes = Self.clientAttributes(origin, layer: layer)
            state.geometry = origin.geometry
        }
    }

    /// Takes the state of the service's version again; without one the feature is no longer part of its table.
    func goBack(to record: FeatureRecord?, layer: LayerDefinition) {
        state.withLock { state in
            state.origin = record
            guard let record else { return }
            state.attributes = Self.clientAttributes(record, layer: layer)
            state.geometry = record.geometry
        }
    }

    /// Takes over a complete record, except for values that the client has changed since.
    func complete(with record: FeatureRecord, layer: LayerDefinition) {
        adopt(record, layer: layer)
        state.withLock { $0.isComplete = true }
    }

    /// Takes over what the service made of an edit. Values that the client has changed since it handed the object over
    /// stay; all others become the service's, so that a later update does not send what somebody else has changed.
    func adopt(_ record: FeatureRecord, layer: LayerDefinition) {
        let fetched = Self.clientAttributes(record, layer: layer)
        state.withLock { state in
            for field in layer.fields where record.attributes[field.name] != nil {
                let present = try? AttributeConversion.stored(state.attributes[field.name], in: field)
                let isGiven = field.name == layer.objectIDField || field.name == layer.globalIDField
                if isGiven || present == state.origin?.attributes[field.name] ?? .null {
                    state.attributes[field.name] = fetched[field.name]
                }
            }
            if state.geometry == state.origin?.geometry { state.geometry = record.geometry }
            state.origin = record
        }
    }
}
