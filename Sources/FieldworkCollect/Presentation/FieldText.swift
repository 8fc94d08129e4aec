import Fieldwork
import Foundation

/// Attribute values as people read them: names of coded values, dates in words, a dash for nothing.
struct FieldText: Sendable {
    static let nothing = "–"

    let layer: MapLayer
    var now = Date()
    /// The zone in which the layer's own moments are read, here as in its forms.
    var timeZone: TimeZone { layer.table.timeZone }

    /// The value with its domain's name. `attributes` decide which type's domain holds.
    func text(_ name: String, of feature: Feature) -> String {
        guard let field = layer.field(named: name) else { return Self.nothing }
        return text(feature.attributeValue(forKey: field.name), field: field, typeID: typeID(of: feature))
    }

    func text(_ value: (any Sendable)?, field: Field, typeID: FeatureSnapshot.Value? = nil) -> String {
        guard let value else { return Self.nothing }
        if field.name.lowercased() == layer.typeIDField.lowercased(), !field.name.isEmpty,
            let type = layer.types.first(where: { FeatureSnapshot.Value($0.id) == FeatureSnapshot.Value(value) })
        {
            return type.name
        }
        if let coded = domain(of: field, typeID: typeID) as? CodedValueDomain,
            let match = coded.codedValues.first(where: {
                FeatureSnapshot.Value($0.code) == FeatureSnapshot.Value(value)
            })
        {
            return match.name
        }
        return plain(value, type: field.type)
    }

    func domain(of field: Field, typeID: FeatureSnapshot.Value?) -> Domain? {
        if let typeID,
            let type = layer.types.first(where: { FeatureSnapshot.Value($0.id) == typeID }),
            let domain = type.domains[field.name], !(domain is InheritedDomain)
        {
            return domain
        }
        return field.domain
    }

    func typeID(of feature: Feature) -> FeatureSnapshot.Value? {
        let field = layer.typeIDField
        return field.isEmpty ? nil : FeatureSnapshot.Value(feature.attributeValue(forKey: field))
    }

    /// The code behind a shown name, for the tooltip; nil where both are the same.
    func code(_ value: (any Sendable)?, shown: String) -> String? {
        guard let value else { return nil }
        let code = Symbology.text(value)
        return code == shown || value is Date ? nil : code
    }

    private func plain(_ value: any Sendable, type: FieldType?) -> String {
        switch FeatureSnapshot.Value(value) {
        case .null: Self.nothing
        case .integer(let number): String(number)
        case .real(let number): Self.number(number)
        case .text(let text): text.isEmpty ? Self.nothing : text
        case .date(let date): Self.date(date, now: now, timeZone: timeZone)
        case .guid(let uuid): uuid.uuidString.lowercased()
        case .bytes(let data): "\(data.count) bytes"
        }
    }

    static func number(_ value: Double) -> String {
        guard value.isFinite else { return nothing }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        let rounded = (value * 1e6).rounded() / 1e6
        return "\(rounded)"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// "today 14:05", "yesterday 14:05", "14 May, 14:05", "14 May 2025". A clock of another zone than the device's is named:
    /// "today 14:05 UTC-8".
    /// - Parameter timeZone: the zone of the layer for the values of its fields; the device's for what was done and when.
    static func date(
        _ date: Date, now: Date, timeZone: TimeZone = .current, device: TimeZone = .current
    ) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        guard let year = parts.year, let month = parts.month, let day = parts.day, let hour = parts.hour,
            let minute = parts.minute, months.indices.contains(month - 1)
        else { return nothing }
        var clock = "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
        let offset = timeZone.secondsFromGMT(for: date)
        if offset != device.secondsFromGMT(for: date) { clock += " \(zone(offset))" }
        if calendar.isDate(date, inSameDayAs: now) { return "today \(clock)" }
        if let before = calendar.date(byAdding: .day, value: -1, to: now), calendar.isDate(date, inSameDayAs: before) {
            return "yesterday \(clock)"
        }
        let name = "\(day) \(months[month - 1])"
        return year == calendar.component(.year, from: now) ? "\(name), \(clock)" : "\(name) \(year)"
    }

    /// "UTC-8", "UTC+5:30": the abbreviations of zones mean different things in different countries.
    private static func zone(_ offset: Int) -> String {
        let (hours, minutes) = (abs(offset) / 3_600, abs(offset) / 60 % 60)
        return "UTC\(offset < 0 ? "-" : "+")\(hours)" + (minutes == 0 ? "" : ":\(minutes < 10 ? "0" : "")\(minutes)")
    }

    static func distance(_ metres: Double) -> String {
        switch metres {
        case ..<0.05: "here"
        case ..<10: "\((metres * 10).rounded() / 10) m"
        case ..<1_000: "\(Int(metres.rounded())) m"
        case ..<100_000: "\((metres / 100).rounded() / 10) km"
        default: "\(grouped(Int((metres / 1_000).rounded()))) km"
        }
    }

    /// 4,619
    static func grouped(_ number: Int) -> String {
        let digits = String(abs(number))
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return (number < 0 ? "\u{2212}" : "") + result
    }

    /// "1 feature", "78 trees".
    static func count(_ number: Int, _ noun: String) -> String {
        if number == 1 { return "1 \(noun)" }
        let plural = noun.hasSuffix("y") && !noun.hasSuffix("ey") ? noun.dropLast() + "ies" : noun + "s"
        return "\(grouped(number)) \(plural)"
    }
}
