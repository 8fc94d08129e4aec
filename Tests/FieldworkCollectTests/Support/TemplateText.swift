import Foundation

@testable import FieldworkCollect

/// The text of the app's templates, and what it says: their tags as a tree.
struct TemplateText {
    enum Tag: Hashable {
        /// A member that is written, escaped or as it is.
        case variable(String, isMarkup: Bool)
        indirect case section(String, isInverted: Bool, [Tag])
        case partial(String)
    }

    struct Malformed: Error {
        let what: String
    }

    /// All templates by name.
    static func all() throws -> [String: String] {
        let folder = AssetLibrary.resources.appending(path: "templates")
        var texts: [String: String] = [:]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "mustache" {
            texts[file.deletingPathExtension().lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
        }
        return texts
    }

    /// The tags of a template. Only the tags that the app's templates use are known.
    static func tags(_ text: String) throws -> [Tag] {
        var open: [(name: String, isInverted: Bool, tags: [Tag])] = [("", false, [])]
        for match in text.matches(of: /\{\{(?:\{\s*(?<markup>[\w.]+)\s*\}|(?<sign>[#^\/>]?)\s*(?<name>[\w.-]+)\s*)\}\}/)
        {
            if let name = match.markup {
                open[open.count - 1].tags.append(.variable(String(name), isMarkup: true))
                continue
            }
            let name = match.name.map(String.init) ?? ""
            switch match.sign {
            case "#": open.append((name, false, []))
            case "^": open.append((name, true, []))
            case "/":
                guard open.count > 1, let last = open.popLast(), last.name == name else {
                    throw Malformed(what: "{{/\(name)}} closes nothing")
                }
                open[open.count - 1].tags.append(.section(last.name, isInverted: last.isInverted, last.tags))
            case ">": open[open.count - 1].tags.append(.partial(name))
            default: open[open.count - 1].tags.append(.variable(name, isMarkup: false))
            }
        }
        guard open.count == 1 else { throw Malformed(what: "{{#\(open.last?.name ?? "")}} is not closed") }
        let known = text.matches(of: /\{\{/).count
        guard known == text.matches(of: /\{\{(\{[\w.]+\}|[#^\/>]?[\w.-]+)\}\}/).count else {
            throw Malformed(what: "a tag is none that is known here")
        }
        return open[0].tags
    }
}
