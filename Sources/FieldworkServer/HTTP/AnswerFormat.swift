import FieldworkREST

/// The format of a resource's answer: the parameter `f`. Features have further formats, which only queries know.
enum AnswerFormat: Sendable, Hashable {
    case json
    case prettyJSON
    case html

    /// Without `f`, a person with a browser gets a page and a program gets JSON.
    /// - Parameters:
    ///   - name: the parameter's value, nil when absent or empty.
    ///   - accept: the request's `Accept` field.
    init(name: String?, accept: String?) throws(ServiceError) {
        guard let name else {
            self = accept.map(Self.prefersHTML) == true ? .html : .json
            return
        }
        switch name.lowercased() {
        case "json": self = .json
        case "pjson": self = .prettyJSON
        case "html": self = .html
        default:
            throw .invalidParameter("The format '\(name.prefix(32))' is not supported by this resource.")
        }
    }

    /// Browsers name `text/html` first; API clients name JSON, or anything (`*/*`).
    private static func prefersHTML(_ accept: String) -> Bool {
        for part in accept.utf8.split(separator: 0x2C) {
            let type = String(Substring(part.prefix { $0 != 0x3B })).filter { $0 != " " }.lowercased()
            switch type {
            case "text/html", "application/xhtml+xml": return true
            case "application/json", "text/plain", "application/geo+json", "*/*": return false
            default: continue
            }
        }
        return false
    }
}

/// The function name of a JSONP request. Only characters of plain property paths: the answer is script.
struct JSONPCallback: Sendable, Hashable {
    let name: String

    init(_ name: String) throws(ServiceError) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2E, 0x24, 0x5B, 0x5D: true
            default: false
            }
        }
        guard isPlain, name.utf8.count <= Limits.callbackLength else {
            throw .invalidParameter("'callback' is not the name of a function.")
        }
        self.name = name
    }
}
