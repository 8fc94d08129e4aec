import FieldworkREST
import Foundation

/// What a service's list of attachments says about the edits on this device.
extension AttachmentEdit {
    /// What a service has, as the edit that would change it.
    init(_ info: AttachmentInfo) {
        self.init(id: info.id, globalID: info.globalID, operation: .update)
        name = info.name
        contentType = info.contentType
        keywords = info.keywords
        size = info.size
    }

    /// The service's id of what an edit made, or nil when it has not arrived. A change of what is there already says
    /// nothing about itself: it is sent again, which makes the same of it.
    func arrived(in there: [AttachmentInfo]) -> Int64? {
        switch attempt?.operation {
        case .add:
            if let own = there.first(where: { $0.globalID != nil && $0.globalID == globalID }) {
                return own.id
            }
            guard globalID == nil, let attempt else { return nil }
            let isOwn = { (other: AttachmentInfo) in
                !attempt.known.contains(other.id) && other.name == attempt.name && other.size == attempt.size
            }
            return there.first(where: isOwn)?.id
        case .delete: return there.contains { $0.id == id } ? nil : id
        case .update, nil: return nil
        }
    }
}
