import FieldworkREST

/// The fields of a `multipart/form-data` body (RFC 7578). The protocol's Python client sends edits this way.
struct MultipartForm: Sendable {
    struct Field: Sendable, Hashable {
        var name: String
        /// Set for a file.
        var fileName: String?
        var content: ArraySlice<UInt8>
    }

    private(set) var fields: [Field] = []

    /// - Parameters:
    ///   - bytes: the whole body.
    ///   - contentType: the request's `Content-Type`, which names the boundary between fields.
    init(_ bytes: [UInt8], contentType: String) throws(ServiceError) {
        guard let boundary = Self.parameter("boundary", of: contentType[...]), (1...70).contains(boundary.utf8.count)
        else {
            throw .invalidParameter("The multipart body names no boundary.")
        }
        let delimiter = Array("--\(boundary)".utf8)
        var position = try Self.skip(delimiter, in: bytes, from: 0)
        // Each delimiter is followed by a line end and a field, the last one by two hyphens.
        while !bytes[position...].starts(with: [0x2D, 0x2D]) {
            guard bytes[position...].starts(with: Self.lineEnd), fields.count < Limits.formFields else {
                throw Self.malformed
            }
            let headerEnd = try Self.find(Self.lineEnd + Self.lineEnd, in: bytes, from: position)
            guard headerEnd - position <= Limits.fieldHeaderBytes else { throw Self.malformed }
            let header = String(decoding: bytes[position..<headerEnd], as: UTF8.self)
            let contentStart = headerEnd + 4
            let contentEnd = try Self.find(Self.lineEnd + delimiter, in: bytes, from: contentStart)
            try append(header: header, content: bytes[contentStart..<contentEnd])
            position = contentEnd + 2 + delimiter.count
        }
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static var malformed: ServiceError { .invalidParameter("The multipart body is malformed.") }

    private mutating func append(header: String, content: ArraySlice<UInt8>) throws(ServiceError) {
        let disposition = header.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-disposition:") }
        guard let disposition, let name = Self.parameter("name", of: disposition) else { throw Self.malformed }
        fields.append(Field(name: name, fileName: Self.parameter("filename", of: disposition), content: content))
    }

    /// The value of a parameter of a header field, with or without quotes.
    private static func parameter(_ name: String, of field: Substring) -> String? {
        for part in field.split(separator: ";").dropFirst() {
            let words = part.split(separator: "=", maxSplits: 1)
            guard words.count == 2, words[0].filter({ $0 != " " }).lowercased() == name else { continue }
            var value = words[1].drop { $0 == " " }
            while value.last == " " { value.removeLast() }
            if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
            return String(value)
        }
        return nil
    }

    private static func skip(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) throws(ServiceError) -> Int {
        try find(pattern, in: bytes, from: start) + pattern.count
    }

    /// Where a pattern begins. The pattern's first byte is looked for first: contents are long, delimiters rare.
    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) throws(ServiceError) -> Int {
        var position = start
        while position + pattern.count <= bytes.count {
            if bytes[position] == pattern[0], bytes[position..<(position + pattern.count)].elementsEqual(pattern) {
                return position
            }
            position += 1
        }
        throw malformed
    }
}
