import FieldworkGeometry
import Foundation

/// The edits of a request: within it, or in a file that was uploaded before (`editsUploadId`, or `editsURL` with that upload's
/// address), which may be compressed.
struct UploadedEdits {
    let finder: UploadedFile.Finder
    /// The service whose uploads an address may name; nil where an address is no parameter.
    var service: ServiceName?

    /// nil when a request has none.
    func edits(_ parameters: RequestParameters) throws(ServiceError) -> JSONText? {
        if let document = try document(parameters, instead: ["edits"]) { return document }
        return try parameters.jsonText("edits")
    }

    /// What the upload of a request has; nil when it names none.
    /// - Parameter others: the parameters that the upload stands for: a request has either.
    func document(_ parameters: RequestParameters, instead others: [String]) throws(ServiceError) -> JSONText? {
        // Some clients send the word for what they do not mean.
        guard let (name, id) = try upload(parameters) else { return nil }
        if let format = parameters["editsUploadFormat"], format.lowercased() != "json" {
            throw .invalidParameter("'editsUploadFormat' must be json.")
        }
        if let other = others.first(where: { parameters[$0] != nil }) {
            throw .invalidParameter("'\(other)' and '\(name)' exclude each other.")
        }
        guard let file = finder(id) else {
            throw .invalidParameter("'\(name)': there is no upload '\(id.prefix(64))' (any more).")
        }
        do {
            guard let text = String(validating: try bytes(of: file), as: UTF8.self) else {
                throw ServiceError.invalidParameter("'\(name)': the upload is not UTF-8 text.")
            }
            return try JSONText(text)
        } catch {
            throw error as? ServiceError ?? .invalidParameter("'\(name)': the upload is not valid JSON.")
        }
    }

    /// The parameter that names an upload, and its id.
    private func upload(_ parameters: RequestParameters) throws(ServiceError) -> (name: String, id: String)? {
        let id = parameters["editsUploadId"].flatMap { $0.lowercased() == "null" ? nil : $0 }
        guard let service, let address = parameters["editsURL"], address.lowercased() != "null" else {
            return id.map { ("editsUploadId", $0) }
        }
        guard id == nil else { throw .invalidParameter("'editsURL' and 'editsUploadId' exclude each other.") }
        // A server that fetched what it is told to could be sent to places that only it can reach.
        let own = service.path.split(separator: "/").map(String.init) + ["FeatureServer", "uploads"]
        let parts = (URL(string: address)?.pathComponents ?? []).filter { $0 != "/" }
        guard let last = parts.last, parts.dropLast().suffix(own.count) == own[...] else {
            throw .invalidParameter("'editsURL' must be the address of an upload of this service.")
        }
        return ("editsURL", last)
    }

    private func bytes(of file: UploadedFile) throws -> [UInt8] {
        guard file.content.size <= Limits.uploadedEditsBytes else { throw Self.tooLarge }
        let bytes: [UInt8]
        switch file.content.source {
        case .bytes(let content): bytes = content
        case .file(let path): bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        }
        guard bytes.starts(with: [0x1F, 0x8B]) else { return bytes }
        do throws(GzipReader.Failure) {
            return try GzipReader.expanded(bytes, maximum: Limits.uploadedEditsBytes)
        } catch {
            switch error {
            case .tooLarge: throw Self.tooLarge
            case .malformed: throw ServiceError.invalidParameter("'editsUploadId': the upload is not valid gzip.")
            }
        }
    }

    private static let tooLarge = ServiceError(
        code: 413, message: "The upload is too large.",
        details: ["Edits may have \(Limits.uploadedEditsBytes) bytes."])
}
