import FieldworkREST
import FieldworkStore

/// A person's folder of items.
package struct ItemFolder: Sendable, Hashable {
    package var id: String
    package var title: String
    package var created: Int64
}

extension Portal {
    private static func folder(_ row: Record) -> ItemFolder {
        ItemFolder(id: row.text(0) ?? "", title: row.text(1) ?? "", created: row.integer(2))
    }

    /// A folder by its id or title; nil for the place outside of folders.
    static func folder(_ name: String, of owner: String, _ records: Records) throws -> ItemFolder? {
        if name.isEmpty || name == "/" { return nil }
        guard
            let row = try records.row(
                "SELECT id, title, created FROM {folders} WHERE owner = ? AND (id = ? OR title = ?)",
                [.text(Person.key(owner)), .text(name), .text(name)])
        else { throw PortalError.folderNotFound }
        return folder(row)
    }

    package func folders(of owner: String) async throws -> [ItemFolder] {
        try await records.read { records in
            try records.rows(
                "SELECT id, title, created FROM {folders} WHERE owner = ? ORDER BY title, id",
                [.text(Person.key(owner))]
            ).map(Self.folder)
        }
    }

    /// The items of a folder that the caller may read, the newest first.
    package func items(
        of owner: String, folder: String, from start: Int, count: Int, for principal: Principal
    ) async throws -> (folder: ItemFolder?, total: Int, items: [Item]) {
        try await records.read { records in
            let person = try Self.existing(owner, records)
            let found = try Self.folder(folder, of: owner, records)
            let rows = try records.rows(
                """
                SELECT \(Self.itemColumns) FROM \(Self.itemTables) WHERE i.owner = ? AND i.folder = ?
                ORDER BY i.modified DESC, i.id
                """, [.text(Person.key(person.name)), .text(found?.id ?? "")])
            var items = try rows.map { row in
                var item = Self.item(row)
                item.sharing.groups = try Self.groups(of: item.id, records)
                return item
            }
            if !principal.isNamed(owner), !principal.has(.viewItems) {
                items = items.filter { item in
                    let facts = ItemFacts(id: item.id, owner: item.owner, sharing: item.sharing)
                    return ItemRights(of: principal, on: facts).reads
                }
            }
            return (found, items.count, Array(items.dropFirst(max(0, start)).prefix(max(0, count))))
        }
    }

    package func addFolder(
        _ title: String, of owner: String, for principal: Principal, by author: Author
    ) async throws -> ItemFolder {
        try Self.requireOwner(owner, principal)
        try principal.require(.createItem)
        guard !title.isEmpty, title.count <= Limits.titleLength, title != "/" else {
            throw PortalError(.invalid, "A folder has a title of 1 to \(Limits.titleLength) characters.")
        }
        let moment = now
        let folder = ItemFolder(id: Secret.id(), title: title, created: moment)
        try await records.write { records in
            _ = try Self.existing(owner, records)
            let key = AttributeValue.text(Person.key(owner))
            let same = try records.row("SELECT 1 FROM {folders} WHERE owner = ? AND title = ?", [key, .text(title)])
            guard same == nil else { throw PortalError(.exists, "Folder title not available.") }
            let count = try records.row("SELECT count(*) FROM {folders} WHERE owner = ?", [key])?.integer(0) ?? 0
            guard count < Int64(Limits.foldersPerPerson) else {
                throw PortalError(.overLimit, "A person has at most \(Limits.foldersPerPerson) folders.")
            }
            try records.run(
                "INSERT INTO {folders} (id, owner, title, created) VALUES (?, ?, ?, ?)",
                [.text(folder.id), key, .text(title), .integer(moment)])
        }
        return folder
    }

    package func renameFolder(_ id: String, of owner: String, to title: String, for principal: Principal) async throws {
        try Self.requireOwner(owner, principal)
        guard !title.isEmpty, title.count <= Limits.titleLength, title != "/" else {
            throw PortalError(.invalid, "A folder has a title of 1 to \(Limits.titleLength) characters.")
        }
        try await records.write { records in
            guard let folder = try Self.folder(id, of: owner, records) else { throw PortalError.folderNotFound }
            try records.run("UPDATE {folders} SET title = ? WHERE id = ?", [.text(title), .text(folder.id)])
        }
    }

    /// Removes a folder with the items in it, as the protocol has it: all of them, or nothing when one of them has to stay.
    /// - Parameter services: the keys of the services that are there, by `ServiceItemKind.key`.
    package func removeFolder(
        _ id: String, of owner: String, services: Set<String>, for principal: Principal, by author: Author
    ) async throws {
        try Self.requireOwner(owner, principal)
        let moment = now
        try await change { records in
            guard let folder = try Self.folder(id, of: owner, records) else { throw PortalError.folderNotFound }
            let items = try records.rows(
                "SELECT id FROM {items} WHERE owner = ? AND folder = ? ORDER BY id",
                [.text(Person.key(owner)), .text(folder.id)])
            for item in items.compactMap({ $0.text(0) }) {
                try Self.removeItem(item, services: services, for: principal, by: author, moment, records)
            }
            try records.run("DELETE FROM {folders} WHERE id = ?", [.text(folder.id)])
            try Self.note("folder.remove", folder.id, folder.title, author, moment, records)
        }
    }

    /// Moves an item to a folder of its owner; `/` is the place outside of folders.
    package func moveItem(_ id: String, to folder: String, for principal: Principal, by author: Author) async throws
        -> Item
    {
        let moment = now
        return try await records.write { records in
            var (item, _) = try Self.item(id, for: principal, records)
            try Self.requireOwner(item.owner, principal)
            item.folder = try Self.folder(folder, of: item.owner, records)?.id ?? ""
            try records.run("UPDATE {items} SET folder = ? WHERE id = ?", [.text(item.folder), .text(id)])
            try Self.note("item.move", id, item.folder, author, moment, records)
            return item
        }
    }

    private static func requireOwner(_ owner: String, _ principal: Principal) throws(PortalError) {
        guard principal.kind == .everybody || principal.isNamed(owner) || principal.has(.updateItems) else {
            throw .notAllowed
        }
    }
}
