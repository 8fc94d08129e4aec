import Foundation

/// Amounts of data in words.
enum ByteText {
    private static let units: [(size: Double, name: String)] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]

    /// "1.2 of 4.8 MB": both in the unit of the whole.
    static func part(_ there: Int64, of whole: Int64) -> String {
        guard let unit = units.first(where: { Double(whole) >= $0.size }) else { return "\(there) of \(whole) bytes" }
        return "\(figure(there, unit.size, of: whole)) of \(figure(whole, unit.size, of: whole)) \(unit.name)"
    }

    /// "18.2 GB"
    static func whole(_ count: Int64) -> String {
        guard let unit = units.first(where: { Double(count) >= $0.size }) else { return "\(count) bytes" }
        return "\(figure(count, unit.size, of: count)) \(unit.name)"
    }

    private static func figure(_ count: Int64, _ unit: Double, of whole: Int64) -> String {
        let value = Double(count) / unit
        return Double(whole) / unit < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
    }
}
