import FieldworkREST
import FieldworkStore

/// The words by which a search finds an item.
enum SearchTerms {
    /// The fields whose words are found, and by a word without a field all of them.
    static func texts(of item: Item) -> [(field: SearchField, text: String)] {
        [
            (.title, item.title), (.tags, item.fields.tags.joined(separator: " ; ")),
            (.snippet, item.fields.snippet ?? ""), (.description, item.fields.description ?? ""),
            (.typeKeywords, item.fields.typeKeywords.joined(separator: " ; ")), (.type, item.type),
            (.owner, item.owner), (.name, item.name),
        ]
    }

    /// The words of a text in lower case: stretches of letters and digits.
    static func words(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber) }.prefix(Limits.wordsPerText).map {
            String($0.prefix(Limits.wordLength))
        }
    }

    static func write(_ item: Item, _ records: Records) throws {
        try records.run("DELETE FROM {terms} WHERE item = ?", [.text(item.id)])
        try records.run("DELETE FROM {texts} WHERE item = ?", [.text(item.id)])
        for (field, text) in texts(of: item) {
            let words = words(text)
            guard !words.isEmpty else { continue }
            var terms = Set(words)
            // A type is found by its whole name.
            if field == .type { terms.insert(words.joined(separator: " ")) }
            for term in terms {
                try records.run(
                    "INSERT INTO {terms} (field, term, item) VALUES (?, ?, ?)",
                    [.text(field.rawValue), .text(term), .text(item.id)])
            }
            try records.run(
                "INSERT INTO {texts} (item, field, words) VALUES (?, ?, ?)",
                [.text(item.id), .text(field.rawValue), .text(" " + words.joined(separator: " ") + " ")])
        }
    }
}
