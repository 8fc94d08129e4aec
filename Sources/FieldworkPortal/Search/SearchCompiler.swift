import FieldworkREST
import FieldworkStore

/// Turns a search into a condition on `{items} AS i`. What a person typed goes into arguments only.
struct SearchCompiler {
    /// How the items that have a word are found.
    enum Way {
        /// All of them are listed: for a word that leads to the few that are wanted.
        case listing
        /// Each item is looked up by itself: for words that only narrow down what another one has found, and where the first items
        /// in an order are wanted of very many.
        case probing
    }

    /// The id of the organisation.
    let organisation: String
    private let isProbing: Bool
    private(set) var arguments: [AttributeValue] = []

    init(organisation: String, probing isProbing: Bool = false) {
        self.organisation = organisation
        self.isProbing = isProbing
    }

    mutating func condition(_ query: SearchQuery) -> String { condition(query, isProbing ? .probing : .listing) }

    private mutating func condition(_ query: SearchQuery, _ way: Way) -> String {
        switch query {
        case .everything: return "1 = 1"
        case .unknownField: return "1 = 0"
        case .and(let parts):
            // Of several words the one leads that few items have, as far as the fields tell.
            var isLed = way == .probing
            let ordered = parts.enumerated().sorted {
                (Self.rank($0.element), $0.offset) < (Self.rank($1.element), $1.offset)
            }
            let conditions = ordered.map { part in
                defer { isLed = isLed || Self.rank(part.element) < Self.leadsNever }
                return condition(part.element, isLed ? .probing : .listing)
            }
            return "(" + conditions.joined(separator: " AND ") + ")"
        case .or(let parts): return "(" + parts.map { condition($0, way) }.joined(separator: " OR ") + ")"
        case .not(let part): return "NOT (" + condition(part, way) + ")"
        case .word(let field, let text, let isPrefix): return word(field, text, isPrefix, way)
        case .phrase(let field, let text): return phrase(field, text, way)
        case .range(let field, let lower, let upper): return range(field, lower, upper)
        }
    }

    private static let leadsNever = 7

    /// The lower, the fewer items a part is likely to find; one that finds by leaving out never leads.
    private static func rank(_ query: SearchQuery) -> Int {
        switch query {
        case .word(let field, _, let isPrefix):
            switch field {
            case .id, .owner, .group: return 0
            case .title, .tags, .snippet, .description, .name: return isPrefix ? 2 : 1
            case nil: return isPrefix ? 4 : 3
            case .type, .typeKeywords: return 5
            case .organisation, .access, .created, .modified, .views, .size: return leadsNever
            }
        case .phrase(let field, _): return [.type, .typeKeywords].contains(field) ? 5 : 1
        case .and(let parts): return parts.map(rank).min() ?? leadsNever
        case .or(let parts): return parts.map(rank).max() ?? leadsNever
        case .range, .not, .everything, .unknownField: return leadsNever
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

    private mutating func word(_ field: SearchField?, _ text: String, _ isPrefix: Bool, _ way: Way) -> String {
        switch field {
        case .id, .owner, .access, .group, .organisation, .created, .modified, .views, .size:
            return exact(field, text, isPrefix)
        case nil, .title, .type, .tags, .snippet, .description, .typeKeywords, .name: break
        }
        let words = Array(SearchTerms.words(text).prefix(Limits.wordsPerPhrase))
        guard let last = words.last else { return "1 = 1" }
        // `web-map` is two words that follow each other.
        guard words.count == 1 else { return isPrefix ? allOf(field, words, last, way) : phrase(field, text, way) }
        let found = term(field, last, isPrefix, way)
        guard field == nil, !isPrefix, text.count == 32 else { return found }
        return "(\(found) OR i.id = \(argument(.text(text.lowercased()))))"
    }

    private mutating func allOf(_ field: SearchField?, _ words: [String], _ last: String, _ way: Way) -> String {
        var parts = words.dropLast().map { term(field, $0, false, way) }
        parts.append(term(field, last, true, way))
        return "(" + parts.joined(separator: " AND ") + ")"
    }

    private mutating func term(_ field: SearchField?, _ term: String, _ isPrefix: Bool, _ way: Way) -> String {
        var condition = ""
        if let field { condition = "t.field = \(argument(.text(field.rawValue))) AND " }
        if isPrefix {
            // The words of a beginning stand one after the other in no order of items: they are listed in any case.
            condition += "t.term >= \(argument(.text(term))) AND t.term < \(argument(.text(term + "\u{10FFFF}")))"
            return "i.id IN (SELECT t.item FROM {terms} AS t WHERE \(condition))"
        }
        condition += "t.term = \(argument(.text(term)))"
        switch way {
        case .listing: return "i.id IN (SELECT t.item FROM {terms} AS t WHERE \(condition))"
        case .probing: return "EXISTS (SELECT 1 FROM {terms} AS t WHERE \(condition) AND t.item = i.id)"
        }
    }

    private mutating func phrase(_ field: SearchField?, _ text: String, _ way: Way) -> String {
        switch field {
        case .id, .owner, .access, .group, .organisation, .created, .modified, .views, .size:
            return exact(field, text, false)
        case nil, .title, .type, .tags, .snippet, .description, .typeKeywords, .name: break
        }
        let words = Array(SearchTerms.words(text).prefix(Limits.wordsPerPhrase))
        guard let first = words.first else { return "1 = 1" }
        let joined = words.joined(separator: " ")
        if field == .type || words.count == 1 { return term(field, joined, false, way) }
        // The index finds the items of the first word; their texts are looked through.
        let found = term(field, first, false, way)
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
