import Fieldwork
import Foundation

/// What somebody changed of a feature, as the service or the file of the offline area remembers it.
struct PastChange: Sendable {
    /// Names it in the feature's history.
    let generation: Int64
    let date: Date
    /// nil when nobody was signed in.
    let editor: String?
    /// The replica that it came from; nil for an edit that was made where the history is kept.
    let replicaID: UUID?
    let isDeletion: Bool
    let before: FeatureSnapshot
    /// What stood after it; for a deletion what stood when the feature was there again.
    let after: FeatureSnapshot

    /// The changes of a history, the newest first.
    /// - Parameter now: the feature as it is.
    static func changes(in history: FeatureHistory, now: Feature) -> [PastChange] {
        var after = FeatureSnapshot(now)
        return history.versions.map { version in
            let before = FeatureSnapshot(
                attributes: version.attributes.mapValues { FeatureSnapshot.Value($0) },
                geometry: version.geometry.map { $0.toJSON() })
            defer { after = before }
            return PastChange(
                generation: version.id, date: version.endDate, editor: version.editor, replicaID: version.replicaID,
                isDeletion: version.ending == .deleted, before: before, after: after)
        }
    }
}

extension OpenMap {
    /// What is known of a feature's past, and whether there is more elsewhere.
    enum Past: Sendable {
        case known([PastChange], isComplete: Bool)
        /// The service can't be asked, or keeps no history.
        case unknown
    }

    func past(of found: FoundFeature) async throws -> Past {
        do {
            let history = try await found.layer.table.history(of: found.feature)
            return .known(
                PastChange.changes(in: history, now: found.feature), isComplete: history.isComplete && offline == nil)
        } catch let error as CancellationError {
            throw error
        } catch {
            return .unknown
        }
    }
}

extension MapLayer {
    /// The fields that a user changes and that differ, with the value that was there first.
    func changes(from before: FeatureSnapshot, to after: FeatureSnapshot) -> [(
        field: Field, value: FeatureSnapshot.Value
    )] {
        fields.compactMap { field in
            let old = before.attributes[field.name] ?? .null
            guard field.isEditable, old != after.attributes[field.name] ?? .null else { return nil }
            return (field, old)
        }
    }

    /// Whether the place or the shape differs by more than what is lost on the way between two formats.
    func isMoved(from before: FeatureSnapshot, to after: FeatureSnapshot) -> Bool {
        guard geometry != nil, before.geometry != after.geometry else { return false }
        guard let old = before.shape as? Point, let new = after.shape as? Point else { return true }
        return abs(old.x - new.x) > Self.roundedAway || abs(old.y - new.y) > Self.roundedAway
    }

    /// In units of the map's plane: a hundredth of a millimetre.
    private static let roundedAway = 1e-5
}

extension FeatureSnapshot {
    /// The geometry in the map's plane; nil for none.
    var shape: Geometry? {
        geometry.flatMap { try? Geometry.fromJSON($0) }.flatMap { GeometryEngine.project($0, into: .webMercator) }
    }
}
