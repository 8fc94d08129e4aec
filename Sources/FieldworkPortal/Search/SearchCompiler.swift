import FieldworkREST
import FieldworkStore

/// Turns a search into a condition on `{items} AS i`. What a person typed goes into arguments only.
struct SearchCompiler {
    /// The id of the organisation.
    let organisation: String
    private(set) var arguments: [AttributeValue] = []

    init(organisation: String) { self.organisation = organisation }

    mutating func condition(_ query: SearchQuery) -> String {
        switch query {
        case .everything: return "1 = 1"
        case .unknownField: return "1 = 0"
        case .and(let parts): return "(" + parts.map { condition($0) }.joined(separator: " AND ") + ")"
        case .or(let parts): return "(" + parts.map { condition($0) }.joined(separator: " OR ") + ")"
        case .not(let part): return "NOT (" + condition(part) + ")"
        case .word(let field, let text, let isPrefix): return word(field, text, isPrefix)
        case .phrase(let field, let text): return phrase(field, text)
        case .range(let field, let lower, let upper): return range(field, lower, upper)
        }
    }

    /// Only what the caller may read: the same rules as `ItemRights` has, for the database.
    mutating func readable(by principal: Principal) -> String {
        if principal.kind == .everybody || principal.has(.viewItems) { return "1 = 1" }
        guard principal.isSignedIn else { return "i.everyone = 1" }
        guard let name = principal.name else { return "(i.everyone = 1 OR i.organisation = 1)" }
        let key = AttributeValue.text(Person.key(name))
        arguments += [key, key, key]
        return """
            (i.everyone = 1 OR i.organisation = 1 OR i.owner = ? OR i.id IN (
                SELECT s.item FROM {item_groups} AS s WHERE s.group_id IN (
                    SELECT group_id FROM {members} WHERE person = ? UNION SELECT id FROM {groups} WHERE owner = ?)))
            """
    }

    private mutating func argument(_ value: AttributeValue) -> String {
        arguments.append(value)
        return "?"
    }

    private mutating func word(_ field: SearchField?, _ text: String, _ isPrefix: Bool) -> String {
        switch field {
        case .id, .owner, .access, .group, .organisation, .created, .modified, .views, .size:
            return exact(field, text, isPrefix)
        case nil, .title, .type, .tags, .snippet, .description, .typeKeywords, .name: break
        }
        let words = Array(SearchTerms.words(text).prefix(Limits.wordsPerPhrase))
        guard let last = words.last else { return "1 = 1" }
        // `web-map` is two words that follow each other.
        guard words.count == 1 else { return isPrefix ? allOf(field, words, last) : phrase(field, text) }
        let found = term(field, last, isPrefix)
        guard field == nil, !isPrefix, text.count == 32 else { return found }
        return "(\(found) OR i.id = \(argument(.text(text.lowercased()))))"
    }

    private mutating func allOf(_ field: SearchField?, _ words: [String], _ last: String) -> String {
        var parts = words.dropLast().map { term(field, $0, false) }
        parts.append(term(field, last, true))
        return "(" + parts.joined(separator: " AND ") + ")"
    }

    private mutating func term(_ field: SearchField?, _ term: String, _ isPrefix: Bool) -> String {
        var condition = ""
        if let field { condition = "field = \(argument(.text(field.rawValue))) AND " }
        if isPrefix {
            condition += "term >= \(argument(.text(term))) AND term < \(argument(.text(term + "\u{10FFFF}")))"
        } else {
            condition += "term = \(argument(.text(term)))"
        }
        return "i.id IN (SELECT item FROM {terms} WHERE \(condition))"
    }

    private mutating func phrase(_ field: SearchField?, _ text: String) -> String {
        switch field {
        case .id, .owner, .access, .group, .organisation, .created, .modified, .views, .size:
            return exact(field, text, false)
        case nil, .title, .type, .tags, .snippet, .description, .typeKeywords, .name: break
        }
        let words = Array(SearchTerms.words(text).prefix(Limits.wordsPerPhrase))
        guard let first = words.first else { return "1 = 1" }
        let joined = words.joined(separator: " ")
        if field == .type || words.count == 1 { return term(field, joined, false) }
        // The index finds the items of the first word; their texts are looked through.
        let found = term(field, first, false)
        var condition = "x.item = i.id AND x.words LIKE \(argument(.text("% \(joined) %")))"
        if let field { condition += " AND x.field = \(argument(.text(field.rawValue)))" }
        return "(\(found) AND EXISTS (SELECT 1 FROM {texts} AS x WHERE \(condition)))"
    }

    private mutating func exact(_ field: SearchField?, _ text: String, _ isPrefix: Bool) -> String {
        let lower = text.lowercased()
        switch field {
        case .id: return "i.id = \(argument(.text(lower)))"
        case .owner where isPrefix:
            let start = argument(.text(lower))
            return "(i.owner >= \(start) AND i.owner < \(argument(.text(lower + "\u{10FFFF}"))))"
        case .owner: return "i.owner = \(argument(.text(lower)))"
        case .group: return "i.id IN (SELECT item FROM {item_groups} WHERE group_id = \(argument(.text(lower))))"
        case .organisation: return lower == organisation.lowercased() ? "1 = 1" : "1 = 0"
        case .access: return Self.access(lower)
        case .created, .modified, .views, .size:
            return range(field ?? .created, text, text)
        default: return "1 = 0"
        }
    }

    private static func access(_ word: String) -> String {
        let isShared = "i.id IN (SELECT item FROM {item_groups})"
        switch word {
        case "public": return "i.everyone = 1"
        case "org": return "(i.everyone = 0 AND i.organisation = 1)"
        case "shared": return "(i.everyone = 0 AND i.organisation = 0 AND \(isShared))"
        case "private": return "(i.everyone = 0 AND i.organisation = 0 AND NOT \(isShared))"
        default: return "1 = 0"
        }
    }

    private mutating func range(_ field: SearchField, _ lower: String?, _ upper: String?) -> String {
        let column: String
        switch field {
        case .created: column = "i.created"
        case .modified: column = "i.modified"
        case .views: column = "i.views"
        case .size: column = "i.size"
        case .title: column = "i.sort_title"
        case .owner: column = "i.owner"
        case .id: column = "i.id"
        default: return "1 = 0"
        }
        let isText = [.title, .owner, .id].contains(field)
        var parts: [String] = []
        for (bound, sign) in [(lower, ">="), (upper, "<=")] {
            guard let bound else { continue }
            if isText {
                parts.append("\(column) \(sign) \(argument(.text(bound.lowercased())))")
            } else {
                // Clients write dates with leading zeros.
                guard let number = Int64(bound) else { return "1 = 0" }
                parts.append("\(column) \(sign) \(argument(.integer(number)))")
            }
        }
        return parts.isEmpty ? "1 = 1" : "(" + parts.joined(separator: " AND ") + ")"
    }
}
