/// What is in a file, by its name in the story. Every fifth is too large to go within edits, on a device as for the
/// connected: it goes as an upload of its own, and may arrive in pieces.
enum FileContent {
    /// More than what any client sends within its edits.
    private static let padding = 40_000
    private static let filler = UInt8(ascii: ".")

    static func isLarge(_ name: String) -> Bool {
        name.split(separator: "-").last.flatMap { Int($0) }.map { $0.isMultiple(of: 5) } ?? false
    }

    static func bytes(of name: String) -> [UInt8] {
        Array(name.utf8) + (isLarge(name) ? [UInt8](repeating: filler, count: padding) : [])
    }

    /// The name of a content that is whole; what nobody wrote for one that is not.
    static func name(of bytes: some Collection<UInt8>) -> String {
        let name = String(decoding: bytes.prefix { $0 != filler }, as: UTF8.self)
        let whole = Self.bytes(of: name)
        return bytes.elementsEqual(whole) ? name : "\(bytes.count) of the \(whole.count) bytes of \(name)"
    }
}
