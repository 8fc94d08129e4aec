package import Foundation

/// What a code says, judged as the address of a map. A code is a stranger's word: it is opened by nobody but the user, who
/// has seen all of it.
package struct CodeAddress: Sendable, Equatable {
    /// What the code says, for people: characters that have no picture of their own are told by their number.
    package let shown: String
    /// nil where it is no address that could be opened.
    package let url: URL?
    /// Why it isn't; nil for an address.
    package let refusal: String?

    package init(_ said: String) {
        let text = said.trimmingCharacters(in: .whitespacesAndNewlines)
        shown = Self.visible(text)
        switch Self.judged(text) {
        case .success(let url): (self.url, refusal) = (url, nil)
        case .failure(let refusal): (url, self.refusal) = (nil, refusal.reason)
        }
    }

    private struct Refusal: Error { let reason: String }

    private static func judged(_ text: String) -> Result<URL, Refusal> {
        func no(_ reason: String) -> Result<URL, Refusal> { .failure(Refusal(reason: reason)) }
        guard !text.isEmpty else { return no("The code is empty.") }
        guard text.utf8.count <= Limits.codeAddress else { return no("It is too long for an address.") }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme), text.count > scheme.count else {
            return no("It is not the address of a map: those begin with http:// or https://.")
        }
        // Letters of other scripts that look like these would show another place than they lead to.
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return no("It has characters that an address doesn't have.")
        }
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, let url = parts.url else {
            return no("It is not a whole address.")
        }
        guard parts.user == nil, parts.password == nil else {
            return no("It has a name or password before the server's name, which hides where it leads.")
        }
        return .success(url)
    }

    private static func visible(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                "⟨\(String(scalar.value, radix: 16, uppercase: true))⟩"
            default: String(Character(scalar))
            }
        }.joined()
    }
}
