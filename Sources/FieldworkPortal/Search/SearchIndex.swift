/// What searches need of all items, in memory: which words are at which place of which item, and what items are sorted by.
///
/// An item has a slot, a number that is never used again: one that changes gets a new slot, so that each list of places grows at its
/// end alone and stays in order. Slots that are dead are left out of every result, and are cleared away when they are many.
struct SearchIndex: Sendable {
    /// What an item is sorted and told apart by.
    struct Entry: Sendable {
        var id: String
        /// The key of the owner's name.
        var owner: String
        var type: String
        var sortTitle: String
        var created: Int64
        var modified: Int64
        var views: Int64
        var size: Int64
        var sharing: Sharing
    }

    private(set) var entries: [Entry] = []
    private(set) var slots: [String: UInt32] = [:]
    private(set) var live = SlotSet(places: 0)
    private(set) var everyone = SlotSet(places: 0)
    private(set) var organisation = SlotSet(places: 0)
    private var owners: [String: [UInt32]] = [:]
    private var groups: [String: [UInt32]] = [:]
    private var terms: [String: [TermPlace]] = [:]
    /// For words that are given by their beginning.
    private var sortedTerms: [String] = []
    private var areTermsSorted = true

    var count: Int { slots.count }

    // MARK: Items

    mutating func remove(_ id: String) {
        guard let slot = slots.removeValue(forKey: id) else { return }
        live.remove(slot)
        let dead = entries.count - slots.count
        if dead > max(Limits.deadSlots, slots.count) { compact() }
    }

    /// Takes an item in, in place of what was known of it.
    mutating func add(_ item: Item) {
        remove(item.id)
        let slot = UInt32(entries.count)
        entries.append(
            Entry(
                id: item.id, owner: Person.key(item.owner), type: item.type, sortTitle: item.title.lowercased(),
                created: item.created, modified: item.modified, views: item.views, size: item.size,
                sharing: item.sharing))
        slots[item.id] = slot
        live.insert(slot)
        note(entries[Int(slot)], at: slot)
        for (number, field) in SearchTerms.fields.enumerated() {
            let words = SearchTerms.words(SearchTerms.text(of: field, item))
            for (position, word) in words.enumerated() { add(word, TermPlace(slot, number, position)) }
            // A type is found by its whole name.
            if field == .type, words.count > 1 { add(words.joined(separator: " "), TermPlace(slot, number, 0)) }
        }
    }

    private mutating func note(_ entry: Entry, at slot: UInt32) {
        if entry.sharing.everyone { everyone.insert(slot) }
        if entry.sharing.organisation { organisation.insert(slot) }
        owners[entry.owner, default: []].append(slot)
        for group in entry.sharing.groups { groups[group, default: []].append(slot) }
    }

    private mutating func add(_ term: String, _ place: TermPlace) {
        if terms[term]?.append(place) == nil {
            terms[term] = [place]
            areTermsSorted = false
        }
    }

    /// Numbers the items that are there anew.
    private mutating func compact() {
        var numbers = [UInt32?](repeating: nil, count: entries.count)
        var kept: [Entry] = []
        for slot in live.slots {
            numbers[Int(slot)] = UInt32(kept.count)
            kept.append(entries[Int(slot)])
        }
        terms = terms.compactMapValues { places in
            let moved = places.compactMap { place in numbers[Int(place.slot)].map { place.moved(to: $0) } }
            return moved.isEmpty ? nil : moved
        }
        entries = kept
        areTermsSorted = false
        (live, everyone, organisation) = (SlotSet(places: kept.count), SlotSet(places: 0), SlotSet(places: 0))
        (owners, groups, slots) = ([:], [:], [:])
        for (slot, entry) in kept.enumerated() {
            slots[entry.id] = UInt32(slot)
            live.insert(UInt32(slot))
            note(entry, at: UInt32(slot))
        }
    }

    // MARK: Finding

    var nothing: SlotSet { SlotSet(places: entries.count) }

    func all(where isWanted: (Entry) -> Bool) -> SlotSet {
        var found = nothing
        for slot in live.slots where isWanted(entries[Int(slot)]) { found.insert(slot) }
        return found
    }

    func owned(by owner: String) -> SlotSet { set(owners[owner]) }

    func shared(with group: String) -> SlotSet { set(groups[group]) }

    private func set(_ slots: [UInt32]?) -> SlotSet {
        var found = nothing
        for slot in slots ?? [] { found.insert(slot) }
        return found
    }

    /// Items that have a word; nil for any field.
    func having(_ term: String, in field: SearchField?) -> SlotSet {
        var found = nothing
        collect(term, Self.number(field), &found)
        return found
    }

    /// Items that have a word that begins so.
    mutating func having(beginning: String, in field: SearchField?) -> SlotSet {
        if !areTermsSorted {
            sortedTerms = terms.keys.sorted(by: Self.precedes)
            areTermsSorted = true
        }
        var found = nothing
        var (low, high) = (0, sortedTerms.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(sortedTerms[middle], beginning) { low = middle + 1 } else { high = middle }
        }
        let number = Self.number(field)
        while low < sortedTerms.count, sortedTerms[low].utf8.starts(with: beginning.utf8) {
            collect(sortedTerms[low], number, &found)
            low += 1
        }
        return found
    }

    /// Items in whose fields words follow each other; nil for any one field.
    func having(phrase words: [String], in field: SearchField?) -> SlotSet {
        var found = nothing
        var lists: [[TermPlace]] = []
        for word in words {
            guard let places = terms[word] else { return found }
            lists.append(places)
        }
        // The rarest word leads.
        guard let lead = lists.indices.min(by: { lists[$0].count < lists[$1].count }) else { return found }
        let number = Self.number(field)
        for place in lists[lead] where number == nil || place.field == number {
            let follow = lists.indices.allSatisfy { other in
                place.shifted(by: other - lead).map { Self.contains(lists[other], $0) } ?? false
            }
            if follow { found.insert(place.slot) }
        }
        return found
    }

    private func collect(_ term: String, _ field: Int?, _ found: inout SlotSet) {
        for place in terms[term] ?? [] where field == nil || place.field == field { found.insert(place.slot) }
    }

    private static func number(_ field: SearchField?) -> Int? { field.flatMap(SearchTerms.fields.firstIndex) }

    private static func contains(_ places: [TermPlace], _ place: TermPlace) -> Bool {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].packed < place.packed { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].packed == place.packed
    }

    /// By bytes, so that words that begin alike stand together.
    private static func precedes(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
    }
}

/// Where a word is: in which item, in which of its fields, as which word of the text. Places are in that order.
struct TermPlace: Sendable, Hashable {
    let packed: UInt64

    private init(packed: UInt64) { self.packed = packed }

    init(_ slot: UInt32, _ field: Int, _ position: Int) {
        packed = UInt64(slot) << 32 | UInt64(field & 0xFF) << 24 | UInt64(position & 0xFF_FFFF)
    }

    var slot: UInt32 { UInt32(packed >> 32) }
    var field: Int { Int(packed >> 24 & 0xFF) }

    func moved(to slot: UInt32) -> TermPlace { TermPlace(packed: UInt64(slot) << 32 | packed & 0xFFFF_FFFF) }

    /// The place so many words on in the same text; nil before its beginning.
    func shifted(by words: Int) -> TermPlace? {
        let position = Int(packed & 0xFF_FFFF) + words
        guard (0...0xFF_FFFF).contains(position) else { return nil }
        return TermPlace(packed: packed & ~0xFF_FFFF | UInt64(position))
    }
}
