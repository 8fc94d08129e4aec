/// The functions that compiled queries call, in PostgreSQL's SQL: each means what the function of the same name means in SQLite,
/// whose meaning is `SQLEvaluator`'s. They lie in a schema of their own, one for all services of a database.
///
/// Whole numbers are `bigint` throughout and real ones `double precision`, so that each function is chosen by its arguments alone.
enum PostgresFunctions {
    static let schema = "fieldwork"

    /// Makes them, or makes them anew; the schema is the current one.
    static var statements: [String] { texts + PostgresLetterCase.statements + numbers + numeric + dates + aggregates }

    private static func function(
        _ head: String, _ result: String, _ body: String, _ kind: String = "IMMUTABLE STRICT"
    ) -> String {
        """
        CREATE OR REPLACE FUNCTION \(schema).\(head) RETURNS \(result) LANGUAGE sql \(kind) PARALLEL SAFE AS $$ \(body) $$
        """
    }

    // MARK: Texts

    private static let texts = [
        function("fieldwork_text(text)", "text", "SELECT $1"),
        function("fieldwork_text(bigint)", "text", "SELECT $1::text COLLATE \"C\""),
        // As a real number is written in an answer: with a fraction, though it be 0.
        function(
            "fieldwork_text(double precision)", "text",
            """
            SELECT (CASE WHEN $1 = trunc($1) AND abs($1) < 1e15 THEN trim(to_char($1, '99999999999999990.0'))
                ELSE $1::text END) COLLATE "C"
            """),
        function("fieldwork_text(boolean)", "text", "SELECT CASE WHEN $1 THEN '1' ELSE '0' END"),
        function(
            "fieldwork_text(timestamptz)", "text", "SELECT \(schema).fieldwork_date_text(\(schema).fieldwork_ms($1))"),
        function("fieldwork_char_length(text)", "bigint", "SELECT char_length($1)::bigint"),
        function("fieldwork_trim(text)", "text", "SELECT btrim($1, ' ')"),
        function("fieldwork_trim(text, text)", "text", "SELECT btrim($1, $2)"),
        function("fieldwork_ltrim(text)", "text", "SELECT ltrim($1, ' ')"),
        function("fieldwork_ltrim(text, text)", "text", "SELECT ltrim($1, $2)"),
        function("fieldwork_rtrim(text)", "text", "SELECT rtrim($1, ' ')"),
        function("fieldwork_rtrim(text, text)", "text", "SELECT rtrim($1, $2)"),
        function("fieldwork_position(text, text)", "bigint", "SELECT strpos($2, $1)::bigint"),
        function(
            "fieldwork_substring(text, double precision)", "text",
            "SELECT substr($1, greatest(1, least(trunc($2), 1e9))::int)"),
        function(
            "fieldwork_substring(text, double precision, double precision)", "text",
            """
            SELECT substr($1, greatest(1, least(trunc($2), 1e9))::int, greatest(0, least(trunc($3), 1e9))::int)
            """),
    ]

    // MARK: Numbers

    /// The number at the beginning of a text, as SQLite reads it.
    private static let leading = """
        coalesce(substring($1 FROM '^\\s*([+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?)')::double precision, 0)
        """

    private static let numbers = [
        function("fieldwork_number(bigint)", "bigint", "SELECT $1"),
        function("fieldwork_number(double precision)", "double precision", "SELECT $1"),
        function("fieldwork_number(boolean)", "bigint", "SELECT CASE WHEN $1 THEN 1::bigint ELSE 0 END"),
        function("fieldwork_number(text)", "double precision", "SELECT \(leading)"),
        // A text that is a number in full; one that is not comes after all numbers.
        function(
            "fieldwork_whole_number(text)", "double precision",
            """
            SELECT CASE WHEN $1 ~ '^\\s*[+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?\\s*$'
                THEN $1::double precision ELSE 'NaN' END
            """),
        function("fieldwork_cast_integer(bigint)", "bigint", "SELECT $1"),
        function(
            "fieldwork_cast_integer(double precision)", "bigint",
            """
            SELECT CASE WHEN $1 = 'NaN' THEN 0 WHEN $1 >= 9223372036854775807 THEN 9223372036854774784
                WHEN $1 <= -9223372036854775808 THEN -9223372036854775808 ELSE trunc($1)::bigint END
            """),
        function("fieldwork_cast_integer(text)", "bigint", "SELECT \(schema).fieldwork_cast_integer(\(leading))"),
        function("fieldwork_cast_integer(boolean)", "bigint", "SELECT \(schema).fieldwork_number($1)"),
    ]

    private static func real(_ name: String, _ body: String) -> String {
        function("fieldwork_\(name)(double precision)", "double precision", "SELECT \(body)")
    }

    private static let numeric = [
        function("fieldwork_abs(bigint)", "bigint", "SELECT abs($1)"), real("abs", "abs($1)"),
        function("fieldwork_ceiling(bigint)", "bigint", "SELECT $1"), real("ceiling", "ceil($1)"),
        function("fieldwork_floor(bigint)", "bigint", "SELECT $1"), real("floor", "floor($1)"),
        function("fieldwork_sign(bigint)", "bigint", "SELECT sign($1)::bigint"),
        function("fieldwork_sign(double precision)", "bigint", "SELECT sign($1)::bigint"),
        function(
            "fieldwork_mod(bigint, bigint)", "bigint",
            "SELECT CASE $2 WHEN 0 THEN NULL WHEN -1 THEN 0 ELSE $1 % $2 END"),
        function(
            "fieldwork_mod(double precision, double precision)", "double precision",
            "SELECT CASE WHEN $2 = 0 THEN NULL ELSE ($1::numeric % $2::numeric)::double precision END"),
        real("power", "$1"),
        function(
            "fieldwork_power(double precision, double precision)", "double precision",
            "SELECT CASE WHEN $1 < 0 AND $2 <> trunc($2) THEN NULL WHEN $1 = 0 AND $2 < 0 THEN 'Infinity' ELSE power($1, $2) END"
        ),
        real("round", "\(schema).fieldwork_round($1, 0)"), real("truncate", "\(schema).fieldwork_truncate($1, 0)"),
        rounded("round", "sign(s) * floor(abs(s) + 0.5)"), rounded("truncate", "trunc(s)"),
        real("sqrt", "CASE WHEN $1 >= 0 THEN sqrt($1) END"), real("exp", "exp($1)"),
        real("log", "CASE WHEN $1 > 0 THEN ln($1) END"), real("log10", "CASE WHEN $1 > 0 THEN log($1) END"),
        real("sin", "sin($1)"), real("cos", "cos($1)"), real("tan", "tan($1)"),
        real("asin", "CASE WHEN abs($1) <= 1 THEN asin($1) END"),
        real("acos", "CASE WHEN abs($1) <= 1 THEN acos($1) END"),
        real("atan", "atan($1)"),
    ]

    /// Decimals as a power of ten, and back.
    private static func rounded(_ name: String, _ body: String) -> String {
        function(
            "fieldwork_\(name)(double precision, double precision)", "double precision",
            """
            SELECT CASE WHEN abs(s) < 4503599627370496 THEN \(body) / p ELSE $1 END
            FROM (SELECT $1 * p AS s, p FROM (
                SELECT power(10::double precision, greatest(-15, least(15, round($2)))) AS p) AS f) AS f
            """)
    }

    // MARK: Dates, which are milliseconds since 1970 within an expression

    private static let dates =
        [
            function("fieldwork_ms(bigint)", "bigint", "SELECT $1"),
            function("fieldwork_ms(timestamptz)", "bigint", "SELECT floor(extract(epoch FROM $1) * 1000)::bigint"),
            function(
                "fieldwork_ms(text)", "bigint",
                """
                SELECT CASE WHEN $1 ~ '^\\d{4}-\\d\\d-\\d\\d([Tt ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?( ?[+-]\\d\\d(:?\\d\\d)?|[Zz])?)?$'
                    THEN floor(extract(epoch FROM $1::timestamptz) * 1000)::bigint END
                """, "STABLE STRICT"),
            function(
                "fieldwork_time(text)", "bigint",
                """
                SELECT CASE WHEN $1 ~ '^\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?$'
                    THEN floor(extract(epoch FROM $1::time) * 1000)::bigint END
                """),
            function("fieldwork_time(bigint)", "bigint", "SELECT $1"),
            function(
                "fieldwork_moment(bigint)", "timestamp",
                "SELECT timestamp '1970-01-01' + $1 / 86400000 * interval '1 day' + $1 % 86400000 * interval '1 millisecond'"
            ),
            function(
                "fieldwork_date_text(bigint)", "text",
                "SELECT to_char(\(schema).fieldwork_moment($1), 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') COLLATE \"C\""),
        ] + ["year", "month", "day", "hour", "minute"].map(part)
        + [
            function(
                "fieldwork_second(bigint)", "bigint",
                "SELECT floor(extract(second FROM \(schema).fieldwork_moment($1)))::bigint")
        ]

    private static func part(_ name: String) -> String {
        function(
            "fieldwork_\(name)(bigint)", "bigint", "SELECT extract(\(name) FROM \(schema).fieldwork_moment($1))::bigint"
        )
    }

    // MARK: Aggregates

    /// The variance of a sample by Welford's method, in the order of `VarianceFunction`'s steps.
    private static let aggregates = [
        """
        CREATE OR REPLACE FUNCTION \(schema).fieldwork_variance_step(double precision[], double precision)
        RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        DECLARE
            distance double precision;
            mean double precision;
        BEGIN
            IF $2 IS NULL THEN RETURN $1; END IF;
            distance := $2 - $1[2];
            mean := $1[2] + distance / ($1[1] + 1);
            RETURN ARRAY[$1[1] + 1, mean, $1[3] + distance * ($2 - mean)];
        END $$
        """,
        function(
            "fieldwork_variance_end(double precision[])", "double precision",
            "SELECT CASE WHEN $1[1] > 1 THEN $1[3] / ($1[1] - 1) END"),
        """
        CREATE OR REPLACE AGGREGATE \(schema).fieldwork_variance(double precision) (
            SFUNC = \(schema).fieldwork_variance_step, STYPE = double precision[], INITCOND = '{0,0,0}',
            FINALFUNC = \(schema).fieldwork_variance_end)
        """,
    ]
}
