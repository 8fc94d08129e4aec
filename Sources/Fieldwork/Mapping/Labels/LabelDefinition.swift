import FieldworkGeometry
public import Foundation
import Synchronization

/// Which features have a label, what it says and how it looks. Members of its JSON that the SDK does not know are kept.
public final class LabelDefinition: Sendable {
    private let content: Mutex<JSONObject>

    /// A label for all features.
    public convenience init(labelExpression: LabelExpression, textSymbol: TextSymbol) {
        var json = JSONObject(["symbol": textSymbol.json])
        switch labelExpression {
        case let expression as ArcadeLabelExpression:
            json["labelExpressionInfo"] = ["expression": .string(expression.expression)]
        case let expression as WebMapLabelExpression:
            json["labelExpressionInfo"] = ["value": .string(expression.expression)]
        default: json["labelExpression"] = .string(labelExpression.text)
        }
        self.init(json)
    }

    init(_ json: JSONObject) { content = Mutex(json) }

    /// Reads a class of a layer's `labelingInfo`. Throws `CommonError.invalidJSON`.
    public static func fromJSON(_ json: Data) throws -> LabelDefinition {
        guard let object = try? JSONParser.parse(json).objectValue else {
            throw CommonError.invalidJSON(details: "The text is not the definition of a label.")
        }
        return LabelDefinition(object)
    }

    /// The definition as web maps write it: as it was read, with what was changed since.
    public func toJSON() -> Data { Data(json.text.utf8) }

    var json: JSONValue { .object(content.withLock { $0 }) }

    // MARK: What it says

    /// What the label says; nil when the document doesn't tell.
    public var labelExpression: LabelExpression? {
        let info = member("labelExpressionInfo")
        if let text = info?["expression"]?.stringValue { return ArcadeLabelExpression(arcadeString: text) }
        if let text = info?["value"]?.stringValue { return WebMapLabelExpression(webMapExpression: text) }
        return member("labelExpression")?.stringValue.map(SimpleLabelExpression.init(simpleExpression:))
    }

    /// Whether the names of coded values are shown in place of the codes. Expressions in Arcade ask for names themselves.
    public var usesCodedValues: Bool {
        get { member("useCodedValues")?.boolValue ?? false }
        set { set("useCodedValues", .bool(newValue)) }
    }

    /// How the values of a field are shown.
    func format(of field: String) -> ValueFormatter.Format {
        let infos = member("fieldInfos")?.arrayValue ?? []
        let info = infos.first { $0["fieldName"]?.stringValue?.lowercased() == field.lowercased() }
        return ValueFormatter.Format(format: info?["format"], fieldFormat: info?["fieldFormat"])
    }

    // MARK: Which features

    /// A condition in SQL for the features that have the label; empty for all.
    public var whereClause: String {
        get { member("where")?.stringValue ?? "" }
        set { set("where", .string(newValue)) }
    }

    /// The smallest scale at which the label is shown, as a denominator; nil for none.
    public var minScale: Double? {
        get { scale("minScale") }
        set { set("minScale", newValue.map(JSONValue.number)) }
    }

    /// The largest scale at which the label is shown, as a denominator; nil for none.
    public var maxScale: Double? {
        get { scale("maxScale") }
        set { set("maxScale", newValue.map(JSONValue.number)) }
    }

    func isInRange(atScale scale: Double) -> Bool {
        minScale.map { scale <= $0 } ?? true && maxScale.map { scale >= $0 } ?? true
    }

    // MARK: Looks

    /// How the label looks.
    public var textSymbol: TextSymbol? {
        get { member("symbol")?.objectValue.map(TextSymbol.init) }
        set { set("symbol", newValue?.json) }
    }

    /// Where the label is set beside its feature.
    public var placement: LabelPlacement {
        get { member("labelPlacement")?.stringValue.flatMap(LabelPlacement.init) ?? .automatic }
        set { set("labelPlacement", newValue == .automatic ? nil : .string(newValue.rawValue)) }
    }

    private func member(_ key: String) -> JSONValue? { content.withLock { $0[key] } }

    private func scale(_ key: String) -> Double? { member(key)?.doubleValue.flatMap { $0 > 0 ? $0 : nil } }

    private func set(_ key: String, _ value: JSONValue?) { content.withLock { $0[key] = value } }
}

/// Where a label is set beside its feature.
public enum LabelPlacement: String, Sendable, Hashable, CaseIterable {
    /// As suits who draws it.
    case automatic = ""
    /// Above a point, to its left.
    case pointAboveLeft = "esriServerPointLabelPlacementAboveLeft"
    /// Above a point, in line with it.
    case pointAboveCenter = "esriServerPointLabelPlacementAboveCenter"
    /// Above a point, to its right.
    case pointAboveRight = "esriServerPointLabelPlacementAboveRight"
    /// Beside a point, to its left.
    case pointCenterLeft = "esriServerPointLabelPlacementCenterLeft"
    /// On a point.
    case pointCenterCenter = "esriServerPointLabelPlacementCenterCenter"
    /// Beside a point, to its right.
    case pointCenterRight = "esriServerPointLabelPlacementCenterRight"
    /// Below a point, to its left.
    case pointBelowLeft = "esriServerPointLabelPlacementBelowLeft"
    /// Below a point, in line with it.
    case pointBelowCenter = "esriServerPointLabelPlacementBelowCenter"
    /// Below a point, to its right.
    case pointBelowRight = "esriServerPointLabelPlacementBelowRight"
    /// Above a line, along it.
    case lineAboveAlong = "esriServerLinePlacementAboveAlong"
    /// Above a line, before its start.
    case lineAboveBefore = "esriServerLinePlacementAboveBefore"
    /// Above a line, at its start.
    case lineAboveStart = "esriServerLinePlacementAboveStart"
    /// Above a line, at its end.
    case lineAboveEnd = "esriServerLinePlacementAboveEnd"
    /// Above a line, after its end.
    case lineAboveAfter = "esriServerLinePlacementAboveAfter"
    /// On a line, along it.
    case lineCenterAlong = "esriServerLinePlacementCenterAlong"
    /// On a line, before its start.
    case lineCenterBefore = "esriServerLinePlacementCenterBefore"
    /// On a line, at its start.
    case lineCenterStart = "esriServerLinePlacementCenterStart"
    /// On a line, at its end.
    case lineCenterEnd = "esriServerLinePlacementCenterEnd"
    /// On a line, after its end.
    case lineCenterAfter = "esriServerLinePlacementCenterAfter"
    /// Below a line, along it.
    case lineBelowAlong = "esriServerLinePlacementBelowAlong"
    /// Below a line, before its start.
    case lineBelowBefore = "esriServerLinePlacementBelowBefore"
    /// Below a line, at its start.
    case lineBelowStart = "esriServerLinePlacementBelowStart"
    /// Below a line, at its end.
    case lineBelowEnd = "esriServerLinePlacementBelowEnd"
    /// Below a line, after its end.
    case lineBelowAfter = "esriServerLinePlacementBelowAfter"
    /// In the middle of an area, never turned.
    case polygonAlwaysHorizontal = "esriServerPolygonPlacementAlwaysHorizontal"
}
