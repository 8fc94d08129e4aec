import FieldworkGeometry
package import Foundation

/// What a service says to a replica that has more than the service: an earlier state of the service was put back.
/// The replica's edits since then are not in the service any more; its client has them and sends them again.
package struct RestoredService: Error, Sendable, Hashable {
    /// The generation of the state that was put back: all that came after it is gone.
    package var from: Int64
    /// The generation at which the service went on. A client that names it knows of the restoration.
    package var to: Int64
    /// The uploads of the replica that the service has.
    package var uploads: [UUID]

    package static let code = 410
    private static let member = "restored"

    package init(from: Int64, to: Int64, uploads: [UUID]) {
        self.from = from
        self.to = to
        self.uploads = uploads
    }

    /// The protocol's error, which tells a person as well.
    package var error: ServiceError {
        var error = ServiceError(
            code: Self.code, message: "The service was put back to an earlier state.",
            details: ["What it took after generation \(from) is no longer in it. Nothing was changed by this request."])
        error.unknownMembers[Self.member] = [
            "from": .integer(from), "to": .integer(to), "uploads": .array(uploads.map { .string($0.uuidString) }),
        ]
        return error
    }

    /// nil for any other error.
    package init?(_ error: ServiceError) {
        guard error.code == Self.code, let told = error.unknownMembers[Self.member],
            let from = told["from"]?.integerValue, let to = told["to"]?.integerValue
        else { return nil }
        self.init(
            from: from, to: to,
            uploads: (told["uploads"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(UUID.init) })
    }
}
