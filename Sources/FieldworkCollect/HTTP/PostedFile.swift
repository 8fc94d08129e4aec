import Foundation
import Hummingbird
import NIOCore

/// A file of a posted form.
struct PostedFile: Sendable, Equatable {
    /// The form's name for it.
    let field: String
    /// The name that it has on the user's device: what stands after the last slash of it.
    let name: String
    /// What the browser takes it for.
    let contentType: String
    let data: Data
}

/// Reads `multipart/form-data` (RFC 7578), as browsers write it: fields and files, each once, in their order.
struct MultipartForm {
    private let bytes: [UInt8]
    private let mark: [UInt8]

    /// - Parameter contentType: the header field, which names the boundary.
    init(bytes: [UInt8], contentType: String) throws(CollectError) {
        let parameter = contentType.split(separator: ";").dropFirst().lazy
            .map { $0.trimmingCharacters(in: .whitespaces) }.first { $0.lowercased().hasPrefix("boundary=") }
        guard let value = parameter?.dropFirst("boundary=".count).trimmingCharacters(in: ["\""]),
            !value.isEmpty, value.utf8.count <= 70
        else { throw Self.broken }
        self.bytes = bytes
        mark = Array("--\(value)".utf8)
    }

    private static var broken: CollectError { CollectError(.badForm, "The form isn't written as a form is.") }

    func values() throws(CollectError) -> FormValues {
        var pairs: [(name: String, value: String)] = []
        var files: [PostedFile] = []
        guard bytes.starts(with: mark) else { throw Self.broken }
        var offset = mark.count
        let next = Array("\r\n".utf8) + mark
        while !bytes[offset...].starts(with: "--".utf8) {
            guard bytes[offset...].starts(with: "\r\n".utf8),
                let headEnd = find(Array("\r\n\r\n".utf8), from: offset),
                let end = find(next, from: headEnd + 2)
            else { throw Self.broken }
            let body = headEnd + 4
            guard body <= end, pairs.count + files.count < Limits.formFields else { throw Self.broken }
            let head = Self.head(bytes[offset + 2..<headEnd])
            guard let disposition = head["content-disposition"], let field = Self.quoted("name", in: disposition) else {
                throw Self.broken
            }
            if let name = Self.quoted("filename", in: disposition) {
                // An empty control of files posts a file without a name and without a byte.
                if !name.isEmpty || body < end {
                    files.append(
                        PostedFile(
                            field: field, name: Self.last(name), contentType: head["content-type"] ?? "",
                            data: Data(bytes[body..<end])))
                }
            } else {
                guard let value = String(validating: bytes[body..<end], as: UTF8.self) else { throw Self.broken }
                pairs.append((field, value))
            }
            offset = end + next.count
        }
        return FormValues(pairs: pairs, files: files)
    }

    private func find(_ pattern: [UInt8], from start: Int) -> Int? {
        guard let first = pattern.first else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            var index = start
            while index + pattern.count <= bytes.count {
                guard let found = bytes[index..<bytes.count - pattern.count + 1].firstIndex(of: first) else {
                    return nil
                }
                if bytes[found..<found + pattern.count].elementsEqual(pattern) { return found }
                index = found + 1
            }
            return nil
        }
    }

    private static func head(_ bytes: ArraySlice<UInt8>) -> [String: String] {
        var fields: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { continue }
            fields[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
        }
        return fields
    }

    /// Browsers write a quotation mark within a name as `%22`.
    private static func quoted(_ name: String, in disposition: String) -> String? {
        guard let start = disposition.range(of: "; \(name)=\"") else { return nil }
        let rest = disposition[start.upperBound...]
        guard let end = rest.firstIndex(of: "\"") else { return nil }
        return rest[..<end].replacingOccurrences(of: "%22", with: "\"")
    }

    private static func last(_ name: String) -> String {
        String(name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? "")
    }
}
