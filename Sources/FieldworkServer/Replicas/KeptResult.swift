import Foundation

/// A file that was made for a client.
struct KeptResult: Sendable {
    var size: Int64
    /// A part of it, read while it is taken.
    var body: @Sendable (Range<Int64>) throws -> Answer.Body

    init(size: Int64, body: @escaping @Sendable (Range<Int64>) throws -> Answer.Body) {
        self.size = size
        self.body = body
    }

    /// One on the disk.
    init(file url: URL) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
        body = { .file(try FilePart(url, range: $0)) }
    }
}
