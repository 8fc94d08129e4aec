import FieldworkREST

/// What a path names of the attachments of one feature.
enum AttachmentResource: Sendable, Hashable {
    case list
    case content(Int64)
    case edit(AttachmentEditRequest.Operation)

    /// - Parameter segments: what follows the object id of the feature.
    init?(_ segments: ArraySlice<String>) {
        let words = Array(segments)
        guard let first = words.first else { return nil }
        if first.equalsIgnoringCase("attachments") {
            if words.count == 1 {
                self = .list
                return
            }
            guard words.count == 2, let id = Int64(words[1]) else { return nil }
            self = .content(id)
            return
        }
        let operation = AttachmentEditRequest.Operation.allCases.first { $0.rawValue.equalsIgnoringCase(first) }
        guard words.count == 1, let operation else { return nil }
        self = .edit(operation)
    }

    /// Whether it takes a file.
    var takesFile: Bool {
        switch self {
        case .edit(.addAttachment), .edit(.updateAttachment): true
        case .list, .content, .edit(.deleteAttachments): false
        }
    }
}
