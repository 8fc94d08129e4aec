import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// A file that a client has sent, or sends in parts, to be used by a later request.
struct UploadItem: Sendable {
    /// Names the upload in addresses: nobody guesses it.
    var id: String
    /// The client's name for the file.
    var name: String
    var contentType: String?
    var description: String
    var service: ServiceName
    /// Who sends it; nobody else finds it.
    var editor: String?
    var date: Date
    /// Set when the file is complete.
    var content: Content?

    struct Content: Sendable {
        var size: Int
        var sha256: String
    }

    static func newID() -> String { "i" + UUID().uuidString.lowercased().filter { $0 != "-" } }

    /// An id of ours and nothing else, so that no id leads out of the folder.
    static func isID(_ text: String) -> Bool {
        text.utf8.count == 33 && text.hasPrefix("i")
            && text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// What clients are told.
    var json: JSONValue {
        var object = JSONObject()
        object.append("itemID", .string(id))
        object.append("itemName", .string(name))
        object.append("description", .string(description))
        object.append("date", ReplicaAnswer.milliseconds(date))
        object.append("committed", .bool(content != nil))
        object.append("serviceName", .string(service.name))
        if let content { object.append("size", JSONValue(content.size)) }
        return .object(object)
    }

    // MARK: On the disk

    var storageJSON: JSONValue {
        var object = JSONObject()
        object.append("id", .string(id))
        object.append("name", .string(name))
        object.append("contentType", JSONValue(contentType))
        object.append("description", .string(description))
        object.append("folder", JSONValue(service.folder))
        object.append("service", .string(service.name))
        object.append("editor", JSONValue(editor))
        object.append("date", ReplicaAnswer.milliseconds(date))
        if let content {
            object.append("size", JSONValue(content.size))
            object.append("sha256", .string(content.sha256))
        }
        return .object(object)
    }

    init?(storageJSON json: JSONValue) {
        guard let id = json["id"]?.stringValue, let name = json["name"]?.stringValue,
            let service = json["service"]?.stringValue, let date = json["date"]?.doubleValue
        else { return nil }
        self.id = id
        self.name = name
        contentType = json["contentType"]?.stringValue
        description = json["description"]?.stringValue ?? ""
        self.service = ServiceName(folder: json["folder"]?.stringValue, name: service)
        editor = json["editor"]?.stringValue
        self.date = Date(timeIntervalSince1970: date / 1_000)
        if let size = json["size"]?.integerValue, let sha256 = json["sha256"]?.stringValue {
            content = Content(size: Int(size), sha256: sha256)
        }
    }

    init(
        id: String, name: String, contentType: String?, description: String, service: ServiceName, editor: String?,
        date: Date
    ) {
        self.id = id
        self.name = name
        self.contentType = contentType
        self.description = description
        self.service = service
        self.editor = editor
        self.date = date
    }
}
