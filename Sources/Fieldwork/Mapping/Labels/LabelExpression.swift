import FieldworkGeometry
import FieldworkREST
import Foundation

/// What a label says, as its author wrote it.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class LabelExpression: @unchecked Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    /// The text's parts when no interpreter is needed; nil when one is.
    var template: LabelTemplate? { nil }
}

/// Names of fields in brackets, texts in quotes, joined with `CONCAT`: `[Name] CONCAT " " CONCAT [Code]`.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public final class SimpleLabelExpression: LabelExpression, @unchecked Sendable {
    /// The expression as it was written.
    public let expression: String

    /// An expression of fields and texts.
    public init(simpleExpression: String) {
        expression = simpleExpression
        super.init(simpleExpression)
    }

    override var template: LabelTemplate? { LabelTemplate(concatenation: expression) }
}

/// An expression in Arcade, evaluated with `ArcGISEnvironment.expressionEvaluator`. A feature has no label where its
/// evaluation fails.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public final class ArcadeLabelExpression: LabelExpression, @unchecked Sendable {
    /// The expression as it was written.
    public let expression: String

    /// An expression in Arcade.
    public init(arcadeString: String) {
        expression = arcadeString
        super.init(arcadeString)
    }

    override var template: LabelTemplate? { LabelTemplate(arcade: expression) }
}

/// Names of fields in braces, as very old documents have it: `{Name}`.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public final class WebMapLabelExpression: LabelExpression, @unchecked Sendable {
    /// The expression as it was written.
    public let expression: String

    /// A text with names of fields in braces.
    public init(webMapExpression: String) {
        expression = webMapExpression
        super.init(webMapExpression)
    }

    override var template: LabelTemplate? { LabelTemplate(braces: expression) }
}

/// Texts and fields in turn.
struct LabelTemplate: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case text(String)
        case field(String)
    }

    let parts: [Part]

    /// Reads `[A] CONCAT " " CONCAT [B]`; nil for anything else.
    init?(concatenation text: String) {
        var parts: [Part] = []
        var rest = text[...]
        func skipSpaces() { rest = rest.drop(while: \.isWhitespace) }
        skipSpaces()
        while !rest.isEmpty {
            guard parts.count < Limits.labelParts else { return nil }
            if !parts.isEmpty {
                guard rest.lowercased().hasPrefix("concat") else { return nil }
                rest = rest.dropFirst(6)
                skipSpaces()
            }
            guard let part = Self.part(&rest) else { return nil }
            parts.append(part)
            skipSpaces()
        }
        guard !parts.isEmpty else { return nil }
        self.parts = parts
    }

    private static func part(_ rest: inout Substring) -> Part? {
        func taken(to end: Character) -> String? {
            guard let close = rest.dropFirst().firstIndex(of: end) else { return nil }
            let inner = String(rest[rest.index(after: rest.startIndex)..<close])
            rest = rest[rest.index(after: close)...]
            return inner
        }
        switch rest.first {
        case "[": return taken(to: "]").map(Part.field)
        case "\"": return taken(to: "\"").map(Part.text)
        default:
            guard rest.lowercased().hasPrefix("newline") else { return nil }
            rest = rest.dropFirst(7)
            return .text("\n")
        }
    }

    /// Reads the one expression of Arcade that needs no interpreter: a field of the feature.
    init?(arcade text: String) {
        var name = text.trimmingCharacters(in: .whitespacesAndNewlines)[...]
        if name.hasSuffix(";") { name = name.dropLast() }
        guard name.lowercased().hasPrefix("$feature") else { return nil }
        name = name.dropFirst("$feature".count)
        if name.hasPrefix(".") {
            name = name.dropFirst()
            guard !name.isEmpty, name.first?.isNumber == false,
                name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
            else { return nil }
        } else {
            let quotes: Set<Character> = ["\"", "'"]
            guard name.count > 4, name.hasPrefix("["), name.hasSuffix("]") else { return nil }
            name = name.dropFirst().dropLast()
            guard let quote = name.first, quotes.contains(quote), name.last == quote else { return nil }
            name = name.dropFirst().dropLast()
            guard !name.contains(where: { quotes.contains($0) || $0 == "\\" }) else { return nil }
        }
        parts = [.field(String(name))]
    }

    /// Reads `{A}, {B}`.
    init?(braces text: String) {
        var parts: [Part] = []
        for part in TextTemplate(text).parts {
            switch part {
            case .text(let text): parts.append(.text(text))
            case .name(.field(let name)): parts.append(.field(name))
            case .name: return nil
            }
        }
        guard !parts.isEmpty else { return nil }
        self.parts = parts
    }
}
