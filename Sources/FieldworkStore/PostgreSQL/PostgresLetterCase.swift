import FieldworkREST

/// `UPPER` and `LOWER` in PostgreSQL, as `LetterCase` has them, whatever the database's locale is: under `C` PostgreSQL itself changes
/// ASCII alone. Texts of ASCII are changed without a locale; others by ICU's, where the server has it, after the characters that
/// ICU would make several of; and by a table of all characters where it has not, which takes longer and gives the same.
enum PostgresLetterCase {
    /// Some of ICU's, of no language.
    private static let collation = "und-x-icu"

    static var statements: [String] {
        [
            ascii("lower"), ascii("upper"), beyondASCII("lower", lowerByICU, .lower),
            beyondASCII("upper", upperByICU, .upper),
        ]
    }

    private static let schema = PostgresFunctions.schema

    /// Not STRICT, so that PostgreSQL writes it into the statement that calls it; NULL gives NULL.
    private static func ascii(_ name: String) -> String {
        """
        CREATE OR REPLACE FUNCTION \(schema).fieldwork_\(name)(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN octet_length($1) = char_length($1) THEN \(name)($1 COLLATE "C")
                ELSE \(schema).fieldwork_\(name)_beyond_ascii($1) END
        $$
        """
    }

    private static func beyondASCII(_ name: String, _ byICU: String, _ letterCase: LetterCase) -> String {
        func function(_ body: String) -> String {
            """
            CREATE OR REPLACE FUNCTION \(schema).fieldwork_\(name)_beyond_ascii(text) RETURNS text LANGUAGE sql
            IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT (\(body)) COLLATE "C" $$
            """
        }
        return """
            DO $do$ BEGIN
                IF EXISTS (SELECT 1 FROM pg_catalog.pg_collation WHERE collname = '\(collation)') THEN
                    \(function(byICU));
                ELSE
                    \(function(byTable(name, letterCase)));
                END IF;
            END $do$
            """
    }

    /// Σ and İ are the letters whose small ones depend on what is beside them, or are several characters.
    private static let lowerByICU = "lower(translate($1, '\u{3A3}\u{130}', '\u{3C3}i') COLLATE \"\(collation)\")"

    /// ICU would make SS of ß, which is in every second address of a German town: it is a sign that no text has while the others
    /// change. Texts with other letters of that sort, or with that sign, are few.
    private static var upperByICU: String {
        var special = String.UnicodeScalarView()
        special.append(contentsOf: LetterCase.withoutOneCapital.filter { $0 != "\u{DF}" })
        return """
            CASE WHEN $1 ~ '[\(String(special))\\uFDD0]' THEN \(byTable("upper", .upper))
                ELSE replace(upper(replace($1, '\u{DF}', chr(64976)) COLLATE "\(collation)"), chr(64976), '\u{DF}') COLLATE "C" END
            """
    }

    private static func byTable(_ name: String, _ letterCase: LetterCase) -> String {
        let pairs = letterCase.mapping.sorted { $0.key.value < $1.key.value }
        var (from, to) = (String.UnicodeScalarView(), String.UnicodeScalarView())
        from.append(contentsOf: pairs.map(\.key))
        to.append(contentsOf: pairs.map(\.value))
        return "translate(\(name)($1 COLLATE \"C\"), '\(String(from))', '\(String(to))')"
    }
}
