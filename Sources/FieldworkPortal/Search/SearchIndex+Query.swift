extension SearchIndex {
    /// The items that a search finds, whoever may read them.
    /// - Parameter organisation: the id of the organisation.
    mutating func found(_ query: SearchQuery, organisation: String) -> SlotSet {
        var found = matches(query, organisation)
        found.formIntersection(live)
        return found
    }

    private mutating func matches(_ query: SearchQuery, _ organisation: String) -> SlotSet {
        switch query {
        case .everything: return live
        case .unknownField: return nothing
        case .and(let parts):
            var found = live
            for part in parts { found.formIntersection(matches(part, organisation)) }
            return found
        case .or(let parts):
            var found = nothing
            for part in parts { found.formUnion(matches(part, organisation)) }
            return found
        case .not(let part):
            var found = live
            found.subtract(matches(part, organisation))
            return found
        case .word(let field, let text, let isPrefix): return word(field, text, isPrefix, organisation)
        case .phrase(let field, let text): return phrase(field, text, organisation)
        case .range(let field, let lower, let upper): return range(field, lower, upper)
        }
    }

    private mutating func word(
        _ field: SearchField?, _ text: String, _ isPrefix: Bool, _ organisation: String
    ) -> SlotSet {
        if let field, !SearchTerms.fields.contains(field) || field == .owner {
            return exact(field, text, isPrefix, organisation)
        }
        let words = Array(SearchTerms.words(text).prefix(Limits.wordsPerPhrase))
        guard let last = words.last else { return live }
        if isPrefix {
            var found = having(beginning: last, in: field)
            for word in words.dropLast() { found.formIntersection(having(word, in: field)) }
            return found
        }
        // `web-map` is two words that follow each other.
        guard words.count == 1 else { return phrase(field, text, organisation) }
        var found = having(last, in: field)
        if field == nil, text.count == 32, let slot = slots[text.lowercased()] { found.insert(slot) }
        return found
    }

    private mutating func phrase(_ field: SearchField?, _ text: String, _ organisation: String) -> SlotSet {
        if let field, !SearchTerms.fields.contains(field) || field == .owner {
            return exact(field, text, false, organisation)
        }
        let words = Array(SearchTerms.words(text).prefix(Limits.wordsPerPhrase))
        guard !words.isEmpty else { return live }
        if field == .type || words.count == 1 { return having(words.joined(separator: " "), in: field) }
        return having(phrase: words, in: field)
    }

    private func exact(_ field: SearchField, _ text: String, _ isPrefix: Bool, _ organisation: String) -> SlotSet {
        let lower = text.lowercased()
        switch field {
        case .id:
            var found = nothing
            if let slot = slots[lower] { found.insert(slot) }
            return found
        case .owner where isPrefix: return all { $0.owner.utf8.starts(with: lower.utf8) }
        case .owner: return owned(by: lower)
        case .group: return shared(with: lower)
        case .organisation: return lower == organisation.lowercased() ? live : nothing
        case .access: return access(lower)
        case .created, .modified, .views, .size: return range(field, text, text)
        case .title, .type, .tags, .snippet, .description, .typeKeywords, .name: return nothing
        }
    }

    private func access(_ word: String) -> SlotSet {
        guard ["public", "org", "shared", "private"].contains(word) else { return nothing }
        return all { $0.sharing.access == word }
    }

    private func range(_ field: SearchField, _ lower: String?, _ upper: String?) -> SlotSet {
        switch field {
        case .created: numbers(\.created, lower, upper)
        case .modified: numbers(\.modified, lower, upper)
        case .views: numbers(\.views, lower, upper)
        case .size: numbers(\.size, lower, upper)
        case .title: texts(\.sortTitle, lower, upper)
        case .owner: texts(\.owner, lower, upper)
        case .id: texts(\.id, lower, upper)
        case .type, .tags, .snippet, .description, .access, .group, .name, .typeKeywords, .organisation: nothing
        }
    }

    private func numbers(_ value: KeyPath<Entry, Int64>, _ lower: String?, _ upper: String?) -> SlotSet {
        // Clients write dates with leading zeros.
        guard let least = lower.map({ Int64($0) }) ?? Int64.min, let most = upper.map({ Int64($0) }) ?? Int64.max else {
            return nothing
        }
        return all { least <= $0[keyPath: value] && $0[keyPath: value] <= most }
    }

    private func texts(_ value: KeyPath<Entry, String>, _ lower: String?, _ upper: String?) -> SlotSet {
        let (least, most) = (lower?.lowercased(), upper?.lowercased())
        return all { entry in
            let text = entry[keyPath: value].utf8
            if let least, text.lexicographicallyPrecedes(least.utf8) { return false }
            if let most, most.utf8.lexicographicallyPrecedes(text) { return false }
            return true
        }
    }

    // MARK: Rights

    /// Only what the caller may read: the same rules as `ItemRights` has.
    /// - Parameter groups: those that a person belongs to or owns.
    func readable(by principal: Principal, groups: [String]) -> SlotSet {
        if principal.kind == .everybody || principal.has(.viewItems) { return live }
        var found = everyone
        guard principal.isSignedIn else { return found }
        found.formUnion(organisation)
        guard let name = principal.name else { return found }
        found.formUnion(owned(by: Person.key(name)))
        for group in groups { found.formUnion(shared(with: group)) }
        return found
    }

    // MARK: Order

    /// A page of what was found, in an order; items that are alike in it are ordered by their ids.
    func page(
        of found: SlotSet, from start: Int, count: Int, by order: SearchOrder, isDescending: Bool
    ) -> [String] {
        let slots = found.slots
        guard count > 0, start < slots.count else { return [] }
        func precedes(_ one: UInt32, _ other: UInt32) -> Bool {
            let (first, second) = isDescending ? (other, one) : (one, other)
            return isBefore(entries[Int(first)], entries[Int(second)], order)
        }
        let end = min(slots.count, start + count)
        let first: [UInt32]
        if end <= Limits.pickedResults {
            first = Self.least(end, of: slots, by: precedes)
        } else {
            first = slots.sorted(by: precedes)
        }
        return first[start..<end].map { entries[Int($0)].id }
    }

    private func isBefore(_ one: Entry, _ other: Entry, _ order: SearchOrder) -> Bool {
        switch order {
        case .created where one.created != other.created: return one.created < other.created
        case .modified where one.modified != other.modified: return one.modified < other.modified
        case .views where one.views != other.views: return one.views < other.views
        case .size where one.size != other.size: return one.size < other.size
        case .title where one.sortTitle != other.sortTitle:
            return one.sortTitle.utf8.lexicographicallyPrecedes(other.sortTitle.utf8)
        case .owner where one.owner != other.owner: return one.owner.utf8.lexicographicallyPrecedes(other.owner.utf8)
        case .type where one.type != other.type: return one.type.utf8.lexicographicallyPrecedes(other.type.utf8)
        default: return one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
        }
    }

    /// The first in the order, sorted. Most of many slots are compared with the last of them alone.
    private static func least(
        _ count: Int, of slots: [UInt32], by precedes: (UInt32, UInt32) -> Bool
    ) -> [UInt32] {
        var picked: [UInt32] = []
        picked.reserveCapacity(count + 1)
        for slot in slots {
            if picked.count == count {
                guard let last = picked.last, precedes(slot, last) else { continue }
                picked.removeLast()
            }
            var (low, high) = (0, picked.count)
            while low < high {
                let middle = (low + high) / 2
                if precedes(picked[middle], slot) { low = middle + 1 } else { high = middle }
            }
            picked.insert(slot, at: low)
        }
        return picked
    }
}
