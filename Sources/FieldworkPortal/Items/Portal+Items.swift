import FieldworkGeometry
import FieldworkREST
import FieldworkStore

extension Portal {
    static let itemColumns = """
        i.id, coalesce(p.shown, i.owner), i.folder, i.title, i.type, i.name, i.url, i.service, i.everyone,
        i.organisation, i.is_protected, i.created, i.modified, i.views, i.size, i.fields
        """
    static let itemTables = "{items} AS i LEFT JOIN {people} AS p ON p.name = i.owner"

    /// An item as its row has it, without the groups.
    static func item(_ row: Record) -> Item {
        Item(
            id: row.text(0) ?? "", owner: row.text(1) ?? "", folder: row.text(2) ?? "", title: row.text(3) ?? "",
            type: row.text(4) ?? "", name: row.text(5) ?? "", url: row.text(6) ?? "", service: row.text(7),
            sharing: Sharing(everyone: row.integer(8) != 0, organisation: row.integer(9) != 0),
            isProtected: row.integer(10) != 0, created: row.integer(11), modified: row.integer(12),
            views: row.integer(13), size: row.integer(14), fields: ItemFields(row.object(15)))
    }

    static func item(_ id: String, _ records: Records) throws -> Item? {
        guard
            let row = try records.row("SELECT \(itemColumns) FROM \(itemTables) WHERE i.id = ?", [.text(id)])
        else { return nil }
        var item = item(row)
        item.sharing.groups = try groups(of: id, records)
        return item
    }

    static func groups(of item: String, _ records: Records) throws -> Set<String> {
        Set(
            try records.rows("SELECT group_id FROM {item_groups} WHERE item = ?", [.text(item)]).compactMap {
                $0.text(0)
            })
    }

    static func facts(of item: Item, _ records: Records) throws -> ItemFacts {
        let updating =
            item.sharing.groups.isEmpty
            ? []
            : try records.rows(
                """
                SELECT g.id FROM {item_groups} AS s JOIN {groups} AS g ON g.id = s.group_id
                WHERE s.item = ? AND g.is_updating = 1
                """, [.text(item.id)]
            ).compactMap { $0.text(0) }
        let isOpen =
            try item.service != nil && item.sharing.everyone
            && records.row("SELECT 1 FROM {open_items} WHERE item = ?", [.text(item.id)]) != nil
        return ItemFacts(
            id: item.id, owner: item.owner, sharing: item.sharing, updatingGroups: Set(updating),
            isProtected: item.isProtected, isOpenToEdits: isOpen)
    }

    /// An item that the caller may read, with what else may be done with it.
    package func item(_ id: String, for principal: Principal) async throws -> (item: Item, rights: ItemRights) {
        try await records.read { try Self.item(id, for: principal, $0) }
    }

    static func item(
        _ id: String, for principal: Principal, _ records: Records
    ) throws -> (item: Item, rights: ItemRights) {
        guard let item = try item(id, records) else { throw PortalError.itemNotFound }
        let rights = ItemRights(of: principal, on: try facts(of: item, records))
        // What the caller may not read is not there.
        guard rights.reads else { throw PortalError.itemNotFound }
        return (item, rights)
    }

    /// Counts that an item was opened.
    package func noteView(of id: String) async throws {
        try await records.write { records in
            try records.run("UPDATE {items} SET views = views + 1 WHERE id = ?", [.text(id)])
            try ItemChanges.note(id, records)
        }
    }

    // MARK: Adding and changing

    /// Adds an item.
    /// - Parameter chosenID: the id that the client has chosen, 32 hexadecimal digits, so that a request whose answer was lost
    ///   adds the item once; nil for one that is made here. One that is taken is refused, whoever may see what has it.
    package func addItem(
        _ change: ItemChange, id chosenID: String? = nil, owner: String, folder: String = "", for principal: Principal,
        by author: Author
    ) async throws -> Item {
        try principal.require(.createItem)
        guard principal.kind == .everybody || principal.isNamed(owner) || principal.has(.updateItems) else {
            throw PortalError.notAllowed
        }
        guard chosenID.map(Secret.isID) != false else {
            throw PortalError(.invalid, "The id of an item is 32 digits of 0 to 9 and a to f.")
        }
        let moment = now
        return try await self.change { records in
            let person = try Self.existing(owner, records)
            let place = try Self.folder(folder, of: owner, records)?.id ?? ""
            var item = Item(
                id: chosenID ?? Secret.id(), owner: person.name, folder: place, title: "", type: "", name: "", url: "",
                service: nil, sharing: Sharing(), isProtected: false, created: moment, modified: moment, views: 0,
                size: -1, fields: ItemFields())
            // Its row comes first: nothing is written under an id that is taken.
            try Self.write(item, isNew: true, records)
            try Self.apply(change, to: &item, moment, records)
            try Self.write(item, records)
            try Self.note("item.add", item.id, item.title, author, moment, records)
            return item
        }
    }

    package func updateItem(
        _ id: String, _ change: ItemChange, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        try await records.write { records in
            var (item, rights) = try Self.item(id, for: principal, records)
            guard rights.updates else { throw PortalError.notAllowed }
            item.modified = moment
            try Self.apply(change, to: &item, moment, records)
            try Self.write(item, records)
            try Self.note("item.update", id, item.title, author, moment, records)
        }
    }

    static func apply(_ change: ItemChange, to item: inout Item, _ moment: Int64, _ records: Records) throws {
        if let title = change.title { item.title = title }
        // What a service is, and where, its item can't change.
        if item.service == nil {
            if let type = change.type { item.type = type }
            if let url = change.url { item.url = url }
            if let name = change.name { item.name = name }
        }
        if let snippet = change.snippet { item.fields.snippet = snippet }
        if let description = change.description { item.fields.description = description }
        if let tags = change.tags { item.fields.tags = tags }
        if let keywords = change.typeKeywords { item.fields.typeKeywords = keywords }
        for member in change.others.members { item.fields.others[member.key] = member.value }
        guard !item.title.isEmpty, item.title.count <= Limits.titleLength else {
            throw PortalError(.invalid, "An item has a title of 1 to \(Limits.titleLength) characters.")
        }
        guard !item.type.isEmpty, item.type.count <= Limits.titleLength, item.url.utf8.count <= Limits.textBytes else {
            throw PortalError(.invalid, "An item has a type, such as Web Map.")
        }
        try item.fields.check()
        if let data = change.data {
            try write(data, of: item.id, moment, records)
            item.size = Int64(data.bytes.count)
        }
        if let thumbnail = change.thumbnail {
            try write(thumbnail, of: item.id, moment, records)
            item.fields.thumbnail = thumbnail.fileName
        }
    }

    /// Writes the row of an item.
    /// - Parameter isNew: whether an item that has the id already is left as it is, and the new one refused.
    static func write(_ item: Item, isNew: Bool = false, _ records: Records) throws {
        let owner = Person.key(item.owner)
        let whenThere =
            isNew
            ? "NOTHING"
            : """
            UPDATE SET owner = excluded.owner, folder = excluded.folder, title = excluded.title,
                type = excluded.type, name = excluded.name, url = excluded.url, modified = excluded.modified,
                size = excluded.size, sort_title = excluded.sort_title, fields = excluded.fields
            """
        let written = try records.run(
            """
            INSERT INTO {items} (id, owner, folder, title, type, name, url, service, everyone, organisation,
                is_protected, created, modified, views, size, sort_title, fields)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO \(whenThere)
            """,
            [
                .text(item.id), .text(owner), .text(item.folder), .text(item.title), .text(item.type),
                .text(item.name), .text(item.url), item.service.map(AttributeValue.text) ?? .null,
                .integer(item.sharing.everyone ? 1 : 0), .integer(item.sharing.organisation ? 1 : 0),
                .integer(item.isProtected ? 1 : 0), .integer(item.created), .integer(item.modified),
                .integer(item.views), .integer(item.size), .text(item.title.lowercased()),
                .text(item.fields.json.text),
            ])
        guard written > 0 else { throw PortalError(.exists, "Item '\(item.id)' already exists.") }
        try ItemChanges.note(item.id, records)
    }

    // MARK: Rights

    /// Shares an item with exactly these, or protects it. nil leaves it.
    package func share(
        _ id: String, everyone: Bool? = nil, organisation: Bool? = nil, addingGroups: [String] = [],
        removingGroups: [String] = [], onlyGroups: Bool = false, for principal: Principal, by author: Author
    ) async throws -> [String] {
        let moment = now
        return try await change { records in
            let (item, rights) = try Self.item(id, for: principal, records)
            guard rights.shares else { throw PortalError.notAllowed }
            var sharing = item.sharing
            if let everyone { sharing.everyone = everyone }
            if let organisation { sharing.organisation = organisation }
            // What everyone sees, the organisation sees.
            if sharing.everyone { sharing.organisation = true }
            if onlyGroups { sharing.groups = [] }
            try Self.requireSharing(sharing, beyond: item.sharing, principal, isOwn: principal.isNamed(item.owner))
            var refused: [String] = []
            for group in addingGroups {
                guard let known = try Self.group(group, records), Self.sees(principal, known),
                    principal.groups.contains(group) || principal.isNamed(known.owner) || principal.has(.updateItems),
                    principal.has(.shareToGroup) || principal.has(.shareItemsToGroup)
                else {
                    refused.append(group)
                    continue
                }
                sharing.groups.insert(group)
            }
            sharing.groups.subtract(removingGroups)
            guard sharing.groups.count <= Limits.groupsPerItem else {
                throw PortalError(.overLimit, "An item is shared with at most \(Limits.groupsPerItem) groups.")
            }
            try records.run(
                "UPDATE {items} SET everyone = ?, organisation = ? WHERE id = ?",
                [.integer(sharing.everyone ? 1 : 0), .integer(sharing.organisation ? 1 : 0), .text(id)])
            try records.run("DELETE FROM {item_groups} WHERE item = ?", [.text(id)])
            for group in sharing.groups.sorted() {
                try records.run("INSERT INTO {item_groups} (item, group_id) VALUES (?, ?)", [.text(id), .text(group)])
            }
            try ItemChanges.note(id, records)
            if !sharing.everyone { try records.run("DELETE FROM {open_items} WHERE item = ?", [.text(id)]) }
            let words = sharing.access + (sharing.groups.isEmpty ? "" : " \(sharing.groups.count) groups")
            try Self.note("item.share", id, words, author, moment, records)
            return refused
        }
    }

    /// Opens a service that is shared with everyone to edits by everyone, or closes it.
    package func setOpenToEdits(
        _ isOpen: Bool, _ id: String, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        try await change { records in
            let (item, rights) = try Self.item(id, for: principal, records)
            guard rights.shares, rights.administers else { throw PortalError.notAllowed }
            guard !isOpen || item.service != nil && item.type == ServiceItemKind.feature.rawValue else {
                throw PortalError(.invalid, "\(item.title) is a \(item.type): only feature services are edited.")
            }
            guard !isOpen || item.sharing.everyone else {
                throw PortalError(.invalid, "\(item.title) is not shared with everyone, who therefore can't edit it.")
            }
            try records.run("DELETE FROM {open_items} WHERE item = ?", [.text(id)])
            if isOpen { try records.run("INSERT INTO {open_items} (item) VALUES (?)", [.text(id)]) }
            try Self.note(isOpen ? "item.openEdits" : "item.closeEdits", id, item.title, author, moment, records)
        }
    }

    private static func requireSharing(
        _ wanted: Sharing, beyond former: Sharing, _ principal: Principal, isOwn: Bool
    ) throws(PortalError) {
        if wanted.everyone, !former.everyone {
            guard isOwn && principal.has(.shareToEveryone) || principal.has(.shareItemsToEveryone) else {
                throw .notAllowed
            }
        }
        if wanted.organisation, !former.organisation {
            guard isOwn && principal.has(.shareToOrganisation) || principal.has(.shareItemsToOrganisation) else {
                throw .notAllowed
            }
        }
    }

    package func setProtected(
        _ isProtected: Bool, _ id: String, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        try await change { records in
            let (item, rights) = try Self.item(id, for: principal, records)
            guard principal.isNamed(item.owner) || principal.has(.updateItems), rights.reads else {
                throw PortalError.notAllowed
            }
            try records.run(
                "UPDATE {items} SET is_protected = ? WHERE id = ?", [.integer(isProtected ? 1 : 0), .text(id)])
            try Self.note(isProtected ? "item.protect" : "item.unprotect", id, "", author, moment, records)
        }
    }

    /// Gives an item to another person.
    package func reassign(_ id: String, to name: String, for principal: Principal, by author: Author) async throws {
        try principal.require(.reassignItems)
        let moment = now
        try await change { records in
            var (item, _) = try Self.item(id, for: principal, records)
            item.owner = try Self.existing(name, records).name
            item.folder = ""
            try Self.write(item, records)
            try records.run(
                "UPDATE {clients} SET owner = ? WHERE item = ?", [.text(Person.key(item.owner)), .text(id)])
            try Self.note("item.reassign", id, item.owner, author, moment, records)
        }
    }

    /// Removes an item with its data. The item of a service that is there stays.
    /// - Parameter services: the keys of the services that are there, by `ServiceItemKind.key`.
    package func removeItem(
        _ id: String, services: Set<String>, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        try await change { records in
            try Self.removeItem(id, services: services, for: principal, by: author, moment, records)
        }
    }

    static func removeItem(
        _ id: String, services: Set<String>, for principal: Principal, by author: Author, _ moment: Int64,
        _ records: Records
    ) throws {
        let (item, rights) = try item(id, for: principal, records)
        guard !item.isProtected || !(principal.isNamed(item.owner) || principal.has(.deleteItems)) else {
            throw PortalError(.protected, "Unable to delete \(item.title). Delete protection is turned on.")
        }
        guard rights.deletes else { throw PortalError.notAllowed }
        let isView = try item.service.map { try removeView($0, records) } ?? false
        guard isView || item.service.map(services.contains) != true else {
            throw PortalError(
                .notAllowed, "The item \(item.title) stands for a service: unpublish the service instead.")
        }
        try remove(id, records)
        try note("item.remove", id, item.title, author, moment, records)
    }

    static func remove(_ id: String, _ records: Records) throws {
        try removeApp(ofItem: id, records)
        for table in ["item_groups", "open_items", "contents"] {
            try records.run("DELETE FROM {\(table)} WHERE item = ?", [.text(id)])
        }
        try records.run("DELETE FROM {relations} WHERE origin = ? OR destination = ?", [.text(id), .text(id)])
        try records.run("DELETE FROM {items} WHERE id = ?", [.text(id)])
        try ItemChanges.note(id, records)
    }
}
