import FieldworkGeometry
package import FieldworkREST
import Foundation

/// How the values of a column are read.
package struct ColumnReading: Sendable {
    /// The column's name in the file.
    package var title: String
    /// Where it stands in a row of a table.
    package var index = 0
    package var number = NumberForm.point
    package var date = DateForm.iso
}

/// Finds the type of a column from all its values: the narrowest that holds every one.
package struct FieldInference {
    private(set) var name: String
    private var couldBeInteger = true
    /// The forms in which every value so far is a number.
    private var numberForms: [NumberForm]
    private let readsNumbersInText: Bool
    private let takesQuotedAsText: Bool
    /// The forms in which every value so far is a date.
    private var dateForms = DateForm.allCases
    private var hasOnlyDots = true
    private var couldBeGUID = true
    private var smallest: Int64 = 0
    private var largest: Int64 = 0
    private var longest = 0
    private(set) var seen = 0
    /// Values that are numbers, and the range of them.
    private(set) var numbers = 0
    private(set) var range: ClosedRange<Double>?

    /// - Parameters:
    ///   - readsNumbersInText: a table writes numbers as text; where numbers have a form of their own, text of digits is meant
    ///     as text.
    ///   - takesQuotedAsText: values in quotes are text even if they are digits.
    package init(
        name: String, readsNumbersInText: Bool = true, takesQuotedAsText: Bool = false,
        _ settings: TableSettings = .init()
    ) {
        self.name = name
        self.readsNumbersInText = readsNumbersInText
        self.takesQuotedAsText = takesQuotedAsText
        numberForms =
            switch settings.decimal {
            case .point?: [.point, .grouped]
            case .comma?: [.point, .comma]
            case nil: NumberForm.allCases
            }
        if let dates = settings.dates {
            dateForms = [.iso, .yearFirst] + (dates == .iso || dates == .yearFirst ? [] : [dates])
        }
    }

    package mutating func see(_ value: AttributeValue, isQuoted: Bool = false) {
        switch value {
        case .null: return
        case .integer(let number):
            seen += 1
            (dateForms, couldBeGUID) = ([], false)
            longest = max(longest, String(number).count)
            extend(number)
            note(Double(number))
        case .real(let number):
            seen += 1
            (couldBeInteger, dateForms, couldBeGUID) = (false, [], false)
            longest = max(longest, Self.text(of: value).count)
            note(number)
        case .text(let text): see(text, isQuoted)
        case .data: (couldBeInteger, numberForms, dateForms, couldBeGUID) = (false, [], [], false)
        }
    }

    private mutating func note(_ number: Double) {
        numbers += 1
        range = range.map { min($0.lowerBound, number)...max($0.upperBound, number) } ?? number...number
    }

    /// The same of the bytes of a text.
    mutating func see(_ bytes: UnsafeBufferPointer<UInt8>, isQuoted: Bool) {
        guard let first = bytes.first else { return }
        guard first != 0x20, bytes.last != 0x20, readsNumbersInText, !takesQuotedAsText || !isQuoted else {
            return see(String(decoding: bytes, as: UTF8.self), isQuoted)
        }
        seen += 1
        // There are never more characters than bytes.
        if bytes.count > longest { longest = max(longest, bytes.count { $0 & 0xC0 != 0x80 }) }
        seeNumber(bytes, first)
        if !dateForms.isEmpty { seeDate(String(decoding: bytes, as: UTF8.self)) }
        if couldBeGUID, GUID.parse(bytes: UnsafeRawBufferPointer(bytes)) == nil { couldBeGUID = false }
    }

    private mutating func see(_ original: String, _ isQuoted: Bool) {
        let text = Self.trimmed(original)
        guard !text.isEmpty else { return }
        seen += 1
        longest = max(longest, original.unicodeScalars.count)
        if takesQuotedAsText, isQuoted { (couldBeInteger, numberForms, dateForms) = (false, [], []) }
        if readsNumbersInText { seeNumber(text) } else { (couldBeInteger, numberForms) = (false, []) }
        if !dateForms.isEmpty { seeDate(text) }
        if couldBeGUID, GUID.parse(text) == nil { couldBeGUID = false }
    }

    private mutating func seeDate(_ text: String) {
        dateForms.removeAll { $0.milliseconds(text) == nil }
        if text.contains("/") || text.contains("-") { hasOnlyDots = false }
    }

    /// What `seeNumber` finds out of a text, from its bytes where it is plain.
    private mutating func seeNumber(_ bytes: UnsafeBufferPointer<UInt8>, _ first: UInt8) {
        // In no form a number begins with anything else than a digit, a sign or a mark, or has a letter but that of an exponent.
        guard (0x30...0x39).contains(first) || first == 0x2D || first == 0x2E || first == 0x2C,
            !bytes.contains(where: Self.isLetterOfNoNumber)
        else {
            (couldBeInteger, numberForms) = (false, [])
            return
        }
        // With three digits behind it, a point may as well group thousands.
        guard let number = PlainNumber(bytes), number.fractionDigits == 0 || !number.hasLeadingZero,
            number.fractionDigits != 3 || number.wholeDigits > 3 || !numberForms.contains(.comma)
        else { return seeNumber(String(decoding: bytes, as: UTF8.self)) }
        if number.hasLeadingZero {
            (couldBeInteger, numberForms) = (false, [])
            return
        }
        note(number.value)
        if let integer = number.integer {
            if couldBeInteger {
                if numberForms.contains(.point) { extend(integer) } else { couldBeInteger = false }
            }
        } else {
            couldBeInteger = false
            if numberForms.contains(.comma) { numberForms.removeAll { $0 == .comma } }
        }
    }

    private static func isLetterOfNoNumber(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return (0x61...0x7A).contains(lower) && lower != 0x65
    }

    private mutating func seeNumber(_ text: String) {
        var fits: [NumberForm] = []
        for form in NumberForm.allCases {
            guard let plain = form.plain(text), Self.isNumber(plain) else { continue }
            if fits.isEmpty, let number = Double(plain) { note(number) }
            fits.append(form)
        }
        numberForms.removeAll { !fits.contains($0) }
        if couldBeInteger {
            if numberForms.contains(.point), let number = Int64(text) { extend(number) } else { couldBeInteger = false }
        }
    }

    /// Without spaces around it.
    package static func trimmed(_ text: String) -> String {
        guard text.utf8.first == 0x20 || text.utf8.last == 0x20 else { return text }
        return text.trimmingCharacters(in: .whitespaces)
    }

    /// Whether a text is a number that gives the same text back: a code with leading zeros, a telephone number, or an
    /// identifier of twenty digits is text, since as a number it would lose something.
    private static func isNumber(_ text: String) -> Bool {
        guard let number = Double(text), number.isFinite else { return false }
        var digits = text.utf8[...]
        if digits.first == 0x2D { digits = digits.dropFirst() }
        guard let first = digits.first, (0x30...0x39).contains(first) || first == 0x2E else { return false }
        if first == 0x30, digits.count > 1, digits.dropFirst().first != 0x2E { return false }
        guard
            digits.allSatisfy({ byte in (0x30...0x39).contains(byte) || [0x2E, 0x65, 0x45, 0x2B, 0x2D].contains(byte) })
        else { return false }
        let isWhole = digits.allSatisfy { (0x30...0x39).contains($0) }
        return !isWhole || Int64(text) != nil
    }

    /// A real number keeps whole numbers up to 2⁵³ exactly; a longer one among reals would lose its last digits.
    private var hasIntegersThatRealsLose: Bool { largest > 1 << 53 || smallest < -(1 << 53) }

    private mutating func extend(_ number: Int64) {
        smallest = min(smallest, number)
        largest = max(largest, number)
    }

    /// The one form of its dates, where the values of the column leave no other.
    package var certainDateForm: DateForm? {
        guard seen > 0 else { return nil }
        // What begins with the year leaves no doubt, and nobody writes the month first with dots.
        if let form = [DateForm.iso, .yearFirst].first(where: dateForms.contains) { return form }
        if dateForms.count > 1, hasOnlyDots { return .dayFirst }
        return dateForms.count == 1 ? dateForms.first : nil
    }

    /// Whether the numbers of the column could be told from each other only with a word of somebody who knows them.
    private var hasUncertainNumbers: Bool {
        seen > 0 && !numberForms.contains(.point) && numberForms.contains(.comma) && numberForms.contains(.grouped)
    }

    /// The field of the column, how its values are read, and what keeps it from being more than text.
    /// - Parameter hints: what other columns of the file have shown.
    package func conclusion(_ hints: ColumnHints = ColumnHints()) -> (
        field: FieldDefinition, reading: ColumnReading, doubt: String?
    ) {
        var reading = ColumnReading(title: name)
        func concluded(_ type: FieldType, length: Int = 0, doubt: String? = nil) -> (
            field: FieldDefinition, reading: ColumnReading, doubt: String?
        ) { (FieldDefinition(name: name, type: type, length: length), reading, doubt) }
        if seen == 0 { return concluded(.string, length: 255) }
        if couldBeInteger {
            let fits = smallest >= Int64(Int32.min) && largest <= Int64(Int32.max)
            return concluded(fits ? .integer : .bigInteger)
        }
        var doubt: String?
        if !hasIntegersThatRealsLose {
            if numberForms.contains(.point) || numberForms.count == 1 {
                reading.number = numberForms.contains(.point) ? .point : numberForms[0]
                return concluded(.double)
            }
            if hasUncertainNumbers {
                if let mark = hints.decimal {
                    reading.number = mark == .comma ? .comma : .grouped
                    return concluded(.double)
                }
                doubt =
                    "\(name) stays text: its commas may be decimal commas or group thousands. Give --decimal comma or point"
            }
        }
        if let form = certainDateForm ?? dateForms.first(where: { $0 == hints.dates }) {
            reading.date = form
            return concluded(.date)
        }
        if !dateForms.isEmpty {
            doubt = "\(name) stays text: its dates may begin with the day or the month. Give --dates dmy or mdy"
        }
        if couldBeGUID { return concluded(.guid) }
        // Room for what comes later: texts grow.
        let length = [50, 100, 254, 1_000, 4_000].first { $0 >= longest * 3 / 2 } ?? max(longest * 2, 4_000)
        return concluded(.string, length: length, doubt: doubt)
    }

    package var field: FieldDefinition { conclusion().field }

    /// What a file gives as a value of the field.
    package static func value(_ value: AttributeValue, for field: FieldDefinition, _ reading: ColumnReading)
        -> AttributeValue
    {
        switch (value, field.type) {
        case (.text, .string): value
        case (.text(let text), _): Self.value(text, for: field, reading)
        // A column that holds numbers and words is one of words.
        case (.integer, .string), (.real, .string): .text(text(of: value))
        case (.integer(let number), .double): .real(Double(number))
        default: value
        }
    }

    private static func text(of number: AttributeValue) -> String { number.json.text }

    /// The text as a value of the field. What is no value of it stays text, which the store refuses with its reason.
    package static func value(
        _ original: String, for field: FieldDefinition, _ reading: ColumnReading = ColumnReading(title: "")
    ) -> AttributeValue {
        if original.isEmpty { return .null }
        if field.type == .string { return .text(original) }
        let text = trimmed(original)
        if text.isEmpty { return .null }
        switch field.type {
        case .integer, .bigInteger, .smallInteger: return Int64(text).map(AttributeValue.integer) ?? .text(text)
        case .double, .single:
            return reading.number.plain(text).flatMap { Double($0) }.map(AttributeValue.real) ?? .text(text)
        case .date: return reading.date.milliseconds(text).map(AttributeValue.integer) ?? .text(text)
        case .guid: return GUID.parse(text).map { .text(GUID.normalForm($0)) } ?? .text(text)
        default: return .text(text)
        }
    }
}

/// What is known of all columns of a file together.
package struct ColumnHints: Sendable {
    package var decimal: DecimalMark?
    package var dates: DateForm?

    package init() {}

    /// What somebody says holds; else what a column shows that leaves no doubt.
    package init(_ columns: [FieldInference], _ settings: TableSettings, _ format: TableFormat = TableFormat()) {
        decimal = settings.decimal ?? (format.delimiter == 0x3B ? .comma : nil)
        dates =
            settings.dates ?? columns.lazy.compactMap(\.certainDateForm).first { $0 == .dayFirst || $0 == .monthFirst }
    }
}

/// Column names as fields can have them: no reserved name, no name twice.
package enum FieldNames {
    package static func unique(_ names: [String]) -> [String] {
        var taken: Set<String> = ["objectid", "globalid", "shape", "geom", "fid", ""]
        return names.enumerated().map { index, name in
            var base = String(
                name.unicodeScalars.map { scalar in
                    let isWord = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_"
                    return isWord ? Character(scalar) : "_"
                })
            if base.isEmpty { base = "column_\(index + 1)" }
            if base.first?.isNumber == true { base = "_" + base }
            var candidate = String(base.prefix(60))
            var number = 1
            while taken.contains(candidate.lowercased()) {
                candidate = "\(base.prefix(56))_\(number)"
                number += 1
            }
            taken.insert(candidate.lowercased())
            return candidate
        }
    }
}
