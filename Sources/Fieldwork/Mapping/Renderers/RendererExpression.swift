import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// The expression from which a renderer or a visual variable takes its value: Arcade of the profile `visualization`.
///
/// Drawing does not wait, so an expression that reads layers is not supported; `visualization` grants none.
struct RendererExpression: Sendable {
    private let script: ArcadeScript

    /// - Parameter json: a renderer or a visual variable; nil is the answer where it names no expression.
    init?(_ json: JSONValue) {
        guard let text = json["valueExpression"]?.stringValue, !text.isEmpty else { return nil }
        script = ArcadeScript(text, profile: .visualization)
    }

    /// Whether the expression can be evaluated for every feature: it has no error, and reads no layers.
    var isSupported: Bool { script.problems.isEmpty && !script.reads.needsData }

    /// The fields of the feature that it reads; nil where only a run can tell.
    var fields: Set<String>? { script.reads.readsOtherFields ? nil : script.reads.fields["$feature"] ?? [] }

    /// The value for a feature; nil where the expression fails with it, as one that reads a field that is not there.
    private func value(for feature: any GeoElement) -> ArcadeValue? {
        let table = (feature as? Feature)?.table
        var context = ArcadeSnapshot(feature, table, timeZone: table?.timeZone ?? .current).context
        // The same feature looks the same each time that it is drawn.
        context.seed = 0
        return try? script.value(context)
    }

    /// The value as a number: for class breaks and visual variables.
    func number(for feature: any GeoElement) -> Double? {
        switch value(for: feature) {
        case .number(let number): number.isFinite ? number : nil
        case .text(let text): Double(text)
        case .date(let date): date.milliseconds
        default: nil
        }
    }

    /// The value as text: for unique values. A missing value is `<Null>`, as in fields; nil where the expression fails.
    func text(for feature: any GeoElement) -> String? {
        switch value(for: feature) {
        case nil: nil
        case .null: RendererFields.text(nil as String?)
        case .number(let number): RendererFields.text(number)
        case .boolean(let truth): truth ? "true" : "false"
        case let value?: value.text
        }
    }
}
