import Foundation

/// One class of a layer's renderer as the app draws it: a shape in a box from -11 to 11, y down.
struct SymbolClass: Sendable, Hashable, Codable {
    let label: String
    /// Path data of SVG, from our own list of shapes.
    let path: String
    /// `#rrggbb` or `none`.
    let fill: String
    let edge: String
    let edgeWidth: Double
    /// CSS pixels.
    let size: Double

    var values: Values {
        ["path": path, "fill": fill, "edge": edge, "edgeWidth": edgeWidth, "large": false]
    }
}

/// How a layer is drawn: its classes, and which of them a feature belongs to.
struct Symbology: Sendable {
    private enum Rule: Sendable {
        case all
        case values(fields: [String], delimiter: String, classes: [String: Int])
        case breaks(field: String, least: Double, greatest: [Double])
    }

    let classes: [SymbolClass]
    /// The fields that decide the class.
    let fields: [String]
    private let rule: Rule
    /// The class of features that no other class takes; nil: they aren't drawn.
    private let otherwise: Int?

    private init(classes: [SymbolClass], fields: [String], rule: Rule, otherwise: Int?) {
        self.classes = classes
        self.fields = fields
        self.rule = rule
        self.otherwise = otherwise
    }

    func classIndex(of value: (String) -> (any Sendable)?) -> Int? {
        switch rule {
        case .all:
            return 0
        case .values(let fields, let delimiter, let classes):
            let key = fields.map { Self.text(value($0)) }.joined(separator: delimiter)
            return classes[key] ?? otherwise
        case .breaks(let field, let least, let greatest):
            guard let number = Self.number(value(field)), number >= least,
                let index = greatest.firstIndex(where: { number <= $0 })
            else { return otherwise }
            return index
        }
    }

    /// The class that features with a value of the renderer's only field get, for the buttons of a form.
    func classOf(field: String, value: (any Sendable)?) -> SymbolClass? {
        guard case .values(let fields, _, let classes) = rule, fields.count == 1,
            fields[0].lowercased() == field.lowercased(), let index = classes[Self.text(value)]
        else { return nil }
        return self.classes[index]
    }

    /// A number in its shortest text, as renderers write values; a missing value as `<Null>`.
    static func text(_ value: (any Sendable)?) -> String {
        switch value {
        case nil: "<Null>"
        case let text as String: text
        case let number as Double where number == number.rounded() && abs(number) < 1e15: String(Int64(number))
        case let number as Float where number == number.rounded() && abs(number) < 1e7: String(Int64(number))
        case .some(let other): "\(other)"
        }
    }

    static func number(_ value: (any Sendable)?) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Float: Double(value)
        case let value as Int: Double(value)
        case let value as Int64: Double(value)
        case let value as Int32: Double(value)
        case let value as Int16: Double(value)
        default: nil
        }
    }
}

extension Symbology {
    /// Reads a renderer of the protocol's JSON; what the app can't draw gets a plain symbol of the geometry's kind.
    init(rendererJSON: Data?, kind: GeometryKind) {
        let document = rendererJSON.flatMap { try? JSONDecoder().decode(RendererDocument.self, from: $0) }
        let plain = SymbolDocument.plain
        switch document?.type {
        case "uniqueValue":
            self.init(uniqueValues: document ?? RendererDocument(), kind: kind)
        case "classBreaks":
            self.init(classBreaks: document ?? RendererDocument(), kind: kind)
        default:
            let only = (document?.symbol ?? plain).symbolClass(label: document?.label ?? "", kind: kind)
            self.init(classes: [only], fields: [], rule: .all, otherwise: 0)
        }
    }

    private init(uniqueValues document: RendererDocument, kind: GeometryKind) {
        var classes: [SymbolClass] = []
        var index: [String: Int] = [:]
        let delimiter = document.fieldDelimiter ?? ","
        for info in document.uniqueValueInfos ?? [] {
            let value = info.value?.text ?? ""
            guard index[value] == nil else { continue }
            index[value] = classes.count
            classes.append((info.symbol ?? .plain).symbolClass(label: info.label ?? value, kind: kind))
        }
        var otherwise: Int?
        if let symbol = document.defaultSymbol {
            otherwise = classes.count
            classes.append(symbol.symbolClass(label: document.defaultLabel ?? "Other", kind: kind))
        }
        let fields = [document.field1, document.field2, document.field3].compactMap { $0 }.filter { !$0.isEmpty }
        self.init(
            classes: classes, fields: fields, rule: .values(fields: fields, delimiter: delimiter, classes: index),
            otherwise: otherwise)
    }

    private init(classBreaks document: RendererDocument, kind: GeometryKind) {
        let infos = document.classBreakInfos ?? []
        var classes = infos.map { ($0.symbol ?? .plain).symbolClass(label: $0.label ?? "", kind: kind) }
        var otherwise: Int?
        if let symbol = document.defaultSymbol {
            otherwise = classes.count
            classes.append(symbol.symbolClass(label: document.defaultLabel ?? "Other", kind: kind))
        }
        let field = document.field ?? ""
        self.init(
            classes: classes, fields: field.isEmpty ? [] : [field],
            rule: .breaks(
                field: field, least: document.minValue ?? -.infinity,
                greatest: infos.map { $0.classMaxValue ?? .infinity }),
            otherwise: otherwise)
    }
}
