import FieldworkREST
import Foundation

/// Takes a `multipart/form-data` body (RFC 7578) apart while it arrives: no more of it is in memory than one piece and the
/// header of a field.
struct MultipartReader: Sendable {
    struct Field: Sendable, Hashable {
        var name: String
        /// Set for a file.
        var fileName: String?
        var contentType: String?
    }

    /// What comes out, in the order of the body: a field, pieces of its content, its end.
    enum Event: Sendable {
        case field(Field)
        case content(ArraySlice<UInt8>)
        case endOfField
    }

    private enum State {
        case preamble, afterDelimiter, header, content, ended
    }

    private let delimiter: [UInt8]
    private let contentEnd: [UInt8]
    private var state = State.preamble
    private var buffer: [UInt8] = []
    private var fieldCount = 0

    /// - Parameter contentType: the request's `Content-Type`, which names the boundary between fields.
    init(contentType: String) throws(ServiceError) {
        guard let boundary = HeaderParameters(contentType)["boundary"], (1...70).contains(boundary.utf8.count) else {
            throw .invalidParameter("The multipart body names no boundary.")
        }
        delimiter = Array("--\(boundary)".utf8)
        contentEnd = Self.lineEnd + delimiter
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let headerEnd: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    private static let malformed = ServiceError.invalidParameter("The multipart body is malformed.")

    /// Takes the next bytes of the body.
    mutating func read(_ bytes: some Sequence<UInt8>, _ handle: (Event) throws -> Void) throws {
        guard state != .ended else { return }
        buffer.append(contentsOf: bytes)
        var position = 0
        while try step(&position, handle) {}
        buffer.removeFirst(position)
    }

    /// Says that the body has ended.
    func finish() throws(ServiceError) {
        guard state == .ended else { throw Self.malformed }
    }

    /// - Returns: whether there was enough to go on.
    private mutating func step(_ position: inout Int, _ handle: (Event) throws -> Void) throws -> Bool {
        switch state {
        case .preamble:
            guard let start = find(delimiter, from: position) else {
                position = max(position, buffer.count - delimiter.count + 1)
                return false
            }
            position = start + delimiter.count
            state = .afterDelimiter
            return true
        case .afterDelimiter: return try readAfterDelimiter(&position)
        case .header: return try readHeader(&position, handle)
        case .content: return try readContent(&position, handle)
        case .ended:
            position = buffer.count
            return false
        }
    }

    /// Each delimiter is followed by a line end and a field, the last one by two hyphens.
    private mutating func readAfterDelimiter(_ position: inout Int) throws(ServiceError) -> Bool {
        guard position + 2 <= buffer.count else { return false }
        let next = buffer[position..<(position + 2)]
        position += 2
        if next.elementsEqual([0x2D, 0x2D]) {
            state = .ended
            return true
        }
        guard next.elementsEqual(Self.lineEnd), fieldCount < Limits.formFields else { throw Self.malformed }
        fieldCount += 1
        state = .header
        return true
    }

    private mutating func readHeader(_ position: inout Int, _ handle: (Event) throws -> Void) throws -> Bool {
        guard let end = find(Self.headerEnd, from: position) else {
            guard buffer.count - position <= Limits.fieldHeaderBytes else { throw Self.malformed }
            return false
        }
        guard end - position <= Limits.fieldHeaderBytes else { throw Self.malformed }
        let lines = String(decoding: buffer[position..<end], as: UTF8.self).split(separator: "\r\n")
        func value(_ name: String) -> Substring? {
            lines.first { $0.lowercased().hasPrefix(name) }?.dropFirst(name.count)
        }
        guard let disposition = value("content-disposition:").map(HeaderParameters.init),
            let name = disposition["name"]
        else { throw Self.malformed }
        position = end + Self.headerEnd.count
        state = .content
        try handle(
            .field(
                Field(
                    name: name, fileName: disposition["filename"],
                    contentType: value("content-type:").map { String($0.drop { $0 == " " }) })))
        return true
    }

    private mutating func readContent(_ position: inout Int, _ handle: (Event) throws -> Void) throws -> Bool {
        guard let end = find(contentEnd, from: position) else {
            // The end may have begun.
            let safe = buffer.count - contentEnd.count + 1
            if safe > position {
                try handle(.content(buffer[position..<safe]))
                position = safe
            }
            return false
        }
        if end > position { try handle(.content(buffer[position..<end])) }
        position = end + contentEnd.count
        state = .afterDelimiter
        try handle(.endOfField)
        return true
    }

    /// Where a pattern begins. Its first byte is looked for first: contents are long, delimiters rare.
    private func find(_ pattern: [UInt8], from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var position = start
            while position + pattern.count <= bytes.count {
                let room = bytes.count - pattern.count + 1 - position
                guard let hit = memchr(base + position, Int32(pattern[0]), room) else { return nil }
                position = UnsafeRawPointer(hit) - base
                if memcmp(base + position, pattern, pattern.count) == 0 { return position }
                position += 1
            }
            return nil
        }
    }
}
