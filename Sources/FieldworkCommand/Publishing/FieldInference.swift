import FieldworkGeometry
import FieldworkREST
import Foundation

/// Finds the type of a column from all its values: the narrowest that holds every one.
struct FieldInference {
    private(set) var name: String
    private var couldBeInteger = true
    private var couldBeReal = true
    private let readsNumbersInText: Bool
    private var couldBeDate = true
    private var couldBeGUID = true
    private var smallest: Int64 = 0
    private var largest: Int64 = 0
    private var longest = 0
    private var seen = 0

    /// - Parameter readsNumbersInText: a table writes numbers as text; where numbers have a form of their own, text of
    ///   digits is meant as text.
    init(name: String, readsNumbersInText: Bool = true) {
        self.name = name
        self.readsNumbersInText = readsNumbersInText
    }

    mutating func see(_ value: AttributeValue) {
        switch value {
        case .null: return
        case .integer(let number):
            seen += 1
            (couldBeDate, couldBeGUID) = (false, false)
            longest = max(longest, String(number).count)
            extend(number)
        case .real:
            seen += 1
            (couldBeInteger, couldBeDate, couldBeGUID) = (false, false, false)
            longest = max(longest, Self.text(of: value).count)
        case .text(let text): see(text)
        case .data: (couldBeInteger, couldBeReal, couldBeDate, couldBeGUID) = (false, false, false, false)
        }
    }

    private mutating func see(_ text: String) {
        guard !text.isEmpty else { return }
        seen += 1
        longest = max(longest, text.unicodeScalars.count)
        if couldBeInteger || couldBeReal {
            if !readsNumbersInText || !Self.isNumber(text) {
                (couldBeInteger, couldBeReal) = (false, false)
            } else if let number = Int64(text) {
                extend(number)
            } else {
                couldBeInteger = false
            }
        }
        if couldBeDate, SQLDateText.timestamp(text) == nil { couldBeDate = false }
        if couldBeGUID, GUID.parse(text) == nil { couldBeGUID = false }
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

    var field: FieldDefinition {
        if seen == 0 { return FieldDefinition(name: name, type: .string, length: 255) }
        if couldBeInteger {
            let fits = smallest >= Int64(Int32.min) && largest <= Int64(Int32.max)
            return FieldDefinition(name: name, type: fits ? .integer : .bigInteger)
        }
        if couldBeReal, !hasIntegersThatRealsLose { return FieldDefinition(name: name, type: .double) }
        if couldBeDate { return FieldDefinition(name: name, type: .date) }
        if couldBeGUID { return FieldDefinition(name: name, type: .guid) }
        // Room for what comes later: texts grow.
        let length = [50, 100, 254, 1_000, 4_000].first { $0 >= longest * 3 / 2 } ?? max(longest * 2, 4_000)
        return FieldDefinition(name: name, type: .string, length: length)
    }

    /// What a file gives as a value of the field.
    static func value(_ value: AttributeValue, for field: FieldDefinition) -> AttributeValue {
        switch (value, field.type) {
        case (.text, .string): value
        case (.text(let text), _): Self.value(text, for: field)
        // A column that holds numbers and words is one of words.
        case (.integer, .string), (.real, .string): .text(text(of: value))
        case (.integer(let number), .double): .real(Double(number))
        default: value
        }
    }

    private static func text(of number: AttributeValue) -> String { number.json.text }

    /// The text as a value of the field.
    static func value(_ text: String, for field: FieldDefinition) -> AttributeValue {
        if text.isEmpty { return .null }
        switch field.type {
        case .integer, .bigInteger, .smallInteger: return Int64(text).map(AttributeValue.integer) ?? .text(text)
        case .double, .single: return Double(text).map(AttributeValue.real) ?? .text(text)
        case .date: return SQLDateText.timestamp(text).map(AttributeValue.integer) ?? .text(text)
        case .guid: return GUID.parse(text).map { .text(GUID.normalForm($0)) } ?? .text(text)
        default: return .text(text)
        }
    }
}

/// Column names as fields can have them: no reserved name, no name twice.
enum FieldNames {
    static func unique(_ names: [String]) -> [String] {
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
