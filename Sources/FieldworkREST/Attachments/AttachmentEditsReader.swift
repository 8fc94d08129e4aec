package import FieldworkGeometry
import Foundation

/// Reads the attachments of edits. What is wrong with one is its own failure and not its
/// neighbours'. With `useGlobalIds` attachments and features are named by global ids, else by object ids.
package struct AttachmentEditsReader: Sendable {
    let usesGlobalIDs: Bool
    let uploads: UploadedFile.Finder

    /// - Parameter uploads: finds the files that edits name by the id of their upload.
    package init(usesGlobalIDs: Bool, uploads: @escaping UploadedFile.Finder) {
        self.usesGlobalIDs = usesGlobalIDs
        self.uploads = uploads
    }

    /// The adds, updates and deletes of one layer.
    package func edits(_ json: JSONValue?) throws(ServiceError) -> AttachmentEdits {
        guard let json, !json.isNull else { return AttachmentEdits() }
        guard let object = json.objectValue else {
            // Some clients send an empty list for none.
            if json.arrayValue?.isEmpty == true { return AttachmentEdits() }
            throw .invalidParameter("'attachments' must be a JSON object with adds, updates and deletes.")
        }
        return AttachmentEdits(
            adds: try list(object, "adds").map { edit($0, isUpdate: false) },
            updates: try list(object, "updates").map { edit($0, isUpdate: true) },
            deletes: try deletes(object["deletes"] ?? object["deleteIds"]))
    }

    private func list(_ object: JSONObject, _ name: String) throws(ServiceError) -> [JSONValue] {
        guard let value = object[name], !value.isNull else { return [] }
        guard let items = value.arrayValue, items.count <= Limits.editCount else {
            throw .invalidParameter("'attachments.\(name)' must be an array of at most \(Limits.editCount) items.")
        }
        return items
    }

    private func edit(_ json: JSONValue, isUpdate: Bool) -> AttachmentEdit {
        var edit = AttachmentEdit()
        do throws(EditError) {
            guard let object = json.objectValue else { throw Self.unreadable("An attachment must be a JSON object.") }
            // The protocol's own documents spell the members in several ways.
            let members = Dictionary(
                object.members.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { _, last in last })
            try readIDs(members, isUpdate: isUpdate, into: &edit)
            edit.name = members["name"]?.stringValue
            edit.contentType = members["contenttype"]?.stringValue
            edit.keywords = members["keywords"]?.stringValue
            try readContent(members, into: &edit)
        } catch {
            edit.rejection = error
        }
        return edit
    }

    private func readIDs(
        _ members: [String: JSONValue], isUpdate: Bool, into edit: inout AttachmentEdit
    ) throws(EditError) {
        edit.globalID = try globalID(members["globalid"])
        let parent = try globalID(members["parentglobalid"])
        if usesGlobalIDs {
            edit.parent = parent.map(FeatureIdentifier.globalID)
            return
        }
        edit.parent = integer(members["parentobjectid"] ?? members["parentid"]).map(FeatureIdentifier.objectID)
        if isUpdate { edit.id = integer(members["attachmentid"] ?? members["id"] ?? members["objectid"]) }
    }

    private func readContent(_ members: [String: JSONValue], into edit: inout AttachmentEdit) throws(EditError) {
        if let text = members["data"]?.stringValue {
            edit.content = AttachmentContent(bytes: try Self.bytes(ofBase64: text))
            return
        }
        // A replica's edit may name an upload by its address.
        let address = members["url"]?.stringValue.map {
            String($0.split(separator: "/").last?.prefix { $0 != "?" } ?? "")
        }
        guard let id = members["uploadid"]?.stringValue ?? address, !id.isEmpty else { return }
        guard let file = uploads(id) else {
            throw Self.unreadable("There is no upload '\(id.prefix(64))' (any more).")
        }
        edit.content = file.content
        edit.name = edit.name ?? file.name
        edit.contentType = edit.contentType ?? file.contentType
    }

    private static func bytes(ofBase64 text: String) throws(EditError) -> [UInt8] {
        // A page's own form: data:image/png;base64,…
        let start = text.hasPrefix("data:") ? text.firstIndex(of: ",").map(text.index(after:)) : nil
        let digits = start.map { String(text[$0...]) } ?? text
        if let data = Data(base64Encoded: digits) { return [UInt8](data) }
        // Lines are cut by some encoders; anything else that is no digit makes the content doubtful.
        let joined = String(decoding: digits.utf8.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard let data = Data(base64Encoded: joined) else { throw unreadable("'data' is not valid base64.") }
        return [UInt8](data)
    }

    // MARK: Ids

    private func globalID(_ json: JSONValue?) throws(EditError) -> UUID? {
        guard let json, !json.isNull else { return nil }
        guard let id = json.stringValue.flatMap(GUID.parse) else { throw Self.unreadable("The global id is none.") }
        return id
    }

    private func integer(_ json: JSONValue?) -> Int64? {
        json?.integerValue ?? json?.stringValue.flatMap { Int64($0) }
    }

    private func deletes(_ json: JSONValue?) throws(ServiceError) -> [AttachmentDelete] {
        guard let json, !json.isNull else { return [] }
        let parameters = RequestParameters([("deletes", json.stringValue ?? json.text)])
        return usesGlobalIDs
            ? (try parameters.globalIDs("deletes") ?? []).map { AttachmentDelete(.globalID($0)) }
            : (try parameters.objectIDs("deletes") ?? []).map { AttachmentDelete(.id($0)) }
    }

    private static func unreadable(_ description: String) -> EditError {
        EditError(code: 1000, description: description)
    }
}
