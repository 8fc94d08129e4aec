import Foundation
import NIOCore

/// A form with one file, as it goes over the network: the file is read while it is sent.
struct MultipartForm: Sendable {
    /// A file that goes with a request.
    struct File: Sendable {
        /// The name of the part; empty for a file that is the whole body, without a form around it.
        var part: String
        var url: URL
        var name: String
        var contentType: String
        var size: Int64
        /// Where in the file the bytes begin; only some of it may go.
        var offset: Int64 = 0
        /// Told of each piece that goes.
        var watch: SendingWatch?
    }

    let file: File
    private let boundary: String
    private let head: [UInt8]
    private let tail: [UInt8]

    init(_ parameters: [(name: String, value: String)], file: File, boundary: String = "fieldwork-\(UUID().uuidString)")
    {
        self.file = file
        self.boundary = boundary
        var head = ""
        for (name, value) in parameters {
            head += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(name))\"\r\n\r\n\(value)\r\n"
        }
        head += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(file.part))\"; "
        head += "filename=\"\(Self.quoted(file.name))\"\r\nContent-Type: \(Self.headerText(file.contentType))\r\n\r\n"
        self.head = file.part.isEmpty ? [] : Array(head.utf8)
        tail = file.part.isEmpty ? [] : Array("\r\n--\(boundary)--\r\n".utf8)
    }

    var contentType: String {
        file.part.isEmpty ? "application/octet-stream" : "multipart/form-data; boundary=\(boundary)"
    }

    var length: Int64 { Int64(head.count) + file.size + Int64(tail.count) }

    /// A name within quotes: what would end it is escaped as browsers do.
    private static func quoted(_ text: String) -> String {
        text.replacing("\r", with: "%0D").replacing("\n", with: "%0A").replacing("\"", with: "%22")
    }

    /// A type can't bring a header of its own.
    private static func headerText(_ type: String) -> String {
        let plain = type.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value != 0x7F }
        return plain.isEmpty ? "application/octet-stream" : String(String.UnicodeScalarView(plain))
    }
}

/// The pieces of a form: head, file, tail.
extension MultipartForm: AsyncSequence {
    struct Iterator: AsyncIteratorProtocol {
        private enum Position {
            case head, file(FileHandle, rest: Int64), end
        }

        private let form: MultipartForm
        private var position = Position.head

        fileprivate init(_ form: MultipartForm) { self.form = form }

        mutating func next() async throws -> ByteBuffer? {
            switch position {
            case .head:
                let handle = try FileHandle(forReadingFrom: form.file.url)
                try handle.seek(toOffset: UInt64(form.file.offset))
                position = .file(handle, rest: form.file.size)
                return ByteBuffer(bytes: form.head)
            case .file(let handle, let rest):
                let count = Int(Swift.min(Int64(Limits.filePieceBytes), rest))
                if count > 0, let piece = try handle.read(upToCount: count), !piece.isEmpty {
                    position = .file(handle, rest: rest - Int64(piece.count))
                    form.file.watch?.carried(Int64(piece.count))
                    return ByteBuffer(bytes: piece)
                }
                try handle.close()
                position = .end
                return ByteBuffer(bytes: form.tail)
            case .end: return nil
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}
