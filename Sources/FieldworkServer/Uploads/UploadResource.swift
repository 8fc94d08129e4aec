/// What a path names of a service's uploads.
enum UploadResource: Sendable, Hashable {
    case info, upload, register
    case item(String), uploadPart(String), append(String), parts(String), commit(String), delete(String)

    /// - Parameter segments: what follows `FeatureServer`.
    init?(_ segments: ArraySlice<String>) {
        let words = Array(segments)
        guard words.first?.equalsIgnoringCase("uploads") == true, (2...3).contains(words.count) else { return nil }
        let second = words[1].lowercased()
        guard words.count == 3 else {
            switch second {
            case "info": self = .info
            case "upload": self = .upload
            case "register": self = .register
            default: self = .item(words[1])
            }
            return
        }
        switch words[2].lowercased() {
        case "uploadpart": self = .uploadPart(words[1])
        case "append": self = .append(words[1])
        case "parts": self = .parts(words[1])
        case "commit": self = .commit(words[1])
        case "delete": self = .delete(words[1])
        default: return nil
        }
    }

    var isWrite: Bool {
        switch self {
        case .upload, .register, .uploadPart, .append, .commit, .delete: true
        case .info, .item, .parts: false
        }
    }

    /// Whether it takes a file.
    var takesFile: Bool {
        switch self {
        case .upload, .uploadPart: true
        default: false
        }
    }
}
