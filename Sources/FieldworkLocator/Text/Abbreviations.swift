/// The one spelling of words that addresses abbreviate. Both sides of a comparison go through it, so that a word of two meanings
/// (`St` is a street or a saint) needs no decision.
package enum Abbreviations {
    /// Words between the names of two streets that cross.
    static let connectors: Set<String> = ["and", "und", "et", "y"]

    /// The token in its one spelling.
    static func canonical(_ word: String) -> String {
        if let known = spellings[word] { return known }
        // Languages that write the type as the end of the name.
        for (ending, short) in endings where word.utf8.count > ending.utf8.count + 1 && word.hasSuffix(ending) {
            return String(word.dropLast(ending.count)) + short
        }
        return word
    }

    /// The one spelling that a misspelt word may stand for: `Streat`, `Lindenstrase`; nil when none is alike.
    static func corrected(_ word: String) -> String? {
        guard word.utf8.count >= 4, word.utf8.allSatisfy({ $0 < 0x80 && $0 > 0x39 }) else { return nil }
        if let known = longWords.first(where: { EditDistance.between(word, $0) == 1 }) { return spellings[known] }
        for (ending, short) in endings {
            for length in (ending.count - 1)...(ending.count + 1) where word.count > length + 1 {
                if EditDistance.areNear(String(word.suffix(length)), ending, limit: ending.count > 6 ? 2 : 1) {
                    return String(word.dropLast(length)) + short
                }
            }
        }
        return nil
    }

    /// Words that are long enough to be known with an error in them.
    private static let longWords = spellings.keys.filter { $0.utf8.count >= 4 && $0.utf8.allSatisfy { $0 < 0x80 } }
        .sorted()

    /// Words for the kind of a street, in their one spelling.
    static let streetTypes: Set<String> = Set(types.map { $0.0 })
    /// Directions, in their one spelling.
    static let directions: Set<String> = Set(directionWords.map { $0.0 })
    /// Words before the number of a flat or a floor.
    static let unitMarkers: Set<String> = Set(units.map { $0.0 })

    private static let endings = [("strasse", "str"), ("straat", "str"), ("platz", "pl"), ("plein", "pl")]

    private static let spellings: [String: String] = {
        var result: [String: String] = [:]
        for (short, words) in types + directionWords + units + others {
            for word in words.split(separator: " ") { result[String(word)] = short }
        }
        for (number, word) in ordinals.enumerated() { result[word] = ordinal(number + 1) }
        return result
    }()

    private static func ordinal(_ number: Int) -> String {
        let ending = (11...13).contains(number) ? "th" : [1: "st", 2: "nd", 3: "rd"][number % 10] ?? "th"
        return "\(number)\(ending)"
    }

    private static let ordinals = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
        "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
        "twentieth",
    ]

    // English, then the languages of Europe and of Latin America.
    private static let types: [(String, String)] = [
        ("st", "street saint sankt sint str."), ("ave", "avenue av aven avenida avda"),
        ("blvd", "boulevard boul bd bvd bulevar bulevardi"), ("rd", "road"), ("dr", "drive drv doctor"),
        ("ct", "court crt"), ("ln", "lane"), ("pl", "place platz plaza plza plein plac plads plass piazza praca pza"),
        ("ter", "terrace terr"), ("pkwy", "parkway parkwy pky"), ("hwy", "highway hiway"), ("sq", "square sqr"),
        ("cir", "circle circ crcl"), ("aly", "alley allee"), ("way", ""), ("expy", "expressway expwy"),
        ("fwy", "freeway frwy"), ("cres", "crescent cresc"), ("cl", "close"), ("gdns", "gardens gdn"),
        ("gr", "grove grv"),
        ("hts", "heights"), ("loop", ""), ("mews", ""), ("path", ""), ("plz", ""), ("row", ""), ("run", ""),
        ("sta", "station"),
        ("trl", "trail tr"), ("tpke", "turnpike tpk"), ("walk", ""), ("xing", "crossing"), ("brg", "bridge"),
        ("cswy", "causeway"),
        ("str", "strasse straat"), ("weg", ""), ("gasse", ""), ("rue", ""), ("chemin", "che ch"), ("quai", ""),
        ("impasse", "imp"), ("route", "rte"), ("calle", "cl."), ("via", ""), ("viale", "vle"), ("corso", "cso"),
        ("rua", ""), ("travessa", "tv"), ("ul", "ulica ulitsa ulice улица"), ("al", "aleja aleje"), ("os", "osiedle"),
        ("per", "pereulok переулок"), ("pr", "prospekt проспект"), ("katu", ""), ("tie", ""), ("gatan", "gata"),
        ("vej", "vei vagen"),
    ]

    private static let directionWords: [(String, String)] = [
        ("n", "north nord norte"), ("s", "south sud sur"), ("e", "east ost"), ("w", "west ouest oeste"),
        ("ne", "northeast"), ("nw", "northwest"), ("se", "southeast"), ("sw", "southwest"),
    ]

    private static let units: [(String, String)] = [
        ("apt", "apartment appartement"), ("unit", ""), ("ste", "suite sainte"), ("fl", "floor etage"), ("rm", "room"),
        ("bldg", "building"), ("no", "number nr"), ("krs", ""),
    ]

    private static let others: [(String, String)] = [
        ("mt", "mount"), ("ft", "fort"), ("jr", "junior"), ("sr", "senior"), ("co", "county"), ("univ", "university"),
        ("intl", "international"), ("hosp", "hospital"), ("ctr", "center centre"), ("pt", "point"), ("is", "island"),
    ]
}
