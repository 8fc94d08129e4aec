public import Foundation

/// The content of an item that is added or updated.
public final class PortalItemContentParameters: Sendable {
    enum Content: Sendable {
        case json(Data)
        case file(URL, contentType: String)
        case address(URL)
    }

    let content: Content

    private init(_ content: Content) { self.content = content }

    /// A document in JSON, such as a web map.
    public static func json(_ json: Data) -> PortalItemContentParameters { PortalItemContentParameters(.json(json)) }

    /// A file of this device.
    public static func file(
        at url: URL, contentType: String = "application/octet-stream"
    ) -> PortalItemContentParameters {
        PortalItemContentParameters(.file(url, contentType: contentType))
    }

    /// A service, or a page, that lies elsewhere.
    public static func url(_ url: URL) -> PortalItemContentParameters { PortalItemContentParameters(.address(url)) }

    /// The parameters of a request, and the file that goes with them. Throws `CommonError.fileNotFound`.
    func parts() throws -> (form: [(name: String, value: String)], file: MultipartForm.File?) {
        switch content {
        case .json(let data): return ([("text", String(decoding: data, as: UTF8.self))], nil)
        case .address(let url): return ([("url", url.absoluteString)], nil)
        case .file(let url, let contentType):
            guard let size = (try? url.resourceValues(forKeys: [.fileSizeKey]))?.fileSize else {
                throw CommonError.fileNotFound(details: "\(url.lastPathComponent) can't be read.")
            }
            let file = MultipartForm.File(
                part: "file", url: url, name: url.lastPathComponent, contentType: contentType, size: Int64(size),
                offset: 0)
            return ([], file)
        }
    }
}
