/// A file that belongs to a feature, without its bytes.
public struct ArcadeAttachment: Sendable, Hashable {
    /// Its number among the feature's.
    public var id: Int
    /// The name of the file, the type of its content (a MIME type), and the words that it is found by.
    public var name: String, contentType: String, keywords: String
    /// Bytes of the content.
    public var size: Int

    /// By what is known of it.
    public init(id: Int, name: String, contentType: String, size: Int, keywords: String = "") {
        self.id = id
        self.name = name
        self.contentType = contentType
        self.size = size
        self.keywords = keywords
    }
}
