import FieldworkGeometry
package import Foundation

/// The place of a batch among those of one sender. A service takes the batches of a sender in rising order only: one that was
/// held up on its way, or comes a second time, is refused as a whole once a later one has been taken.
///
/// A sender without an answer so makes sure before it asks what became of a batch: it takes the next turn, with edits or
/// without. From then on what is not in the service will never arrive.
package struct EditTurn: Sendable, Hashable {
    /// The error of a batch whose turn has passed. An earlier copy of the same batch may have been taken.
    package static let passedCode = 409
    /// The member by which the service's resource says that it minds turns.
    package static let ability = "supportsEditTurns"

    package var sender: UUID
    /// From 1; each batch has a greater one than those before it.
    package var number: Int64

    package init(sender: UUID, number: Int64) {
        self.sender = sender
        self.number = number
    }
}

extension EditTurn {
    /// The turn that a request names; nil when it names none. Throws for one half of it and for values that are none.
    package init?(_ parameters: RequestParameters) throws(ServiceError) {
        let number = try parameters.integer("editTurn")
        guard let text = parameters["editSender"], !text.isEmpty else {
            if number != nil { throw .invalidParameter("'editTurn' needs 'editSender'.") }
            return nil
        }
        guard let sender = GUID.parse(text) else { throw .invalidParameter("'editSender' must be a GUID.") }
        guard let number, number > 0 else {
            throw .invalidParameter("'editTurn' must be a whole number above zero beside 'editSender'.")
        }
        self.init(sender: sender, number: Int64(number))
    }

    /// The only turn of the edits that an upload brings: the same request a second time, or late, changes nothing. Nil for
    /// what is no id of an upload of this server.
    init?(uploadID: String) {
        let digits = Array(uploadID.dropFirst())
        guard uploadID.first == "i", digits.count == 32 else { return nil }
        let groups = [digits[..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
        guard let sender = UUID(uuidString: groups.map { String($0) }.joined(separator: "-")) else { return nil }
        self.init(sender: sender, number: 1)
    }

    /// The same as parameters.
    package var parameters: [(name: String, value: String)] {
        [("editSender", GUID.normalForm(sender)), ("editTurn", String(number))]
    }
}
