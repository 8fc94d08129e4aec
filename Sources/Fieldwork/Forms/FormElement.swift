import FieldworkGeometry
import FieldworkREST
import Synchronization

/// A part of a form. It is the same object as long as the form lives.
///
/// What changes is in `Streamed`, which locks for itself.
public class FormElement: Hashable, @unchecked Sendable {
    /// The part as it was authored.
    let json: JSONValue
    /// The form that it is part of; nil in a definition.
    let context: FormContext?
    /// Whether it is shown.
    @Streamed public internal(set) var isVisible = true
    /// Whether its value may be changed.
    @Streamed public internal(set) var isEditable = false

    init(_ json: JSONValue, _ context: FormContext?) {
        self.json = json
        self.context = context
    }

    /// The part that a web map describes; nil for a kind that is kept and not shown.
    static func make(_ json: JSONValue, _ context: FormContext?) -> FormElement? {
        switch json["type"]?.stringValue?.lowercased() {
        case "field": FieldFormElement(json, context)
        case "group": GroupFormElement(json, context)
        case "text": TextFormElement(json, context)
        case "relationship": RelationshipFormElement(json, context)
        // Without the form's word for it, the default element shows all attachments.
        case "attachment" where context?.showsAttachmentElements != false: AttachmentsFormElement(json, context)
        default: nil
        }
    }

    /// What people see above it.
    public var label: String { json["label"]?.stringValue ?? "" }
    /// What it is for.
    public var description: String { json["description"]?.stringValue ?? "" }

    /// The names of the expressions that the element refers to; nil for none.
    func expression(_ key: String) -> String? { json[key]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }

    /// The same object.
    public static func == (one: FormElement, other: FormElement) -> Bool { one === other }

    /// By identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Elements under one heading.
public final class GroupFormElement: FormElement, @unchecked Sendable {
    /// How a group is shown first.
    public enum InitialState: Sendable {
        /// Its heading alone, or with its elements.
        case collapsed, expanded
    }

    /// The elements.
    public let elements: [FormElement]

    override init(_ json: JSONValue, _ context: FormContext?) {
        elements = (json["formElements"]?.arrayValue ?? []).compactMap { json in
            // Groups do not hold groups.
            json["type"]?.stringValue == "group" ? nil : FormElement.make(json, context)
        }
        super.init(json, context)
    }

    /// How the group is shown first.
    public var initialState: InitialState {
        json["initialState"]?.stringValue?.lowercased() == "collapsed" ? .collapsed : .expanded
    }
}

/// A text between other elements.
public final class TextFormElement: FormElement, @unchecked Sendable {
    /// How the text is written.
    public enum Format: Sendable {
        /// As it is, or in Markdown.
        case plainText, markdown
    }

    /// The text with the feature's present values in it.
    @Streamed public internal(set) var text = ""

    /// How the text is written.
    public var format: Format { json["textFormat"]?.stringValue?.lowercased() == "markdown" ? .markdown : .plainText }

    override init(_ json: JSONValue, _ context: FormContext?) {
        super.init(json, context)
        text = template
    }

    var template: String { json["text"]?.stringValue ?? "" }
}

/// The records of one relationship. Not part of the vendor's API.
public final class RelationshipFormElement: FormElement, @unchecked Sendable {
    /// The relationship's id in the layer.
    public var relationshipID: Int { json["relationshipId"]?.integerValue.map(Int.init(clamping:)) ?? -1 }

    /// How many records are shown before somebody asks for all.
    public var displayCount: Int { json["displayCount"]?.integerValue.map(Int.init(clamping:)) ?? 3 }

    /// The order of the records.
    public var orderByFields: [OrderBy] {
        (json["orderByFields"]?.arrayValue ?? []).compactMap { OrderBy(popupJSON: $0) }
    }
}
