import FieldworkGeometry
import FieldworkREST

/// A part of a pop-up. Parts of a definition are as they were authored; parts of an evaluated pop-up have values.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class PopupElement: @unchecked Sendable {
    /// The part as it was authored.
    let source: JSONValue
    /// What stands above it.
    public let title: String
    /// What it is.
    public let description: String

    /// - Parameters:
    ///   - title: nil for the authored one.
    ///   - description: nil for the authored one.
    init(_ source: JSONValue, title: String? = nil, description: String? = nil) {
        self.source = source
        self.title = title ?? source["title"]?.stringValue ?? ""
        self.description = description ?? source["description"]?.stringValue ?? ""
    }

    /// The part as web maps write it.
    var json: JSONValue { source }

    /// The part of a definition. A kind that the SDK does not know is kept, and not shown.
    static func make(_ json: JSONValue) -> PopupElement {
        switch json["type"]?.stringValue?.lowercased() {
        case "fields": FieldsPopupElement(json)
        case "text": TextPopupElement(json)
        case "media": MediaPopupElement(json)
        case "attachments": AttachmentsPopupElement(json)
        case "relationship": RelationshipPopupElement(json)
        case "expression": ExpressionPopupElement(json)
        default: PopupElement(json)
        }
    }
}

/// A list of fields with their values.
public final class FieldsPopupElement: PopupElement, @unchecked Sendable {
    /// The fields; in a definition without a list of its own, none: then the pop-up's are shown.
    public let fields: [PopupField]
    /// What stands before each value.
    public let labels: [String]
    /// The values as people read them; none in a definition.
    public let formattedValues: [String]

    init(_ json: JSONValue) {
        fields = (json["fieldInfos"]?.arrayValue ?? []).compactMap(\.objectValue).map(PopupField.init)
        labels = fields.map(\.label)
        formattedValues = []
        super.init(json)
    }

    /// Shows some fields.
    public init(fields: [PopupField]) {
        self.fields = fields
        labels = fields.map(\.label)
        formattedValues = []
        super.init(["type": "fields"])
    }

    init(
        _ json: JSONValue, title: String, description: String, fields: [PopupField], labels: [String],
        formattedValues: [String]
    ) {
        self.fields = fields
        self.labels = labels
        self.formattedValues = formattedValues
        super.init(json, title: title, description: description)
    }

    override var json: JSONValue {
        guard var object = source.objectValue, !fields.isEmpty else { return source }
        object["fieldInfos"] = .array(fields.map(\.json))
        return .object(object)
    }
}

/// A text in HTML.
public final class TextPopupElement: PopupElement, @unchecked Sendable {
    /// The text; with values filled in when the pop-up is evaluated. Values are escaped; the author's own HTML is as it
    /// was written.
    public let text: String

    init(_ json: JSONValue) {
        text = json["text"]?.stringValue ?? ""
        super.init(json)
    }

    /// A text, with `{FIELD}` where values go.
    public convenience init(text: String) { self.init(["type": "text", "text": .string(text)]) }

    init(_ json: JSONValue, text: String) {
        self.text = text
        super.init(json)
    }

    /// Whether the element says what to show; else it shows the pop-up's description.
    var hasText: Bool { source["text"]?.stringValue != nil }
}

/// Pictures and charts.
public final class MediaPopupElement: PopupElement, @unchecked Sendable {
    /// The pictures and charts; in a definition without a list of its own, none: then the pop-up's are shown.
    public let media: [PopupMedia]

    init(_ json: JSONValue) {
        media = (json["mediaInfos"]?.arrayValue ?? []).map(PopupMedia.init)
        super.init(json)
    }

    init(_ json: JSONValue, title: String, description: String, media: [PopupMedia]) {
        self.media = media
        super.init(json, title: title, description: description)
    }
}

/// The attachments of the feature.
public final class AttachmentsPopupElement: PopupElement, @unchecked Sendable {
    /// How attachments are shown.
    public enum DisplayType: String, Sendable {
        /// As names, as pictures, as suits the app.
        case list, preview, auto
    }

    let feature: ArcGISFeature?

    init(_ json: JSONValue, feature: ArcGISFeature? = nil, title: String? = nil, description: String? = nil) {
        self.feature = feature
        super.init(json, title: title, description: description)
    }

    /// All attachments.
    public convenience init(displayType: DisplayType = .auto) {
        self.init(["type": "attachments", "displayType": .string(displayType.rawValue)])
    }

    /// How attachments are shown.
    public var displayType: DisplayType { source["displayType"]?.stringValue.flatMap(DisplayType.init) ?? .auto }

    /// The keywords of the attachments that are meant; none for all.
    public var keywords: [String] { source["attachmentKeywords"]?.arrayValue?.compactMap(\.stringValue) ?? [] }
}

/// The records of one relationship.
public final class RelationshipPopupElement: PopupElement, @unchecked Sendable {
    /// The feature whose records are meant; nil in a definition.
    public let feature: ArcGISFeature?
    private let fallbackOrder: [OrderBy]

    init(
        _ json: JSONValue, feature: ArcGISFeature? = nil, title: String? = nil, description: String? = nil,
        fallbackOrder: [OrderBy] = []
    ) {
        self.feature = feature
        self.fallbackOrder = fallbackOrder
        super.init(json, title: title, description: description)
    }

    /// The relationship's id in the layer.
    public var relationshipID: Int { source["relationshipId"]?.integerValue.map(Int.init(clamping:)) ?? -1 }

    /// How many records are shown before somebody asks for all.
    public var displayCount: Int { source["displayCount"]?.integerValue.map(Int.init(clamping:)) ?? 3 }

    /// The order of the records: the element's own, else the pop-up's.
    public var orderByFields: [OrderBy] {
        guard let own = source["orderByFields"]?.arrayValue, !own.isEmpty else { return fallbackOrder }
        return own.compactMap { OrderBy(popupJSON: $0) }
    }
}

/// A part that an expression makes. In an evaluated pop-up it is there only when the expression could not be evaluated.
public final class ExpressionPopupElement: PopupElement, @unchecked Sendable {
    /// Why there is nothing in its place; nil in a definition.
    public let error: (any Error)?

    init(_ json: JSONValue, error: (any Error)? = nil) {
        self.error = error
        super.init(json, title: json["expressionInfo"]?["title"]?.stringValue)
    }

    /// The expression that makes the part.
    public var expression: PopupExpression { PopupExpression(source["expressionInfo"]?.objectValue ?? JSONObject()) }
}

extension OrderBy {
    /// A key as pop-ups write it: `{field, order}` with `asc` or `desc`.
    convenience init?(popupJSON json: JSONValue, prefix: String = "") {
        guard let name = json["field"]?.stringValue, name.hasPrefix(prefix) else { return nil }
        let isDescending = json["order"]?.stringValue?.lowercased().hasPrefix("desc") == true
        self.init(fieldName: String(name.dropFirst(prefix.count)), sortOrder: isDescending ? .descending : .ascending)
    }
}
