extension ItemRights {
    /// What may be done with an item, in words: for the command line and the portal's pages.
    package func words(for item: Item) -> [String] {
        let isFeatures = item.type == ServiceItemKind.feature.rawValue
        var words: [String] = []
        if reads { words.append("sees") }
        if edits, isFeatures { words.append("edits features") }
        if updates { words.append("changes the item") }
        if shares { words.append("shares") }
        if deletes, item.service == nil { words.append("deletes") }
        if administers, isFeatures { words.append("administers") }
        return words
    }
}
