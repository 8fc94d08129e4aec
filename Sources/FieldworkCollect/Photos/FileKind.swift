import Foundation

/// What a file is, by its first bytes and never by its name: only pictures that a page can't run are shown in it.
enum FileKind: Sendable, Equatable {
    /// A picture of this type, which browsers draw and never run.
    case picture(String)
    /// Anything else, which is offered for saving only.
    case other

    private static let marks: [(start: [UInt8], type: String)] = [
        ([0xFF, 0xD8, 0xFF], "image/jpeg"),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
        (Array("GIF87a".utf8), "image/gif"), (Array("GIF89a".utf8), "image/gif"),
    ]

    init(_ data: Data) {
        let head = Array(data.prefix(12))
        if let mark = Self.marks.first(where: { head.starts(with: $0.start) }) {
            self = .picture(mark.type)
        } else if head.count == 12, head.starts(with: "RIFF".utf8), head[8...].elementsEqual("WEBP".utf8) {
            self = .picture("image/webp")
        } else {
            self = .other
        }
    }

    var isPicture: Bool { self != .other }
    var isJPEG: Bool { self == .picture("image/jpeg") }

    /// The type to serve and to keep it under; a claim that isn't a plain type of a file counts for nothing.
    func contentType(claimed: String) -> String {
        switch self {
        case .picture(let type): return type
        case .other:
            let plain = claimed.lowercased().prefix { $0 != ";" }
            let isPlain = plain.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/.+-".contains($0)) }
            let parts = plain.split(separator: "/", omittingEmptySubsequences: false)
            guard isPlain, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), plain.count <= 100 else {
                return "application/octet-stream"
            }
            return String(plain)
        }
    }
}
