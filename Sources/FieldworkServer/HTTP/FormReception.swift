import FieldworkREST
import Foundation

/// The fields of a form while it arrives: texts in memory, within the limits of all bodies, files on the disk.
struct FormReception: ~Copyable {
    private var reader: MultipartReader
    /// Where files go; nil for an operation that takes none: they are read over.
    private let folder: URL?
    private let maximumTextBytes: Int
    private var textBytes = 0
    private var fields: [(name: String, value: String)] = []
    private(set) var files: [String: ReceivedFile] = [:]
    private var name = ""
    private var text: [UInt8]?
    private var file: FileReception?

    init(contentType: String, folder: URL?, maximumTextBytes: Int) throws(ServiceError) {
        reader = try MultipartReader(contentType: contentType)
        self.folder = folder
        self.maximumTextBytes = maximumTextBytes
    }

    /// - Returns: how many bytes more are in memory.
    mutating func read(_ bytes: some Sequence<UInt8>) throws -> Int {
        let before = textBytes
        var events: [MultipartReader.Event] = []
        try reader.read(bytes) { events.append($0) }
        for event in events { try take(event) }
        return textBytes - before
    }

    private mutating func take(_ event: MultipartReader.Event) throws {
        switch event {
        case .field(let field):
            name = field.name
            if field.fileName == nil {
                text = []
            } else if let folder {
                guard files.count < Limits.filesOfForm else {
                    throw ServiceError.invalidParameter("A form may bring \(Limits.filesOfForm) files.")
                }
                file = try FileReception(field, in: folder)
            }
        case .content(let bytes):
            if text == nil, folder != nil {
                try file?.write(bytes)
                return
            }
            // What is read over counts as well: it is no way round the limit.
            textBytes += bytes.count
            guard textBytes <= maximumTextBytes else { throw ServiceError.tooLarge(maximumTextBytes) }
            text?.append(contentsOf: bytes)
        case .endOfField:
            if let bytes = text {
                guard let value = String(validating: bytes, as: UTF8.self) else {
                    throw ServiceError.invalidParameter("The field '\(name.prefix(64))' is not UTF-8 text.")
                }
                fields.append((name, value))
            } else if let received = file?.finish() {
                files[name.lowercased()] = received
            }
            text = nil
            file = nil
        }
    }

    /// The texts of a whole form.
    consuming func finish() throws(ServiceError) -> (
        fields: [(name: String, value: String)], files: [String: ReceivedFile]
    ) {
        try reader.finish()
        return (fields, files)
    }
}

extension ServiceError {
    static func tooLarge(_ maximum: Int) -> ServiceError {
        ServiceError(
            code: 413, message: "The request is too large.",
            details: ["The body of a request may have \(maximum) bytes."])
    }
}
