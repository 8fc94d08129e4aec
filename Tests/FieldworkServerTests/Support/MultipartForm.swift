import FieldworkREST

@testable import FieldworkServer

/// A whole form, as `MultipartReader` takes it apart.
struct MultipartForm {
    struct Field: Hashable {
        var name: String
        var fileName: String?
        var contentType: String?
        var content: [UInt8]
    }

    private(set) var fields: [Field] = []

    /// - Parameter pieceSize: how many bytes arrive at a time.
    init(_ bytes: [UInt8], contentType: String, pieceSize: Int = .max) throws {
        var reader = try MultipartReader(contentType: contentType)
        var rest = bytes[...]
        var fields: [Field] = []
        while !rest.isEmpty {
            try reader.read(rest.prefix(pieceSize)) { event in
                switch event {
                case .field(let field):
                    fields.append(
                        Field(name: field.name, fileName: field.fileName, contentType: field.contentType, content: []))
                case .content(let bytes): fields[fields.count - 1].content += bytes
                case .endOfField: break
                }
            }
            rest = rest.dropFirst(pieceSize)
        }
        try reader.finish()
        self.fields = fields
    }
}
