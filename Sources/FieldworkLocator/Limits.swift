/// The bounds of locators. Each is tested on both sides.
package enum Limits {
    /// Characters of a text that is searched for.
    package static let textCharacters = 400
    /// Words and numbers of a text that is searched for.
    package static let tokensPerText = 40
    /// Documents of the index that one step of a search looks at.
    static let documentsPerStep = 400
    /// Roads of one search in which a house number is looked for.
    static let roadsPerNumber = 40
    /// Words that a misspelt one may stand for.
    static let spellingsPerWord = 20
    /// Candidates of one answer.
    package static let candidates = 100
    /// Suggestions of one answer.
    package static let suggestions = 50
    /// Connections of an open locator, each of which answers one question at a time.
    static let readers = 4
    /// Streets with a name and a place that one locator has.
    package static let roads = 4_000_000
    /// Records of addresses, streets and places after which a making keeps what it has taken.
    package static let recordsPerCheckpoint = 100_000
    /// Metres around the area that a part of a locator is cut for.
    static let cutMarginMetres = 1_000.0
}
