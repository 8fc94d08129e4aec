import FieldworkREST
import Foundation

/// Finds the type of a column from all its values: the narrowest that holds every one.
struct FieldInference {
    private(set) var name: String
    private var couldBeInteger = true
    private var couldBeReal = true
    private var couldBeDate = true
    private var couldBeGUID = true
    private var smallest: Int64 = 0
    private var largest: Int64 = 0
    private var longest = 0
    private var seen = 0

    init(name: String) { self.name = name }

    mutating func see(_ value: AttributeValue) {
        switch value {
        case .null: return
        case .integer(let number):
            seen += 1
            (couldBeDate, couldBeGUID) = (false, false)
            extend(number)
        case .real:
            seen += 1
            (couldBeInteger, couldBeDate, couldBeGUID) = (false, false, false)
        case .text(let text): see(text)
        case .data: (couldBeInteger, couldBeReal, couldBeDate, couldBeGUID) = (false, false, false, false)
        }
    }

    private mutating func see(_ text: String) {
        guard !text.isEmpty else { return }
        seen += 1
        longest = max(longest, text.unicodeScalars.count)
        if couldBeInteger {
            // A leading zero is part of a code, not of a number.
            let isCode = text.count > 1 && (text.hasPrefix("0") || text.hasPrefix("-0"))
            if let number = Int64(text), !isCode { extend(number) } else { couldBeInteger = false }
        }
        if couldBeReal, !couldBeInteger, !Self.isReal(text) { couldBeReal = false }
        if couldBeDate, SQLDateText.timestamp(text) == nil { couldBeDate = false }
        if couldBeGUID, GUID.parse(text) == nil { couldBeGUID = false }
    }

    private static func isReal(_ text: String) -> Bool {
        guard let number = Double(text), number.isFinite else { return false }
        return !(text.hasPrefix("0") && text.count > 1 && !text.hasPrefix("0.")) && text.utf8.allSatisfy { $0 != 0x78 }
    }

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
        if couldBeReal { return FieldDefinition(name: name, type: .double) }
        if couldBeDate { return FieldDefinition(name: name, type: .date) }
        if couldBeGUID { return FieldDefinition(name: name, type: .guid) }
        // Room for what comes later: texts grow.
        let length = [50, 100, 254, 1_000, 4_000].first { $0 >= longest * 3 / 2 } ?? max(longest * 2, 4_000)
        return FieldDefinition(name: name, type: .string, length: length)
    }

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
