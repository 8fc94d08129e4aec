import Foundation
import Hummingbird
import NIOCore

/// A posted form: names and values in their order, decoded once.
struct FormValues: Sendable {
    private(set) var pairs: [(name: String, value: String)]
    /// What came along as files; never part of a draft's text.
    private(set) var files: [PostedFile] = []

    init(pairs: [(name: String, value: String)], files: [PostedFile] = []) {
        self.pairs = pairs
        self.files = files
    }

    /// Reads `application/x-www-form-urlencoded` bytes.
    init(bytes: some Collection<UInt8>) throws(CollectError) {
        var pairs: [(name: String, value: String)] = []
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            guard pairs.count < Limits.formFields else { throw CollectError(.badForm, "The form has too many fields.") }
            let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = halves.first, let name = Self.decode(first),
                let value = halves.count > 1 ? Self.decode(halves[1]) : ""
            else { throw CollectError(.badForm, "The form isn't written as a form is.") }
            pairs.append((name, value))
        }
        self.pairs = pairs
    }

    /// - Parameter limit: bytes of a form with files.
    static func read(_ request: Request, upTo limit: Int = Limits.photoFormBytes) async throws -> FormValues {
        let type = request.headers[.contentType] ?? ""
        if type.lowercased().hasPrefix("multipart/form-data") {
            let body = try await request.body.collect(upTo: limit)
            return try MultipartForm(bytes: Array(body.readableBytesView), contentType: type).values()
        }
        guard type.lowercased().hasPrefix("application/x-www-form-urlencoded") else {
            throw CollectError(.badForm, "This page takes forms only.")
        }
        let body = try await request.body.collect(upTo: Limits.formBytes)
        return try FormValues(bytes: body.readableBytesView)
    }

    subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }

    func all(_ name: String) -> [String] {
        pairs.filter { $0.name == name }.map(\.value)
    }

    /// A finite number, with a comma or a point.
    func number(_ name: String) -> Double? {
        guard let text = self[name] else { return nil }
        return Self.number(text)
    }

    static func number(_ text: String) -> Double? {
        let plain = text.trimmingCharacters(in: .whitespaces)
            .replacingOccurrences(of: "\u{2212}", with: "-").replacingOccurrences(of: ",", with: ".")
        guard let value = Double(plain), value.isFinite else { return nil }
        return value
    }

    /// Percent signs and plus signs undone; nil where the result isn't UTF-8 or a percent sign is cut off.
    static func decode(_ bytes: some Collection<UInt8>) -> String? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            index = bytes.index(after: index)
            switch byte {
            case UInt8(ascii: "+"):
                result.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard index != bytes.endIndex, let high = hex(bytes[index]) else { return nil }
                index = bytes.index(after: index)
                guard index != bytes.endIndex, let low = hex(bytes[index]) else { return nil }
                index = bytes.index(after: index)
                result.append(high << 4 | low)
            default:
                result.append(byte)
            }
        }
        return String(validating: result, as: UTF8.self)
    }

    private static func hex(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
