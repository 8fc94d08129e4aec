import FieldworkGeometry
public import Foundation
import Synchronization

/// Something whose features have pop-ups.
public protocol PopupSource: AnyObject, Sendable {
    /// What the pop-ups are made of; nil where nobody has said.
    var popupDefinition: PopupDefinition? { get set }
    /// Whether its features have pop-ups.
    var popupsAreEnabled: Bool { get set }
}

/// What pop-ups are made of: a title, elements, fields with their formats, expressions. Members of its JSON that the SDK
/// does not know are kept.
public final class PopupDefinition: Sendable {
    private struct Content: Sendable {
        var json: JSONObject
        var fields: [PopupField]
        var media: [PopupMedia]
        var expressions: [PopupExpression]
        /// nil where the document says nothing of elements.
        var elements: [PopupElement]?
        var allowsEdit = true
        var allowsDelete = true
        var allowsEditGeometry = true
    }

    private let content: Mutex<Content>

    /// A definition without anything.
    public convenience init() { self.init(JSONObject()) }

    /// The definition that a layer or table has when nobody has made one: all fields that people care for.
    public convenience init(popupSource: any PopupSource) {
        let table = popupSource as? FeatureTable ?? (popupSource as? FeatureLayer)?.featureTable
        let name = (popupSource as? FeatureLayer)?.name ?? table?.displayName ?? ""
        self.init(table?.definition.map { DefaultPopup.json(of: $0, named: name) } ?? JSONObject())
    }

    /// The definition that a feature has when nobody has made one.
    public convenience init(geoElement: any GeoElement) {
        if let table = (geoElement as? Feature)?.table, table.definition != nil {
            self.init(popupSource: table)
        } else {
            self.init(DefaultPopup.json(of: geoElement.attributes.keys.sorted()))
        }
    }

    init(_ json: JSONObject) {
        content = Mutex(
            Content(
                json: json,
                fields: (json["fieldInfos"]?.arrayValue ?? []).compactMap(\.objectValue).map(PopupField.init),
                media: (json["mediaInfos"]?.arrayValue ?? []).map(PopupMedia.init),
                expressions: (json["expressionInfos"]?.arrayValue ?? []).compactMap(\.objectValue)
                    .map(PopupExpression.init),
                elements: json["popupElements"]?.arrayValue?.map(PopupElement.make)))
    }

    // MARK: JSON

    /// Reads a web map's `popupInfo`. Throws `CommonError.invalidJSON`.
    public static func fromJSON(_ json: Data) throws -> PopupDefinition {
        guard let object = try? JSONParser.parse(json).objectValue else {
            throw CommonError.invalidJSON(details: "The text is not the definition of a pop-up.")
        }
        return PopupDefinition(object)
    }

    /// The definition as web maps write it: as it was read, with what was changed since.
    public func toJSON() -> Data { Data(json.text.utf8) }

    var json: JSONValue {
        content.withLock { content in
            var json = content.json
            if !content.fields.isEmpty || json["fieldInfos"]?.arrayValue != nil {
                json["fieldInfos"] = .array(content.fields.map(\.json))
            }
            if let elements = content.elements { json["popupElements"] = .array(elements.map(\.json)) }
            return .object(json)
        }
    }

    // MARK: Content

    /// The title, with `{FIELD}` where values go.
    public var title: String {
        get { content.withLock { $0.json["title"]?.stringValue ?? "" } }
        set { content.withLock { $0.json["title"] = .string(newValue) } }
    }

    /// The text of pop-ups that have no elements of their own, in HTML.
    var text: String { content.withLock { $0.json["description"]?.stringValue ?? "" } }

    /// The fields, expressions and related fields with labels and formats.
    public var fields: [PopupField] { content.withLock { $0.fields } }

    /// The expressions that are referred to by name.
    public var expressions: [PopupExpression] { content.withLock { $0.expressions } }

    var media: [PopupMedia] { content.withLock { $0.media } }

    /// What the pop-up shows, in order.
    public var elements: [PopupElement] {
        content.withLock { $0.elements } ?? DefaultPopup.elements(of: self)
    }

    /// Adds an element at the end.
    public func addElement(_ element: PopupElement) {
        let present = elements
        content.withLock { $0.elements = ($0.elements ?? present) + [element] }
    }

    /// Takes an element away.
    public func removeElement(_ element: PopupElement) {
        let present = elements
        content.withLock { $0.elements = ($0.elements ?? present).filter { $0 !== element } }
    }

    /// Takes all elements away: the pop-up has a title and nothing else.
    public func removeAllElements() { content.withLock { $0.elements = [] } }

    /// Adds a field at the end.
    public func addField(_ field: PopupField) { content.withLock { $0.fields.append(field) } }

    /// Takes a field away.
    public func removeField(_ field: PopupField) { content.withLock { $0.fields.removeAll { $0 === field } } }

    /// The field of a name, without regard to case.
    func field(named name: String) -> PopupField? {
        fields.first { $0.fieldName.lowercased() == name.lowercased() }
    }

    // MARK: Options

    /// Whether attachments are shown; for pop-ups without elements of their own.
    public var showsAttachments: Bool {
        get { content.withLock { $0.json["showAttachments"]?.boolValue ?? false } }
        set { content.withLock { $0.json["showAttachments"] = .bool(newValue) } }
    }

    /// Whether related records are shown; for pop-ups without elements of their own.
    var showsRelatedRecords: Bool {
        content.withLock { $0.json["relatedRecordsInfo"]?["showRelatedRecords"]?.boolValue ?? false }
    }

    /// The order of related records where an element does not say.
    func relatedOrder(of relationshipID: Int) -> [OrderBy] {
        let keys = content.withLock { $0.json["relatedRecordsInfo"]?["orderByFields"]?.arrayValue ?? [] }
        return keys.compactMap { OrderBy(popupJSON: $0, prefix: "relationships/\(relationshipID)/") }
    }

    /// Whether who edited the feature last, and when, is shown.
    public var showsEditInfo: Bool {
        get { content.withLock { $0.json["showLastEditInfo"]?.boolValue ?? false } }
        set { content.withLock { $0.json["showLastEditInfo"] = .bool(newValue) } }
    }

    /// Whether an app should let features be edited. It is not part of the document.
    public var allowsEdit: Bool {
        get { content.withLock { $0.allowsEdit } }
        set { content.withLock { $0.allowsEdit = newValue } }
    }

    /// Whether an app should let features be deleted. It is not part of the document.
    public var allowsDelete: Bool {
        get { content.withLock { $0.allowsDelete } }
        set { content.withLock { $0.allowsDelete = newValue } }
    }

    /// Whether an app should let geometries be edited. It is not part of the document.
    public var allowsEditGeometry: Bool {
        get { content.withLock { $0.allowsEditGeometry } }
        set { content.withLock { $0.allowsEditGeometry = newValue } }
    }
}
