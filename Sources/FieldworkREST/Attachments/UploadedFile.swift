/// A file that a client has sent, as its edits find it.
package struct UploadedFile: Sendable, Hashable {
    /// As the client calls it.
    package var name: String
    /// As the client told it; nil when it did not.
    package var contentType: String?
    package var content: AttachmentContent

    package init(name: String, contentType: String?, content: AttachmentContent) {
        self.name = name
        self.contentType = contentType
        self.content = content
    }

    /// Finds a file by the id that its upload was answered with; nil when there is none (any more).
    package typealias Finder = @Sendable (_ id: String) -> UploadedFile?
}
