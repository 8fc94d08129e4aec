/// The words by which a search finds an item.
enum SearchTerms {
    /// The fields whose words are found, and by a word without a field all of them. An item's places are in this order.
    static let fields: [SearchField] = [.title, .tags, .snippet, .description, .typeKeywords, .type, .owner, .name]

    static func text(of field: SearchField, _ item: Item) -> String {
        switch field {
        case .title: item.title
        case .tags: item.fields.tags.joined(separator: " ; ")
        case .snippet: item.fields.snippet ?? ""
        case .description: item.fields.description ?? ""
        case .typeKeywords: item.fields.typeKeywords.joined(separator: " ; ")
        case .type: item.type
        case .owner: item.owner
        case .name: item.name
        case .id, .access, .group, .created, .modified, .size, .organisation, .views: ""
        }
    }

    /// The words of a text in lower case: stretches of letters and digits.
    static func words(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber) }.prefix(Limits.wordsPerText).map {
            String($0.prefix(Limits.wordLength))
        }
    }
}
