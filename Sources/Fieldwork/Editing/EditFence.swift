import FieldworkREST
import Foundation

/// Settles what may still be on its way: after the service has taken a later turn of this device, a request that was sent
/// before is in the service or never will be.
struct EditFence: Sendable {
    let session: ServiceSession

    /// Closes the way for all requests without an answer.
    /// - Returns: whether that is sure; not with a service that does not mind turns.
    func close() async throws -> Bool {
        guard session.mindsTurns, session.local.edits().contains(where: Self.isUncertain) else { return false }
        let turn = try await session.local.takeTurn()
        do {
            _ = try await session.remote.applyEdits([], usesGlobalIDs: true, turn: turn)
        } catch is PassedTurn {
            // A later turn of this device has been taken, which nobody here remembers: the device's files were put back. What
            // was sent under that name is settled all the more; from here on the device has another.
            try await session.local.beginTurns()
        }
        return true
    }

    private static func isUncertain(_ edit: LocalEdit) -> Bool {
        edit.attempt != nil || edit.attachments.contains { $0.attempt != nil }
    }
}

/// The service refused a request because it has had its turn or a later one: an earlier copy of it may have been done.
struct PassedTurn: Error, Hashable {
    var details: String
}
