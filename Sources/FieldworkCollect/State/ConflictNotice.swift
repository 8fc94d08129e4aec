import Fieldwork
import Foundation

/// What a service's rule did with changes of this device that met those of others. The user is told once, after the sync.
struct ConflictNotice: Sendable, Codable, Hashable {
    /// The newest conflict that was looked at.
    var newest: Int64 = 0
    /// Changes of this device that stand, of those that weren't told yet.
    var kept = 0
    /// Changes of this device that others' took the place of.
    var replaced = 0

    /// Takes in what a service says of its conflicts. One that waits for a decision is no news of a rule, now or later.
    /// - Parameter own: the replicas of this device.
    mutating func take(_ conflicts: [EditConflict], own: Set<UUID>) {
        for conflict in conflicts where conflict.id > newest && conflict.state == .decided {
            let isMine = { (side: EditConflict.Side) in side.replicaID.map(own.contains) ?? false }
            switch (isMine(conflict.won), isMine(conflict.lost)) {
            case (true, false): kept += 1
            case (false, true): replaced += 1
            default: break
            }
        }
        newest = max(newest, conflicts.map(\.id).max() ?? 0)
    }

    static func + (left: ConflictNotice, right: ConflictNotice) -> ConflictNotice {
        ConflictNotice(
            newest: max(left.newest, right.newest), kept: left.kept + right.kept,
            replaced: left.replaced + right.replaced)
    }

    /// "3 of your changes met others’. Yours were kept."; nil without any.
    var text: String? {
        let count = kept + replaced
        guard count > 0 else { return nil }
        let met =
            count == 1
            ? "1 of your changes met someone else’s." : "\(FieldText.grouped(count)) of your changes met others’."
        if kept == count { return "\(met) \(count == 1 ? "Yours was" : "Yours were") kept." }
        if replaced == count { return "\(met) \(count == 1 ? "Theirs was" : "Theirs were") kept." }
        return "\(met) Yours were kept in \(FieldText.grouped(kept)), theirs in \(FieldText.grouped(replaced))."
    }
}
