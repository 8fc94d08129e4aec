import FieldworkGeometry
import FieldworkREST
import Foundation

/// A value of a feature while it is drawn.
enum DrawingValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    /// As classes compare it.
    var text: String {
        switch self {
        case .null: RendererClasses.missing
        case .integer(let value): String(value)
        case .real(let value): RendererClasses.text(.number(value))
        case .text(let value): value
        }
    }

    var number: Double? {
        switch self {
        case .null: nil
        case .integer(let value): Double(value)
        case .real(let value): value
        case .text(let value): Double(value)
        }
    }
}

/// Finds the class of a feature by its values.
struct ClassFinder: Sendable {
    private enum Rule: Sendable {
        case all, unclassed
        case values(columns: [Int?], delimiter: String, [String: Int])
        case breaks(column: Int?, RendererClasses.Normalization, by: Int?, least: Double?, [Double])
    }

    private let rule: Rule
    private let other: Int?

    /// - Parameter columns: the names of the values of a feature.
    init(_ classes: RendererClasses, columns: [String]) {
        func column(_ name: String) -> Int? {
            columns.firstIndex { $0.lowercased() == name.lowercased() }
        }
        other = classes.other == nil ? nil : classes.entries.count
        switch classes.rule {
        case .all: rule = .all
        case .unclassed: rule = .unclassed
        case .values(let fields, let delimiter, let values):
            var indices: [String: Int] = [:]
            for (index, texts) in values.enumerated() { for text in texts { indices[text] = index } }
            rule = .values(columns: fields.map(column), delimiter: delimiter, indices)
        case .breaks(let field, let normalization, let least, let greatest):
            var divisor: Int?
            if case .field(let name) = normalization { divisor = column(name) }
            rule = .breaks(column: column(field), normalization, by: divisor, least: least, greatest)
        }
    }

    /// nil for a feature that isn't drawn.
    func index(of values: [DrawingValue]) -> Int? {
        switch rule {
        case .all: return 0
        case .unclassed: return nil
        case .values(let columns, let delimiter, let indices):
            if columns.count == 1, let column = columns[0] { return indices[values[column].text] ?? other }
            let texts = columns.map { $0.map { values[$0].text } ?? RendererClasses.missing }
            return indices[texts.joined(separator: delimiter)] ?? other
        case .breaks(let column, let normalization, let divisor, let least, let greatest):
            guard let column, var number = values[column].number else { return other }
            switch normalization {
            case .plain: break
            case .log: number = number > 0 ? log10(number) : .nan
            case .percent(let total): number = 100 * number / total
            case .field:
                guard let divisor, let by = values[divisor].number else { return other }
                number /= by
            }
            guard number.isFinite, least.map({ number >= $0 }) ?? true else { return other }
            return greatest.firstIndex { number <= $0 } ?? other
        }
    }
}
