import FieldworkREST
import Foundation

/// The ids that a request gives to its new features until the store gives them their own: negative object ids, and global
/// ids where the store makes those. Keys of the same request that name them get what they became.
struct ProvisionalIDs {
    private var objectIDs: [Int: [Int64: Int64?]] = [:]
    private var globalIDs: [Int: [UUID: UUID?]] = [:]

    /// Remembers what became of the features that a layer's adds wanted to be.
    mutating func note(_ adds: [FeatureEdit], _ results: [EditResult], layerID: Int) {
        for (add, result) in zip(adds, results) {
            if let id = add.provisionalObjectID {
                objectIDs[layerID, default: [:]][id] = .some(result.isSuccess ? result.objectID : nil)
            }
            if let id = add.provisionalGlobalID {
                globalIDs[layerID, default: [:]][id] = .some(result.isSuccess ? result.globalID : nil)
            }
        }
    }

    /// The edit with its keys in place of provisional ids. One that names a feature that could not be added fails.
    func resolved(
        _ edit: FeatureEdit, _ references: [LayerRelationships.Reference], layer: StoredLayer,
        on connection: StoreConnection
    ) throws -> FeatureEdit {
        if objectIDs.isEmpty, globalIDs.isEmpty { return edit }
        var resolved = edit
        for index in edit.attributes.indices {
            let (name, value) = edit.attributes[index]
            guard !value.isNull, let column = layer.index(of: name),
                let reference = references.first(where: { $0.column == column })
            else { continue }
            guard let found = try actual(value, reference.target, on: connection) else { continue }
            guard let actual = found else {
                resolved.rejection = EditError(
                    code: 1000, description: "Field \(name): the feature that it names could not be added.")
                continue
            }
            resolved.attributes[index].value = actual
        }
        return resolved
    }

    /// What a key that is a provisional id became; nil when it is none, `.some(nil)` when its feature could not be added.
    private func actual(
        _ value: AttributeValue, _ target: KeyColumn, on connection: StoreConnection
    ) throws -> AttributeValue?? {
        let layerID = target.layer.definition.id
        switch target.meaning {
        case .objectID:
            let number = value.integerValue ?? value.textValue.flatMap { Int64($0) }
            guard let number, let found = objectIDs[layerID]?[number] else { return nil }
            return .some(found.map(AttributeValue.integer))
        case .globalID:
            guard let id = value.textValue.flatMap(GUID.parse), let found = globalIDs[layerID]?[id] else { return nil }
            // A feature that has this id already is the one that is meant: copies carry the ids of their pattern.
            let existing = try connection.integer("SELECT 1 FROM \(target.table) WHERE \(target.sql) = ?") {
                try $0.bind(GUID.normalForm(id), at: 1)
            }
            if existing != nil { return nil }
            return .some(found.map { .text(GUID.normalForm($0)) })
        case .field: return nil
        }
    }

    /// The order in which adds of a layer that refers to itself have to be done: those that are named before those that
    /// name them, as far as circles allow.
    static func order(of adds: [FeatureEdit], _ relationships: LayerRelationships, _ layer: StoredLayer) -> [Int] {
        let own = relationships.references.filter { $0.target.layer.definition.id == layer.definition.id }
        guard !own.isEmpty, adds.count > 1 else { return Array(adds.indices) }
        var positions: [AttributeValue: Int] = [:]
        for (index, add) in adds.enumerated() {
            if let id = add.provisionalObjectID { positions[.integer(id)] = index }
            for id in [add.globalID, add.provisionalGlobalID].compactMap(\.self) {
                positions[.text(GUID.normalForm(id))] = index
            }
        }
        func named(by add: FeatureEdit) -> [Int] {
            add.attributes.compactMap { name, value in
                guard let column = layer.index(of: name), own.contains(where: { $0.column == column }) else {
                    return nil
                }
                if let id = value.textValue.flatMap(GUID.parse) { return positions[.text(GUID.normalForm(id))] }
                return positions[value]
            }
        }
        var order: [Int] = []
        var isSeen = [Bool](repeating: false, count: adds.count)
        for start in adds.indices where !isSeen[start] {
            // A chain may be as long as the request: a list, not the call stack.
            var stack = [(index: start, isReady: false)]
            while let (index, isReady) = stack.popLast() {
                if isReady {
                    order.append(index)
                } else if !isSeen[index] {
                    isSeen[index] = true
                    stack.append((index, true))
                    for other in named(by: adds[index]) where !isSeen[other] { stack.append((other, false)) }
                }
            }
        }
        return order
    }
}
