import FieldworkGeometry
import FieldworkREST
import Foundation

/// One unsent edit of an attachment. It is part of the unsent edits of its feature: kept, sent and undone with them.
struct AttachmentEdit: Sendable, Hashable {
    enum Operation: String, Sendable {
        case add, update, delete
    }

    /// The service's id; negative until it has given one.
    var id: Int64
    /// Made here for an add, so that the service knows it again when it is sent twice.
    var globalID: UUID?
    var operation: Operation
    /// Counts the local edits of the attachment.
    var revision: Int64 = 1
    var name = ""
    var contentType = ""
    var keywords = ""
    /// Bytes of the content.
    var size: Int64 = 0
    /// The file of the content on this device; nil for a delete.
    var content: UUID?
    /// The edit that was sent and whose answer is not known; nil when none is on its way.
    var attempt: Attempt?
    /// Why the service refused the edit when it was sent last.
    var refusal: String?

    struct Attempt: Sendable, Hashable {
        var revision: Int64
        var operation: Operation
        var name: String
        var size: Int64
        /// The attachments that the feature had before, where the service gives no global ids: a new one is the one sent.
        var known: [Int64] = []
    }

    /// What became of an edit that was sent.
    enum Settlement: Sendable {
        /// The service has what was sent, under this id.
        case applied(Int64?)
        /// The service said no.
        case refused(String)
        /// The edit has not reached the service.
        case notSent
    }
}

extension EditOperation {
    init(_ operation: AttachmentEdit.Operation) {
        switch operation {
        case .add: self = .add
        case .update: self = .update
        case .delete: self = .delete
        }
    }
}

// MARK: Transitions

extension AttachmentEdit {
    /// The edit with a later one over it; nil when both cancel each other out. Throws `GeodatabaseError.itemNotFound` for
    /// an attachment that has been deleted.
    func followed(by later: AttachmentEdit) throws -> AttachmentEdit? {
        if operation == .delete {
            throw GeodatabaseError.itemNotFound(details: "The attachment has been deleted.")
        }
        // An add that was sent and not answered may have arrived: then there is something to delete.
        if operation == .add, later.operation == .delete, attempt == nil { return nil }
        var result = later
        result.id = id
        result.globalID = globalID ?? later.globalID
        if operation == .add, later.operation == .update { result.operation = .add }
        result.revision = revision + 1
        result.attempt = attempt
        return result
    }

    /// What is left of the edit after an answer; nil for nothing.
    func settled(_ settlement: Settlement) -> AttachmentEdit? {
        guard let attempt else { return self }
        var rest = self
        rest.attempt = nil
        switch settlement {
        case .applied(let id):
            if revision == attempt.revision || attempt.operation == .delete { return nil }
            rest.id = id ?? rest.id
            // What was changed here since it was sent is sent as a change of what is there now.
            if rest.operation == .add { rest.operation = .update }
            return rest
        case .refused(let reason):
            if operation == .delete, attempt.operation == .add { return nil }
            rest.refusal = reason
            return rest
        case .notSent: return operation == .delete && attempt.operation == .add ? nil : rest
        }
    }
}

// MARK: Coding

extension AttachmentEdit {
    var json: JSONValue {
        var object = JSONObject()
        object.append("id", .integer(id))
        object.append("globalID", JSONValue(globalID.map(GUID.normalForm)))
        object.append("operation", .string(operation.rawValue))
        object.append("revision", .integer(revision))
        object.append("name", .string(name))
        object.append("contentType", .string(contentType))
        object.append("keywords", .string(keywords))
        object.append("size", .integer(size))
        object.append("content", JSONValue(content.map(GUID.normalForm)))
        object.append("refusal", JSONValue(refusal))
        if let attempt {
            object.append(
                "attempt",
                [
                    "revision": .integer(attempt.revision), "operation": .string(attempt.operation.rawValue),
                    "name": .string(attempt.name), "size": .integer(attempt.size),
                    "known": .array(attempt.known.map { .integer($0) }),
                ])
        }
        return .object(object)
    }

    /// Reads what `json` wrote. Throws `CommonError.invalidJSON` rather than lose an edit in silence.
    init(json: JSONValue) throws {
        guard let id = json["id"]?.integerValue,
            let operation = json["operation"]?.stringValue.flatMap(Operation.init(rawValue:))
        else { throw CommonError.invalidJSON(details: "An unsent edit of an attachment can't be read.") }
        self.init(id: id, globalID: json["globalID"]?.stringValue.flatMap(GUID.parse), operation: operation)
        revision = json["revision"]?.integerValue ?? 1
        name = json["name"]?.stringValue ?? ""
        contentType = json["contentType"]?.stringValue ?? ""
        keywords = json["keywords"]?.stringValue ?? ""
        size = json["size"]?.integerValue ?? 0
        content = json["content"]?.stringValue.flatMap(GUID.parse)
        refusal = json["refusal"]?.stringValue
        if let attempt = json["attempt"], let revision = attempt["revision"]?.integerValue,
            let operation = attempt["operation"]?.stringValue.flatMap(Operation.init(rawValue:))
        {
            let known = attempt["known"]?.arrayValue?.compactMap(\.integerValue) ?? []
            self.attempt = Attempt(
                revision: revision, operation: operation, name: attempt["name"]?.stringValue ?? name,
                size: attempt["size"]?.integerValue ?? size, known: known)
        }
    }
}
