import FieldworkGeometry
import Foundation

/// Writes attachments into documents of replicas and changes: what is known of each, and its content as
/// base64 or the address where it is had.
struct AttachmentListWriter: Sendable {
    /// How contents come.
    let contents: ReplicaDocument.AttachmentContents

    /// The members of one attachment but for its content, without the closing brace.
    private func head(_ info: AttachmentInfo) -> [UInt8] {
        var object = JSONObject()
        object.append("attachmentId", .integer(info.id))
        object.append("globalId", info.globalID.map { .string(GUID.normalForm($0)) } ?? .null)
        object.append("parentGlobalId", info.parentGlobalID.map { .string(GUID.normalForm($0)) } ?? .null)
        object.append("contentType", .string(info.contentType))
        object.append("name", .string(info.name))
        object.append("size", .integer(info.size))
        object.append("keywords", .string(info.keywords))
        // Ours: who has the content already need not fetch it.
        if let sha256 = info.sha256 { object.append("sha256", .string(sha256)) }
        if case .addresses(let layer) = contents {
            object.append("url", .string("\(layer)/\(info.parentObjectID)/attachments/\(info.id)"))
        }
        var bytes: [UInt8] = []
        JSONValue.object(object).write(to: &bytes)
        bytes.removeLast()
        return bytes
    }

    /// - Parameters:
    ///   - content: gives the bytes in pieces.
    ///   - write: takes pieces of the document.
    func write(
        _ info: AttachmentInfo, content: (_ take: ([UInt8]) throws -> Void) throws -> Void,
        to write: @escaping ([UInt8]) throws -> Void
    ) throws {
        try write(head(info))
        if contents == .embedded {
            try write(Array(",\"data\":\"".utf8))
            // Base64 stands for three bytes at a time: what is left of a piece goes with the next.
            var rest: [UInt8] = []
            try content { piece in
                let bytes = rest + piece
                let whole = bytes.count / 3 * 3
                try write([UInt8](Data(bytes[..<whole]).base64EncodedData()))
                rest = Array(bytes[whole...])
            }
            try write([UInt8](Data(rest).base64EncodedData()))
            try write([0x22])
        }
        try write([0x7D])
    }
}
