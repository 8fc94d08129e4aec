package import FieldworkArcade
package import FieldworkGeometry
package import FieldworkREST
import Foundation

/// The Arcade expressions of a layer's looks: the renderer's, those of its visual variables, and those of labels that are more than
/// fields and texts. Nothing that draws tiles or images evaluates Arcade, so that features carry what the expressions give: the number
/// of their class, the values of the variables, the texts of the labels.
package struct DrawnExpressions: Sendable {
    /// The attribute that carries the number of a feature's class. No field has a name with a slash.
    package static let classAttribute = "expression/class"
    /// The attribute that carries the value of a visual variable.
    package static func variableAttribute(_ number: Int) -> String { "expression/\(number)" }

    /// The attribute that carries the text of a class of labels.
    package static func labelAttribute(_ number: Int) -> String { "label/\(number)" }

    /// What a feature carries.
    package enum Value: Sendable, Hashable {
        case integer(Int64)
        case real(Double)
        case text(String)
    }

    enum Purpose: Sendable {
        case classes(RendererClasses)
        case variable
        case label
    }

    struct Part: Sendable {
        let attribute: String
        let purpose: Purpose
        let script: ArcadeScript
    }

    let parts: [Part]

    /// The expressions of a renderer; nil when it has none that can be evaluated for every feature.
    package init?(renderer: JSONValue?) { self.init(Self.parts(renderer)) }

    /// The expressions of a layer's renderer and labels; nil when it has none.
    package init?(_ layer: LayerDefinition) {
        let labels = layer.drawingInfo?["labelingInfo"]?.arrayValue ?? []
        let texts = labels.enumerated().compactMap { number, info -> Part? in
            guard let script = Self.script(ofLabel: info, layer) else { return nil }
            return Part(attribute: Self.labelAttribute(number), purpose: .label, script: script)
        }
        self.init(Self.parts(layer.drawingInfo?["renderer"]) + texts)
    }

    private init?(_ parts: [Part]) {
        guard !parts.isEmpty else { return nil }
        self.parts = parts
    }

    private static func parts(_ renderer: JSONValue?) -> [Part] {
        var parts: [Part] = []
        if DrawnRenderer.hasClassExpression(renderer), let script = script(renderer?["valueExpression"], .visualization)
        {
            let classes = RendererClasses(renderer, maximum: Limits.styleClasses)
            parts.append(Part(attribute: classAttribute, purpose: .classes(classes), script: script))
        }
        for (number, variable) in (renderer?["visualVariables"]?.arrayValue ?? []).enumerated() {
            guard let script = script(variable["valueExpression"], .visualization) else { continue }
            parts.append(Part(attribute: variableAttribute(number), purpose: .variable, script: script))
        }
        return parts
    }

    /// A script that can be evaluated for every feature: it has no error, and reads no layers.
    private static func script(_ json: JSONValue?, _ profile: ArcadeProfile) -> ArcadeScript? {
        guard let text = json?.stringValue, !text.isEmpty else { return nil }
        let script = ArcadeScript(text, profile: profile)
        return script.problems.isEmpty && !script.reads.needsData ? script : nil
    }

    private static func script(ofLabel info: JSONValue, _ layer: LayerDefinition) -> ArcadeScript? {
        guard info["where"]?.stringValue?.isEmpty != false, LabelText(info, layer: layer) == nil else { return nil }
        return script(info["labelExpressionInfo"]?["expression"], .labeling)
    }

    /// Whether features carry the text of a class of labels, since no style can make it.
    static func evaluatesLabel(_ info: JSONValue, _ layer: LayerDefinition) -> Bool {
        script(ofLabel: info, layer) != nil
    }

    /// The attributes that features carry, and whether each holds a text.
    package var attributes: [(name: String, isText: Bool)] {
        parts.map { part in
            if case .label = part.purpose { (part.attribute, true) } else { (part.attribute, false) }
        }
    }

    /// The fields that are read, in the layer's order.
    package func fields(of layer: LayerDefinition) -> [String] {
        let all = layer.fields.filter { $0.type != .geometry && $0.type != .blob && $0.type != .raster }.map(\.name)
        guard !parts.contains(where: { $0.script.reads.readsOtherFields }) else { return all }
        var wanted = Set(parts.flatMap { $0.script.reads.fields["$feature"] ?? [] }.map { $0.lowercased() })
        for case .classes(let classes) in parts.map(\.purpose) {
            if case .breaks(_, .field(let name), _, _) = classes.rule { wanted.insert(name.lowercased()) }
        }
        return all.filter { wanted.contains($0.lowercased()) }
    }

    /// Whether what is drawn depends on when it is asked for: then no tile may be kept.
    package var readClock: Bool {
        parts.contains { !$0.script.reads.functions.isDisjoint(with: ["Now", "Today", "Timestamp", "Random", "GUID"]) }
    }

    package var needGeometry: Bool { parts.contains { $0.script.reads.needsGeometry } }
}

/// Evaluates the expressions of a layer's looks for one feature after the other.
package struct DrawnExpressionRunner {
    private let parts: [(part: DrawnExpressions.Part, runner: ArcadeRunner)]

    /// - Parameter context: brings all but the feature: the clock, the zone, the scale of the map.
    package init(_ expressions: DrawnExpressions, _ context: ArcadeContext) {
        var context = context
        // The same feature looks the same each time that it is drawn.
        context.seed = 0
        // Drawing waits for no data.
        context.data = nil
        parts = expressions.parts.compactMap { part in
            context.profile = part.script.profile
            return (try? ArcadeRunner(part.script, context)).map { (part, $0) }
        }
    }

    /// What a feature carries. An expression that fails with it gives nothing: the feature gets the default symbol, keeps what its
    /// class says, or has no label.
    package func values(_ feature: ArcadeFeature) -> [(name: String, value: DrawnExpressions.Value)] {
        parts.compactMap { part, runner in
            guard let result = try? runner.value(feature) else { return nil }
            let value: DrawnExpressions.Value?
            switch part.purpose {
            case .classes(let classes):
                value = Self.place(of: result, among: classes, feature).map { .integer(Int64($0)) }
            case .variable: value = Self.number(result).map { .real($0) }
            case .label:
                let text = result.text.prefix(Limits.tileTextCharacters)
                value = text.allSatisfy(\.isWhitespace) ? nil : .text(String(text))
            }
            return value.map { (part.attribute, $0) }
        }
    }

    /// nil for a feature that no class takes.
    private static func place(
        of result: ArcadeValue, among classes: RendererClasses, _ feature: ArcadeFeature
    ) -> Int? {
        switch classes.rule {
        case .all, .unclassed: return nil
        case .values(_, _, let texts):
            let text = text(result)
            return texts.firstIndex { $0.contains(text) }
        case .breaks(_, let normalization, let least, let greatest):
            guard let number = number(result).flatMap({ normalized($0, normalization, feature) }) else { return nil }
            guard least.map({ number >= $0 }) ?? true else { return nil }
            return greatest.firstIndex { number <= $0 }
        }
    }

    private static func normalized(
        _ number: Double, _ normalization: RendererClasses.Normalization, _ feature: ArcadeFeature
    ) -> Double? {
        let result: Double
        switch normalization {
        case .plain: result = number
        case .log: result = number > 0 ? log10(number) : .nan
        case .percent(let total): result = 100 * number / total
        case .field(let name):
            guard case .number(let divisor)? = feature.value(of: name) else { return nil }
            result = number / divisor
        }
        return result.isFinite ? result : nil
    }

    private static func number(_ value: ArcadeValue) -> Double? {
        switch value {
        case .number(let number): number.isFinite ? number : nil
        case .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        case .date(let date): date.milliseconds
        default: nil
        }
    }

    /// As classes compare it.
    private static func text(_ value: ArcadeValue) -> String {
        value == .null ? RendererClasses.missing : value.text
    }
}
