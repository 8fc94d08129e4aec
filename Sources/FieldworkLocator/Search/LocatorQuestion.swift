/// What a search asks for besides its text.
package struct LocatorOptions: Sendable, Hashable {
    package var maximumCount = 20
    package var minimumScore = 10.0
    /// A box in degrees in which answers must lie.
    package var extent: Extent?
    /// Answers near it go before others of the same score.
    package var location: Location?
    /// The kinds of answers; nil for all.
    package var kinds: Set<LocatorResult.Kind>?
    /// A country that answers must be in, where the data says it.
    package var country = ""
    /// Whether a number outside of the street's numbers gives its nearest end.
    package var matchesOutOfRange = true
    /// Names an answer that a suggestion stood for.
    package var magicKey = ""
    /// Whether the place on the street from which a house is reached is looked for as well.
    package var findsRoutePlaces = false

    package struct Location: Sendable, Hashable {
        package var x: Double
        package var y: Double

        package init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    package struct Extent: Sendable, Hashable {
        package var xMin: Double
        package var yMin: Double
        package var xMax: Double
        package var yMax: Double

        package init(xMin: Double, yMin: Double, xMax: Double, yMax: Double) {
            self.xMin = xMin
            self.yMin = yMin
            self.xMax = xMax
            self.yMax = yMax
        }

        func contains(_ x: Double, _ y: Double) -> Bool { x >= xMin && x <= xMax && y >= yMin && y <= yMax }
    }

    package init() {}

    /// The kinds that a category of the protocol names; nil for a category that this locator has none of.
    package static func kinds(ofCategory category: String) -> Set<LocatorResult.Kind>? {
        switch category.lowercased().filter({ $0 != " " }) {
        case "address":
            [.subaddress, .pointAddress, .streetAddress, .streetAddressExtended, .intersection, .streetName]
        case "subaddress": [.subaddress]
        case "pointaddress": [.pointAddress, .subaddress]
        case "streetaddress": [.streetAddress, .streetAddressExtended]
        case "intersection", "streetint": [.intersection]
        case "streetname": [.streetName]
        case "poi": [.pointOfInterest]
        case "populatedplace", "locality", "city": [.locality]
        case "postal", "primarypostal": [.postal]
        case "coordinates", "coordinatesystem", "latlong": [.coordinates]
        default: nil
        }
    }
}

/// The beginning of an answer, while its text is being typed.
package struct LocatorSuggestion: Sendable, Hashable {
    package var text: String
    package var magicKey: String
}

/// A text taken apart for a search.
struct SearchText {
    var tokens: [TextToken]
    var connectors: [Int]
    var endsInWord: Bool

    init(_ text: String) throws {
        guard text.unicodeScalars.count <= Limits.textCharacters else {
            throw LocatorError(
                .invalidRequest, "The text to search for has more than \(Limits.textCharacters) characters. Shorten it."
            )
        }
        let parts = TokenizedText(text)
        guard parts.tokens.count <= Limits.tokensPerText else {
            throw LocatorError(
                .invalidRequest, "The text to search for has more than \(Limits.tokensPerText) words. Shorten it.")
        }
        tokens = parts.tokens
        connectors = parts.connectors
        endsInWord = parts.endsInWord
    }

    init(tokens: [TextToken], endsInWord: Bool) {
        self.tokens = tokens
        self.endsInWord = endsInWord
        connectors = []
    }

    /// The text with words for kinds of streets and directions in place of words that are like them and that the locator does not
    /// have; nil when there are none.
    func withKnownWords(_ data: LocatorData) throws -> (text: SearchText, errors: Int)? {
        var changed = self
        var errors = 0
        for index in tokens.indices {
            guard let word = Abbreviations.corrected(tokens[index].text),
                try data.documents(with: tokens[index].text) == 0
            else { continue }
            changed.tokens[index].text = word
            errors += 1
        }
        return errors > 0 ? (changed, errors) : nil
    }

    /// The words that a document must have: all but numbers and what names a flat.
    var required: [Int] {
        var result: [Int] = []
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            if Abbreviations.unitMarkers.contains(token.text), index > 0, index + 1 < tokens.count,
                tokens[index + 1].startsWithDigit || tokens[index + 1].text.utf8.count == 1
            {
                index += 2
                continue
            }
            let isSuffix = index > 0 && tokens[index - 1].startsWithDigit && HouseNumber.isSuffix(token.text)
            if !token.startsWithDigit || token.isOrdinal, !isSuffix { result.append(index) }
            index += 1
        }
        return result
    }
}
