import ArgumentParser
import FieldworkGeometry
import FieldworkPublishing
import Foundation

/// How a table is written, where it is not to be found out from the file.
struct TableOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What separates the values of a table: comma, semicolon, tab, bar or a character.", valueName: "mark"))
    var delimiter: String?

    @Option(
        help: ArgumentHelp(
            "The encoding of a table's text: utf-8, windows-1252, latin1, utf-16le or utf-16be.", valueName: "name"))
    var encoding: String?

    @Option(help: ArgumentHelp("What stands before the fraction of a number: point or comma.", valueName: "mark"))
    var decimal: String?

    @Option(help: ArgumentHelp("The order of a date's parts: iso, ymd, dmy or mdy.", valueName: "order"))
    var dates: String?

    func validate() throws {
        if let delimiter, TableFormat.delimiter(named: delimiter) == nil {
            throw ValidationError("--delimiter takes one character, or comma, semicolon, tab, bar or space.")
        }
        try check(encoding, TextEncoding.self, "--encoding")
        try check(decimal, DecimalMark.self, "--decimal")
        try check(dates, DateForm.self, "--dates")
    }

    private func check<Choice: RawRepresentable & CaseIterable>(
        _ text: String?, _ type: Choice.Type, _ option: String
    ) throws where Choice.RawValue == String {
        guard let text, Choice(rawValue: text.lowercased()) == nil else { return }
        let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("\(option) takes one of \(names), not '\(text)'.")
    }

    var settings: TableSettings {
        TableSettings(
            delimiter: delimiter.flatMap { TableFormat.delimiter(named: $0) },
            encoding: encoding.flatMap { TextEncoding(rawValue: $0.lowercased()) },
            decimal: decimal.flatMap { DecimalMark(rawValue: $0.lowercased()) },
            dates: dates.flatMap { DateForm(rawValue: $0.lowercased()) })
    }

    var isGiven: Bool { delimiter != nil || encoding != nil || decimal != nil || dates != nil }
}
