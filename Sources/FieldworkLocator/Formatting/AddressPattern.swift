import Foundation

/// The order in which a country writes the parts of an address, read from a line of `AddressPatterns`.
///
/// `a / b` are two lines, `a b` two parts of one; a comma or a hyphen at a part's end stands before the next part, ` - ` parts two with
/// blanks, and a full stop follows its part. `a|b` is the first of the two that is known, `a b || c` the second where nothing of the
/// first is known. Words in capitals are lists of parts (`AddressPatterns.lists`). A part that repeats the one before it is left out,
/// except behind `!`.
struct AddressPattern: Sendable {
    struct Slot: Sendable {
        var parts: [AddressPart]
        /// What stands between this part and the one before it in the line.
        var separator = " "
        var suffix = ""
        var mayRepeat = false
    }

    /// A line: the first of its spellings that says anything is written.
    typealias Line = [[Slot]]

    var lines: [Line]

    init(_ text: String, lists: [String: String]) {
        lines = text.components(separatedBy: " / ").map { line in
            line.components(separatedBy: " || ").map { Self.slots($0, lists) }
        }
    }

    private static func slots(_ text: String, _ lists: [String: String]) -> [Slot] {
        var slots: [Slot] = []
        var separator = " "
        for var word in text.split(separator: " ") {
            if word == "-" {
                separator = " - "
                continue
            }
            var slot = Slot(parts: [], separator: separator)
            separator = " "
            if word.last == "!" {
                slot.mayRepeat = true
                word.removeLast()
            }
            switch word.last {
            case ",": separator = ", "
            case "-": separator = "-"
            case ".": slot.suffix = "."
            default: break
            }
            if separator != " " || !slot.suffix.isEmpty { word.removeLast() }
            slot.parts = word.split(separator: "|").flatMap { name in
                (lists[String(name)] ?? String(name)).split(separator: "|").compactMap {
                    AddressPart(rawValue: String($0))
                }
            }
            slots.append(slot)
        }
        return slots
    }

    /// The lines of an address. A line that repeats the one before it, or the end of it, is left out.
    func lines(of members: AddressMembers) -> [String] {
        var result: [String] = []
        var end = ""
        for line in lines {
            for spelling in line {
                let (text, last) = Self.write(spelling, members)
                guard !text.isEmpty else { continue }
                if text != result.last, text != end { result.append(text) }
                end = last
                break
            }
        }
        return result
    }

    private static func write(_ slots: [Slot], _ members: AddressMembers) -> (text: String, last: String) {
        var (text, last) = ("", "")
        var separator: String?
        for slot in slots {
            // Of the signs around parts that are not known one stays: the first that is more than a blank.
            if separator ?? " " == " " { separator = slot.separator }
            guard let part = slot.parts.first(where: members.has) else { continue }
            let value = members[part]
            guard value != last || slot.mayRepeat else { continue }
            text += (text.isEmpty ? "" : separator ?? " ") + value + slot.suffix
            last = value
            separator = nil
        }
        return (text, last)
    }
}
