package import FieldworkGeometry

/// What may be done with features by others than their creators (`ownershipBasedAccessControlForFeatures`).
package struct OwnershipAccess: Sendable, Hashable {
    package enum Action: Sendable, Hashable {
        case query, update, delete
    }

    package var allowsOthersToQuery: Bool
    package var allowsOthersToUpdate: Bool
    package var allowsOthersToDelete: Bool
    /// For who has not signed in; nil: as for others.
    package var allowsAnonymousToQuery: Bool?
    package var allowsAnonymousToUpdate: Bool?
    package var allowsAnonymousToDelete: Bool?

    package init(
        allowsOthersToQuery: Bool = true, allowsOthersToUpdate: Bool = true, allowsOthersToDelete: Bool = true,
        allowsAnonymousToQuery: Bool? = nil, allowsAnonymousToUpdate: Bool? = nil, allowsAnonymousToDelete: Bool? = nil
    ) {
        self.allowsOthersToQuery = allowsOthersToQuery
        self.allowsOthersToUpdate = allowsOthersToUpdate
        self.allowsOthersToDelete = allowsOthersToDelete
        self.allowsAnonymousToQuery = allowsAnonymousToQuery
        self.allowsAnonymousToUpdate = allowsAnonymousToUpdate
        self.allowsAnonymousToDelete = allowsAnonymousToDelete
    }

    /// Whether somebody may do it with features that are not his own.
    /// - Parameter editor: who asks, nil when nobody has signed in. Who has not signed in owns nothing.
    package func allows(_ action: Action, by editor: String?) -> Bool {
        let (others, anonymous) =
            switch action {
            case .query: (allowsOthersToQuery, allowsAnonymousToQuery)
            case .update: (allowsOthersToUpdate, allowsAnonymousToUpdate)
            case .delete: (allowsOthersToDelete, allowsAnonymousToDelete)
            }
        return editor == nil ? anonymous ?? others : others
    }
}

extension OwnershipAccess {
    package init?(json: JSONValue?) {
        guard let object = json?.objectValue else { return nil }
        self.init(
            allowsOthersToQuery: object.bool("allowOthersToQuery") ?? true,
            allowsOthersToUpdate: object.bool("allowOthersToUpdate") ?? true,
            allowsOthersToDelete: object.bool("allowOthersToDelete") ?? true,
            allowsAnonymousToQuery: object.bool("allowAnonymousToQuery"),
            allowsAnonymousToUpdate: object.bool("allowAnonymousToUpdate"),
            allowsAnonymousToDelete: object.bool("allowAnonymousToDelete"))
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.append("allowOthersToQuery", .bool(allowsOthersToQuery))
        object.append("allowOthersToUpdate", .bool(allowsOthersToUpdate))
        object.append("allowOthersToDelete", .bool(allowsOthersToDelete))
        for (name, value) in [
            ("allowAnonymousToQuery", allowsAnonymousToQuery), ("allowAnonymousToUpdate", allowsAnonymousToUpdate),
            ("allowAnonymousToDelete", allowsAnonymousToDelete),
        ] {
            if let value { object.append(name, .bool(value)) }
        }
        return .object(object)
    }
}

extension LayerDefinition {
    /// The features that somebody may see, as a condition that a query has to add to its own; nil for all of them.
    package func visibleFeatures(to editor: String?) -> SQLExpression? {
        guard let ownershipAccess, let creator = editFields?.creatorField.flatMap(field(named:)),
            !ownershipAccess.allows(.query, by: editor)
        else { return nil }
        guard let editor, let name = editFields?.name(of: editor) else {
            return .binary(.equal, .literal(.integer(1)), .literal(.integer(0)))
        }
        return .binary(.equal, .field(creator.name), .literal(.string(name)))
    }
}

extension EditFieldsDefinition {
    /// What stands in the fields of creator and editor for a user: `user@realm` where the layer has a realm.
    package func name(of editor: String) -> String {
        guard let realm, !realm.isEmpty, !editor.isEmpty else { return editor }
        return "\(editor)@\(realm)"
    }
}
