import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// Shows and edits one pop-up: its fields, its related records, its attachments. Edits are made in sessions:
/// `startEditing`, changes, then `finishEditing` or `cancelEditing`. Not part of the vendor's present API; older ones had
/// a class of this name.
public final class PopupManager: Sendable {
    private struct Parent: Sendable {
        var relationship: OneToManyRelationship
    }

    private struct State: Sendable {
        var form: FeatureForm?
        var parents: [Parent] = []
    }

    /// What is shown and edited.
    public let popup: Popup
    /// The related records; nil for something without. Load them before they are shown or edited.
    public let relationships: PopupRelationships?
    /// The attachments; nil for something without. Fetch them before they are shown.
    public let attachments: PopupAttachments?
    private let state = Mutex(State())

    /// A manager of a pop-up.
    public init(popup: Popup) {
        self.popup = popup
        relationships = PopupRelationships(popup: popup)
        attachments = Self.attachments(of: popup)
    }

    /// A manager of a new record, which joins a parent's records when it is saved.
    init(popup: Popup, parent: OneToManyRelationship) {
        self.popup = popup
        relationships = PopupRelationships(popup: popup)
        attachments = Self.attachments(of: popup)
        state.withLock { $0.parents = [Parent(relationship: parent)] }
    }

    private static func attachments(of popup: Popup) -> PopupAttachments? {
        guard let feature = popup.geoElement as? ArcGISFeature, let table = feature.table as? ArcGISFeatureTable else {
            return nil
        }
        return table.hasAttachments ? PopupAttachments(feature: feature) : nil
    }

    var feature: ArcGISFeature? { popup.geoElement as? ArcGISFeature }

    // MARK: Fields

    /// The title.
    public var title: String { popup.title }

    /// The fields that are shown.
    public var displayFields: [PopupField] { popup.definition.fields.filter(\.isVisible) }

    /// The fields that are shown in an editing session: those that author, field and table allow to edit.
    public var editableDisplayFields: [PopupField] {
        guard let context else { return [] }
        return displayFields.filter { field in
            guard field.isEditable, case .field(let name) = field.name, let column = context.layer?.field(named: name)
            else { return false }
            return context.accepts(column)
        }
    }

    private var context: FormContext? {
        feature.map { FormContext(feature: $0, definition: FeatureFormDefinition()) }
    }

    /// What stands before a field's value.
    public func label(of field: PopupField) -> String { values.label(of: field) }

    /// The present value of a field as people read it.
    public func formattedValue(of field: PopupField) -> String {
        field.name.map { values.text($0, as: field) } ?? ""
    }

    private var values: PopupValues {
        PopupEvaluator(
            definition: popup.definition, geoElement: popup.geoElement,
            expressions: ArcGISEnvironment.expressionEvaluator
        ).ownValues
    }

    // MARK: Sessions

    /// Whether the feature may be edited: by the definition, and by its table.
    public var shouldAllowEdit: Bool {
        guard let feature, let table = feature.table, popup.definition.allowsEdit else { return false }
        return feature.origin == nil ? table.canAdd : table.canUpdate(feature)
    }

    /// Whether the feature may be deleted: by the definition, and by its table.
    public var shouldAllowDelete: Bool {
        guard let feature, let table = feature.table, feature.origin != nil else { return false }
        return popup.definition.allowsDelete && table.canDelete(feature)
    }

    /// Whether a session is under way.
    public var isEditing: Bool { state.withLock { $0.form != nil } }

    /// Whether the session has changed something.
    public var hasEdits: Bool {
        guard let form = state.withLock({ $0.form }) else { return false }
        return form.hasEdits || relationships?.manyToOne.contains(where: \.hasStagedChange) == true
            || attachments?.hasEdits == true
    }

    /// Begins a session; false when the feature may not be edited or a session is under way.
    @discardableResult
    public func startEditing() -> Bool {
        guard shouldAllowEdit, let feature else { return false }
        let form = FeatureForm(feature: feature, definition: formDefinition)
        return state.withLock { state in
            if state.form != nil { return false }
            state.form = form
            attachments?.begin()
            return true
        }
    }

    /// The session's fields as a form: one element a field, with the input that the pop-up asks for.
    private var formDefinition: FeatureFormDefinition {
        let layer = feature?.table?.definition
        let elements = editableDisplayFields.map { field -> JSONValue in
            var element: JSONObject = JSONObject([
                "type": "field", "fieldName": .string(field.fieldName), "label": .string(label(of: field)),
            ])
            let isText = layer?.field(named: field.fieldName).map { $0.type == .string && $0.domain == nil } ?? false
            if isText, [.multiLine, .richText].contains(field.stringFieldOption) {
                element["inputType"] = ["type": "text-area"]
            }
            return .object(element)
        }
        return FeatureFormDefinition(JSONObject(["formElements": .array(elements)]))
    }

    private func session() throws -> FeatureForm {
        guard let form = state.withLock({ $0.form }) else {
            throw CommonError.illegalState(details: "No editing session is under way.")
        }
        return form
    }

    private func element(of field: PopupField) throws -> FieldFormElement {
        let name = field.fieldName.lowercased()
        let elements = try session().elements.lazy.compactMap { $0 as? FieldFormElement }
        guard let element = elements.first(where: { $0.fieldName.lowercased() == name }) else {
            throw CommonError.invalidArgument(details: "The field \(field.fieldName) is not edited here.")
        }
        return element
    }

    /// How the value of a field is put in; nil outside of a session and for fields that are not edited.
    public func formElement(of field: PopupField) -> FieldFormElement? { try? element(of: field) }

    /// Sets the value of a field; nil clears it. Throws a `FeatureFormError` that says why a value is not valid: it is
    /// kept, and the session can't be finished before it is mended.
    public func updateValue(_ value: (any Sendable)?, field: PopupField) throws {
        let element = try element(of: field)
        element.updateValue(value)
        if let error = element.validationErrors.first { throw error }
    }

    /// Why the value of a field can't be saved; nil for a valid one.
    public func validationError(of field: PopupField) -> (any Error)? {
        formElement(of: field)?.validationErrors.first
    }

    /// Chooses the record that the feature shall refer to. Only in a session; it is related when that is finished.
    public func update(manyToOne popup: Popup, in relationship: ManyToOneRelationship) throws {
        _ = try session()
        try relationship.stage(popup)
    }

    /// Ends the session and goes back to its beginning: the chosen records first, then the values, then the attachments.
    public func cancelEditing() {
        guard let form = state.withLock({ $0.form }) else { return }
        for relationship in relationships?.manyToOne ?? [] { relationship.cancelChange() }
        form.discardEdits()
        attachments?.discard()
        state.withLock { $0.form = nil }
    }

    /// Saves the session: relates the feature to the records that were chosen, then tells the parents' lists, then saves
    /// the values and the attachments. Everything is on this device's disk when the call returns. Throws a
    /// `FeatureFormError` while a value is not valid or a record that must be chosen is not; then nothing is saved, and the
    /// session goes on. What the map's rules say of the parents is saved after it.
    public func finishEditing() async throws {
        let form = try session()
        let chosen = relationships?.loadStatus == .loaded ? relationships?.manyToOne ?? [] : []
        for relationship in chosen where relationship.relationshipInfo.isComposite && relationship.relatedPopup == nil {
            throw FeatureFormError.fieldIsRequired(details: "\(relationship.name) is required.")
        }
        for case let element as FieldFormElement in form.elements {
            if let error = element.validationErrors.first { throw error }
        }
        let isNew = feature?.origin == nil
        for relationship in chosen { try relationship.relate() }
        let parents = state.withLock { $0.parents }
        for parent in parents { parent.relationship.note(popup) }
        do {
            try await form.finishEditing()
        } catch {
            // A record that could not be saved is not one of its parent's.
            if isNew { for parent in parents { parent.relationship.forget(popup) } }
            throw error
        }
        for relationship in chosen { relationship.noteSaved() }
        // A feature has to be part of its table before it has attachments.
        try await attachments?.commit()
        state.withLock { $0.form = nil }
        for parent in parents {
            try await parent.relationship.fetch()
            try await parent.relationship.feature.followNewestRecords()
        }
    }

    // MARK: Related records and deletion

    /// A manager of a new record that refers to the feature, in a session of its own. Throws while this session is under
    /// way (save it first), and when the table of the records does not take new ones.
    public func makeRecord(in relationship: OneToManyRelationship) throws -> PopupManager {
        guard let feature else { throw CommonError.illegalState(details: "There is no feature to refer to.") }
        try refuseWhileEditing()
        guard relationship.table.canAdd else {
            throw GeodatabaseError.tableNotEditable(
                details: "The table \(relationship.table.displayName) does not allow to add features.")
        }
        guard let record = relationship.table.makeFeature() as? ArcGISFeature else {
            throw CommonError.internalError(details: "The table makes no features.")
        }
        try feature.relate(to: record, using: relationship.relationshipInfo)
        let manager = PopupManager(popup: Popup(geoElement: record), parent: relationship)
        manager.startEditing()
        return manager
    }

    /// A manager of one of the records that refer to the feature, which tells the list when it is saved.
    public func manager(of record: Popup, in relationship: OneToManyRelationship) throws -> PopupManager {
        try refuseWhileEditing()
        return PopupManager(popup: record, parent: relationship)
    }

    /// Deletes one of the records that refer to the feature. Throws while this session is under way.
    public func delete(oneToMany record: Popup, in relationship: OneToManyRelationship) async throws {
        try refuseWhileEditing()
        try await PopupManager(popup: record, parent: relationship).delete()
    }

    private func refuseWhileEditing() throws {
        if isEditing {
            throw CommonError.illegalState(details: "Save or cancel this session before related records are edited.")
        }
    }

    /// Deletes the feature, and with it the records that are parts of it. The service is told by `applyEdits`.
    public func delete() async throws {
        guard let feature, let table = feature.table, shouldAllowDelete else {
            throw GeodatabaseError.tableNotEditable(details: "The feature can't be deleted.")
        }
        cancelEditing()
        let parts = (table as? ArcGISFeatureTable)?.relationshipInfos ?? []
        for info in parts where info.isComposite && info.role == .origin && info.cardinality != .manyToMany {
            let parameters = RelatedQueryParameters(relationshipInfo: info)
            let found = try await (table as? ArcGISFeatureTable)?.queryRelatedFeatures(to: feature, using: parameters)
            for result in found ?? [] {
                let records = Array(result.features())
                if !records.isEmpty { try await result.relatedTable?.delete(records) }
            }
        }
        try await table.delete(feature)
        for parent in state.withLock({ $0.parents }) {
            parent.relationship.forget(popup)
            try await parent.relationship.feature.followNewestRecords()
        }
    }
}
