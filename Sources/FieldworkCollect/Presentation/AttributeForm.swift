import Fieldwork
import Foundation

/// The form for a feature's attributes: which control each field gets, and what a posted text means.
struct AttributeForm: Sendable {
    /// A value that can't be taken, and why.
    struct Problem: Sendable, Hashable {
        let field: String
        let label: String
        let text: String
    }

    struct Reading: Sendable {
        /// Fields that were posted, with the value each now has; nil empties it.
        var values: [String: (any Sendable)?] = [:]
        var problems: [Problem] = []
    }

    static let prefix = "field."

    let layer: MapLayer
    private let text: FieldText

    init(layer: MapLayer) {
        self.layer = layer
        text = FieldText(layer: layer)
    }

    var editableFields: [Field] { layer.fields.filter { FeatureTitle.isTelling($0, of: layer) } }

    // MARK: Writing the form

    /// The controls. `posted` wins over the feature's own values, so that nothing typed is lost on a second showing.
    func controls(feature: Feature?, posted: FormValues?, problems: [Problem]) -> [Values] {
        let typeID = feature.flatMap { text.typeID(of: $0) }
        var controls = editableFields.map { field -> Values in
            let value = feature?.attributeValue(forKey: field.name)
            let typed = posted?[Self.prefix + field.name]
            let message = problems.first { $0.field == field.name }?.text
            return control(field, value: value, typed: typed, typeID: typeID, message: message)
        }
        if let feature {
            for field in layer.fields where !FeatureTitle.isTelling(field, of: layer) && Self.isShown(field) {
                controls.append([
                    "fixed": ["label": Self.label(field), "value": text.text(field.name, of: feature)] as Values
                ])
            }
        }
        return controls
    }

    static func label(_ field: Field) -> String { field.alias.isEmpty ? field.name : field.alias }

    /// What a reader of the feature may want to see; the rest is for machines.
    static func isShown(_ field: Field) -> Bool {
        switch field.type {
        case .geometry, .blob, .raster, .xml, nil: false
        default: true
        }
    }

    private func control(
        _ field: Field, value: (any Sendable)?, typed: String?, typeID: StoredValue?, message: String?
    ) -> Values {
        var values: Values = [
            "name": field.name, "field": Self.prefix + field.name, "label": Self.label(field),
            "required": !field.isNullable, "message": message.orFalse, "hint": false, "unit": "", "limit": false,
            "low": false, "high": false, "mode": false, "step": false,
        ]
        if let options = options(field, value: value, typed: typed, typeID: typeID) {
            values["options"] = options
            return [options.count <= Limits.buttonChoices ? "picks" : "select": values]
        }
        values["value"] = typed ?? Self.input(value, type: field.type)
        if let range = text.domain(of: field, typeID: typeID) as? RangeDomain {
            let low = Symbology.number(range.minValue).map(FieldText.number)
            let high = Symbology.number(range.maxValue).map(FieldText.number)
            values["low"] = low.orFalse
            values["high"] = high.orFalse
            if let low, let high { values["hint"] = "From \(low) to \(high)" }
        }
        switch field.type {
        case .int16, .int32, .int64:
            values.merge(["type": "text", "mode": "numeric", "check": "integer"]) { $1 }
        case .float32, .float64:
            values.merge(["type": "text", "mode": "decimal", "check": "number"]) { $1 }
        case .date, .timestampOffset:
            values.merge(["type": "datetime-local", "check": "date", "step": "1"]) { $1 }
        case .dateOnly:
            values.merge(["type": "date", "check": "date"]) { $1 }
        case .timeOnly:
            values.merge(["type": "time", "check": "date", "step": "1"]) { $1 }
        default:
            values.merge(["type": "text", "check": "text"]) { $1 }
            if field.length > 0 {
                values["limit"] = field.length
            }
            if field.length > 255 { return ["area": values] }
        }
        return ["line": values]
    }

    /// The choices of a coded domain or of the types; nil where any value may be typed.
    private func options(
        _ field: Field, value: (any Sendable)?, typed: String?, typeID: StoredValue?
    ) -> [Values]? {
        guard let choices = choices(field, typeID: typeID) else { return nil }
        let current = typed ?? value.map { Symbology.text($0) } ?? ""
        var options = choices.map { choice -> Values in
            [
                "value": choice.code, "text": choice.name, "current": choice.code == current,
                "symbol": layer.symbology.classOf(field: field.name, value: choice.value).map(\.values).orFalse,
            ]
        }
        if !current.isEmpty, !choices.contains(where: { $0.code == current }) {
            // A value outside its domain stays as it is until another one is chosen.
            options.insert(["value": current, "text": current, "current": true, "symbol": false], at: 0)
        }
        if field.isNullable {
            options.append(["value": "", "text": "None", "current": current.isEmpty, "symbol": false])
        }
        return options
    }

    struct Choice: Sendable {
        let code: String
        let name: String
        let value: any Sendable
    }

    func choices(_ field: Field, typeID: StoredValue?) -> [Choice]? {
        if !layer.typeIDField.isEmpty, field.name.lowercased() == layer.typeIDField.lowercased(),
            !layer.types.isEmpty
        {
            return layer.types.compactMap { type in
                type.id.map { Choice(code: Symbology.text($0), name: type.name, value: $0) }
            }
        }
        guard let domain = text.domain(of: field, typeID: typeID) as? CodedValueDomain else { return nil }
        return domain.codedValues.compactMap { value in
            value.code.map { Choice(code: Symbology.text($0), name: value.name, value: $0) }
        }
    }

    // MARK: Reading the form

    /// Reads the posted fields; each is checked against the field's type, domain, length and need.
    func read(_ form: FormValues, feature: Feature?) -> Reading {
        var reading = Reading()
        let typed = form[Self.prefix + layer.typeIDField]
        let typeField = layer.field(named: layer.typeIDField)
        let typeID =
            typed.flatMap { text in
                typeField.flatMap { choices($0, typeID: nil) }?.first { $0.code == text }.map { StoredValue($0.value) }
            } ?? feature.flatMap { text.typeID(of: $0) }
        for field in editableFields {
            guard let posted = form[Self.prefix + field.name] else { continue }
            switch value(of: posted, field: field, typeID: typeID, feature: feature) {
            case .success(let value): reading.values[field.name] = .some(value)
            case .failure(let complaint):
                reading.problems.append(
                    Problem(field: field.name, label: Self.label(field), text: complaint.text))
            }
        }
        return reading
    }

    /// Required fields that would stay empty.
    func missing(_ feature: Feature) -> [Problem] {
        editableFields.filter { !$0.isNullable && feature.attributeValue(forKey: $0.name) == nil }.map {
            Problem(field: $0.name, label: Self.label($0), text: "Fill this in.")
        }
    }

    private struct Complaint: Error {
        let text: String
    }

    private func value(
        of posted: String, field: Field, typeID: StoredValue?, feature: Feature?
    ) -> Result<(any Sendable)?, Complaint> {
        let trimmed = posted.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.isEmpty {
            return field.isNullable ? .success(nil) : .failure(Complaint(text: "Fill this in."))
        }
        if let choices = choices(field, typeID: typeID) {
            if let choice = choices.first(where: { $0.code == posted }) {
                return .success(StoredValue(choice.value).value(for: field.type))
            }
            let now = feature?.attributeValue(forKey: field.name)
            if let now, Symbology.text(now) == posted { return .success(now) }
            return .failure(Complaint(text: "\(posted) isn't one of the values this layer takes."))
        }
        let parsed = Self.parse(posted, trimmed: trimmed, field: field)
        guard case .success(let value) = parsed, let number = Symbology.number(value),
            let range = text.domain(of: field, typeID: typeID) as? RangeDomain
        else { return parsed }
        if let low = Symbology.number(range.minValue), number < low {
            return .failure(
                Complaint(
                    text: "\(trimmed) is less than \(FieldText.number(low)), the smallest value this layer takes."))
        }
        if let high = Symbology.number(range.maxValue), number > high {
            return .failure(
                Complaint(
                    text: "\(trimmed) is more than \(FieldText.number(high)), the largest value this layer takes."))
        }
        return parsed
    }

    private static func parse(
        _ posted: String, trimmed: String, field: Field
    ) -> Result<(any Sendable)?, Complaint> {
        switch field.type {
        case .int16, .int32, .int64:
            let plain = trimmed.replacingOccurrences(of: "\u{2212}", with: "-")
            guard let number = Int64(plain) else { return .failure(Complaint(text: "Type a whole number.")) }
            guard let value = StoredValue.integer(number).value(for: field.type) else {
                return .failure(Complaint(text: "\(trimmed) is larger than this field holds."))
            }
            return .success(value)
        case .float32, .float64:
            guard let number = FormValues.number(trimmed) else { return .failure(Complaint(text: "Type a number.")) }
            guard field.type != .float32 || Float(number).isFinite else {
                return .failure(Complaint(text: "\(trimmed) is larger than this field holds."))
            }
            return .success(StoredValue.real(number).value(for: field.type))
        case .date, .timestampOffset:
            guard let date = date(trimmed) else { return .failure(Complaint(text: "Type a date and a time.")) }
            return .success(date)
        default:
            if field.length > 0, posted.count > field.length {
                return .failure(
                    Complaint(
                        text:
                            "\(FieldText.count(posted.count, "character")) are more than the \(field.length) this field holds."
                    ))
            }
            return .success(posted.replacingOccurrences(of: "\r\n", with: "\n"))
        }
    }

    /// The text of a control for a value.
    static func input(_ value: (any Sendable)?, type: FieldType?) -> String {
        switch StoredValue(value) {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): FieldText.number(number)
        case .text(let text): text
        case .date(let date): localText(date)
        case .guid(let uuid): uuid.uuidString.lowercased()
        case .bytes: ""
        }
    }

    private static func localText(_ date: Date) -> String {
        let parts = Calendar(identifier: .gregorian).dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: date)
        func two(_ part: Int?) -> String {
            let digits = String(part ?? 0)
            return digits.count == 1 ? "0" + digits : digits
        }
        let year = String(parts.year ?? 1970)
        let padded = String(repeating: "0", count: max(0, 4 - year.count)) + year
        return
            "\(padded)-\(two(parts.month))-\(two(parts.day))T\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))"
    }

    /// Reads what `datetime-local` posts: `2026-05-14T14:05` with or without seconds, in this device's time zone.
    static func date(_ text: String) -> Date? {
        let numbers = text.split(whereSeparator: { "-T: ".contains($0) }).map { Int($0.prefix(while: \.isNumber)) }
        guard numbers.count >= 5, numbers.count <= 6, !numbers.contains(nil) else { return nil }
        let part = numbers.compactMap { $0 }
        let components = DateComponents(
            year: part[0], month: part[1], day: part[2], hour: part[3], minute: part[4],
            second: part.count > 5 ? part[5] : 0)
        let calendar = Calendar(identifier: .gregorian)
        guard let date = calendar.date(from: components) else { return nil }
        let back = calendar.dateComponents([.month, .day], from: date)
        return back.month == part[1] && back.day == part[2] ? date : nil
    }
}
