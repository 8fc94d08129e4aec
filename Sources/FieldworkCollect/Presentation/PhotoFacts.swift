import Fieldwork
import Foundation

/// What pages say of a photo or file that a feature has.
struct PhotoFacts {
    let attachment: Attachment
    /// What the feature is called.
    let title: String
    /// The address of the feature's photos and files.
    let list: String
    /// Whether the map is a file of this device, which nothing is sent from.
    let isPlainFile: Bool

    var name: String { attachment.name.isEmpty ? "Photo of \(title)" : attachment.name }
    var address: String { "\(list)/\(attachment.id)" }
    /// The address of its bytes.
    var content: String { "\(address)/content" }
    var size: String { ByteText.whole(Int64(attachment.size)) }
    var state: String { isPlainFile ? "In the file" : attachment.isLocal ? "Not sent" : "On the server" }

    /// The address of a small picture; nil for what isn't one.
    var thumbnail: String? {
        Self.isPicture(attachment.contentType) ? "\(content)?edge=\(Limits.thumbnailEdge)" : nil
    }

    static func isPicture(_ contentType: String) -> Bool {
        ["image/jpeg", "image/png", "image/gif", "image/webp"].contains(contentType.lowercased())
    }
}
