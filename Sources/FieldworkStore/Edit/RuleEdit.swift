import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// An edit of another feature that an attribute rule asks for.
struct RuleEdit: Sendable {
    enum Change: Sendable {
        case add(FeatureEdit)
        case update(FeatureEdit)
        case delete(FeatureIdentifier)
    }

    /// The name of the rule.
    let rule: String
    let layerID: Int
    let change: Change
}

/// Reads the member `edit` of a rule's result: for each layer, what is added, updated and deleted there.
struct RuleEditReader {
    let rule: String
    let catalogue: ServiceCatalogue

    func edits(_ value: ArcadeValue) throws(EditError) -> [RuleEdit] {
        let entries: [ArcadeValue]
        switch value {
        case .array(let array): entries = array
        case .dictionary: entries = [value]
        default: throw broken("its 'edit' is no list of edits")
        }
        var all: [RuleEdit] = []
        for entry in entries { all += try edits(of: entry) }
        return all
    }

    private func broken(_ why: String) -> EditError {
        EditError(code: 1000, description: "The rule \(rule) can't be kept: \(why).")
    }

    private func edits(of entry: ArcadeValue) throws(EditError) -> [RuleEdit] {
        try check(entry, ["classname", "adds", "updates", "deletes"], "an edit")
        guard case .text(let name)? = entry["className"] else { throw broken("an edit has no className") }
        let found = catalogue.layers.values.filter { $0.definition.name.lowercased() == name.lowercased() }
        guard let layer = found.min(by: { $0.definition.id < $1.definition.id }) else {
            throw broken("the service has no layer \(name.prefix(80))")
        }
        var changes: [RuleEdit.Change] = []
        for value in try list(entry, "adds") { changes.append(.add(try feature(value, layer, isNew: true))) }
        for value in try list(entry, "updates") { changes.append(.update(try feature(value, layer, isNew: false))) }
        for value in try list(entry, "deletes") {
            try check(value, ["objectid", "globalid"], "a delete")
            changes.append(.delete(try identifier(value, "a delete")))
        }
        return changes.map { RuleEdit(rule: rule, layerID: layer.definition.id, change: $0) }
    }

    /// A member that is not known may mean something that would be left undone.
    private func check(_ value: ArcadeValue, _ known: Set<String>, _ what: String) throws(EditError) {
        guard case .dictionary(let members) = value else { throw broken("\(what) is no dictionary") }
        for member in members where !known.contains(member.key.lowercased()) {
            throw broken("\(what) has '\(member.key.prefix(80))', which is not carried out")
        }
    }

    private func list(_ entry: ArcadeValue, _ name: String) throws(EditError) -> [ArcadeValue] {
        switch entry[name] {
        case nil, .null?: return []
        case .array(let elements)?: return elements
        default: throw broken("'\(name)' of an edit is no list")
        }
    }

    private func feature(_ value: ArcadeValue, _ layer: StoredLayer, isNew: Bool) throws(EditError) -> FeatureEdit {
        let what = isNew ? "an add" : "an update"
        try check(value, ["attributes", "geometry", "globalid", "objectid"], what)
        var edit = FeatureEdit()
        if isNew {
            if value["objectID"] != nil { throw broken("an add brings no objectID") }
            if value["globalID"] != nil { edit.globalID = try globalID(value, what) }
        } else {
            switch try identifier(value, what) {
            case .objectID(let id): edit.objectID = id
            case .globalID(let id): edit.globalID = id
            }
        }
        if case .dictionary(let members)? = value["attributes"] {
            for member in members { edit.attributes.append((member.key, try attribute(member, layer))) }
        }
        edit.geometry = try geometry(value["geometry"], layer)
        return edit
    }

    private func attribute(_ member: ArcadeMember, _ layer: StoredLayer) throws(EditError) -> AttributeValue {
        guard let index = layer.index(of: member.key), layer.columns[index].isStored, index != layer.objectIDIndex,
            index != layer.globalIDIndex
        else { throw broken("the field \(member.key.prefix(80)) of \(layer.definition.name) can't be set") }
        do { return try AttributeValue(ofRule: member.value, in: layer.columns[index]) } catch {
            throw broken(error.why)
        }
    }

    private func geometry(
        _ value: ArcadeValue?, _ layer: StoredLayer
    ) throws(EditError) -> FeatureEdit.GeometryEdit {
        switch value {
        case nil: return .unchanged
        case .null?: return .null
        case .geometry(let geometry)? where layer.geometryColumn != nil: return .geometry(geometry)
        default: throw broken("a geometry is none that a feature of \(layer.definition.name) can have")
        }
    }

    private func identifier(_ value: ArcadeValue, _ what: String) throws(EditError) -> FeatureIdentifier {
        switch value["objectID"] {
        case .number(let number)?:
            guard let id = Int64(exactly: number) else { throw broken("the objectID of \(what) is none") }
            return .objectID(id)
        case nil, .null?: return .globalID(try globalID(value, what))
        default: throw broken("the objectID of \(what) is none")
        }
    }

    private func globalID(_ value: ArcadeValue, _ what: String) throws(EditError) -> UUID {
        guard case .text(let text)? = value["globalID"], let id = GUID.parse(text) else {
            throw broken("\(what) needs an objectID or a globalID")
        }
        return id
    }
}

/// Why a value of a rule can't be stored.
struct RuleValueError: Error {
    let why: String
}

extension AttributeValue {
    /// What a rule gives, as an edit brings it; its type and domain are checked as those of every other value. A field of text
    /// takes numbers and truths as the language writes them.
    /// - Parameter column: the column that it is for.
    init(ofRule value: ArcadeValue, in column: StoredColumn?) throws(RuleValueError) {
        switch value {
        case .null: self = .null
        case .boolean where column?.kind == .text: self = .text(value.text)
        case .number(let number) where column?.kind == .text && number.isFinite: self = .text(value.text)
        case .boolean(let truth): self = .integer(truth ? 1 : 0)
        case .number(let number):
            guard number.isFinite else { throw RuleValueError(why: "its result is no number") }
            self = Int64(exactly: number).map(AttributeValue.integer) ?? .real(number)
        case .date(let date):
            guard let moment = Int64(exactly: date.milliseconds.rounded()) else {
                throw RuleValueError(why: "its date is none")
            }
            self = .integer(moment)
        case .text, .dateOnly, .time: self = .text(value.text)
        default: throw RuleValueError(why: "its result is no value of a field")
        }
    }
}
