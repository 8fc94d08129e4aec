import FieldworkREST
import Foundation

/// What a path names of a service's replicas, jobs and conflicts.
enum ReplicaResource: Sendable, Hashable {
    case createReplica, synchronizeReplica, unRegisterReplica, extractChanges
    case replicas
    case replica(UUID)
    case job(UUID)
    /// A file that was made for a client.
    case result(String)
    case conflicts
    case conflict(Int64)
    case restoreConflict(Int64)
    case closeConflict(Int64)

    /// The folder of results in addresses.
    static let resultFolder = "replicafiles"

    init?(_ segments: ArraySlice<String>) {
        guard let first = segments.first?.lowercased() else { return nil }
        let rest = Array(segments.dropFirst())
        switch (first, rest.count) {
        case ("createreplica", 0): self = .createReplica
        case ("synchronizereplica", 0): self = .synchronizeReplica
        case ("unregisterreplica", 0): self = .unRegisterReplica
        case ("extractchanges", 0): self = .extractChanges
        case ("replicas", 0): self = .replicas
        case ("replicas", 1):
            guard let id = GUID.parse(rest[0]) else { return nil }
            self = .replica(id)
        case ("jobs", 1), ("jobs", 2):
            guard let id = GUID.parse(rest[0]), rest.count == 1 || rest[1].equalsIgnoringCase("status") else {
                return nil
            }
            self = .job(id)
        case (Self.resultFolder, 1): self = .result(rest[0])
        case ("conflicts", 0): self = .conflicts
        case ("conflicts", 1), ("conflicts", 2):
            guard let id = Int64(rest[0]) else { return nil }
            switch rest.dropFirst().first?.lowercased() {
            case nil: self = .conflict(id)
            case "restore": self = .restoreConflict(id)
            case "close": self = .closeConflict(id)
            default: return nil
            }
        default: return nil
        }
    }

    /// Whether it changes something.
    var isWrite: Bool {
        switch self {
        case .createReplica, .synchronizeReplica, .unRegisterReplica, .restoreConflict, .closeConflict: true
        case .extractChanges, .replicas, .replica, .job, .result, .conflicts, .conflict: false
        }
    }
}
