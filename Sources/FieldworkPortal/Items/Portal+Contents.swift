import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The data, the thumbnail and the resources of items.
extension Portal {
    static func write(_ content: ItemContent, of item: String, _ moment: Int64, _ records: Records) throws {
        guard content.bytes.count <= Limits.contentBytes else {
            throw PortalError(.overLimit, "What is kept with an item has at most \(Limits.contentBytes) bytes.")
        }
        try records.run(
            """
            INSERT INTO {contents} (item, name, type, file_name, size, modified, access, bytes)
            VALUES (?, ?, ?, ?, ?, ?, 'inherit', ?)
            ON CONFLICT (item, name) DO UPDATE SET type = excluded.type, file_name = excluded.file_name,
                size = excluded.size, modified = excluded.modified, bytes = excluded.bytes
            """,
            [
                .text(item), .text(content.name), .text(content.type), .text(content.fileName),
                .integer(Int64(content.bytes.count)), .integer(moment), .data(Data(content.bytes)),
            ])
    }

    // MARK: Data in parts

    /// Keeps a part of the data of an item until `commitParts`. One that comes again replaces the one before.
    package func addPart(_ content: ItemContent, of id: String, for principal: Principal) async throws {
        let moment = now
        try await records.write { records in
            let (_, rights) = try Self.item(id, for: principal, records)
            guard rights.updates else { throw PortalError.notAllowed }
            let others =
                try records.row(
                    "SELECT coalesce(sum(size), 0) FROM {contents} WHERE item = ? AND name LIKE 'parts/%' AND name <> ?",
                    [.text(id), .text(content.name)])?.integer(0) ?? 0
            guard others + Int64(content.bytes.count) <= Int64(Limits.contentBytes) else {
                throw PortalError(.overLimit, "What is kept with an item has at most \(Limits.contentBytes) bytes.")
            }
            try Self.write(content, of: id, moment, records)
        }
    }

    /// Makes the data of an item of the parts that have come, in the order of their numbers, and changes what else is said.
    package func commitParts(
        of id: String, _ change: ItemChange, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        try await records.write { records in
            var (item, rights) = try Self.item(id, for: principal, records)
            guard rights.updates else { throw PortalError.notAllowed }
            let parts = try records.rows(
                "SELECT bytes, type FROM {contents} WHERE item = ? AND name LIKE 'parts/%' ORDER BY name", [.text(id)])
            guard let first = parts.first else { throw PortalError(.invalid, "No part of the data has come.") }
            let name = change.name ?? (item.name.isEmpty ? item.title : item.name)
            var change = change
            change.name = name
            change.data = ItemContent(
                name: ItemContent.data, type: first.text(1) ?? "application/octet-stream", fileName: name,
                modified: moment, bytes: parts.flatMap { [UInt8]($0.bytes(0)) })
            item.modified = moment
            try Self.apply(change, to: &item, moment, records)
            try Self.write(item, records)
            try records.run("DELETE FROM {contents} WHERE item = ? AND name LIKE 'parts/%'", [.text(id)])
            try Self.note("item.update", id, item.title, author, moment, records)
        }
    }

    /// Whether parts of the data of an item have come that are not joined yet.
    package func hasParts(_ id: String) async throws -> Bool {
        try await records.read { records in
            try records.row(
                "SELECT 1 FROM {contents} WHERE item = ? AND name LIKE 'parts/%' LIMIT 1", [.text(id)]) != nil
        }
    }

    /// Ends an upload in parts. The data that the item had before stay.
    package func removeParts(of id: String, for principal: Principal) async throws {
        try await records.write { records in
            let (_, rights) = try Self.item(id, for: principal, records)
            guard rights.updates else { throw PortalError.notAllowed }
            try records.run("DELETE FROM {contents} WHERE item = ? AND name LIKE 'parts/%'", [.text(id)])
        }
    }

    /// Something that is kept with an item; nil where there is no such thing.
    package func content(_ name: String, of id: String, for principal: Principal) async throws -> ItemContent? {
        try await records.read { records in
            _ = try Self.item(id, for: principal, records)
            return try records.row(
                "SELECT name, type, file_name, modified, bytes FROM {contents} WHERE item = ? AND name = ?",
                [.text(id), .text(name)]
            ).map { row in
                ItemContent(
                    name: row.text(0) ?? "", type: row.text(1) ?? "", fileName: row.text(2) ?? "",
                    modified: row.integer(3), bytes: [UInt8](row.bytes(4)))
            }
        }
    }

    /// The resources of an item: path, type, bytes and moment.
    package func resources(
        of id: String, for principal: Principal
    ) async throws -> [(path: String, type: String, size: Int64, modified: Int64)] {
        try await records.read { records in
            _ = try Self.item(id, for: principal, records)
            return try records.rows(
                "SELECT name, type, size, modified FROM {contents} WHERE item = ? ORDER BY name", [.text(id)]
            ).filter { $0.text(0)?.hasPrefix(ItemContent.resources) == true }.map { row in
                let name = row.text(0) ?? ""
                return (
                    String(name.dropFirst(ItemContent.resources.count)), row.text(1) ?? "", row.integer(2),
                    row.integer(3)
                )
            }
        }
    }

    /// - Parameter mustExist: whether a resource is replaced, rather than added.
    package func setResource(
        _ content: ItemContent, of id: String, mustExist: Bool, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        var content = content
        let path = try Self.checked(resource: content.name)
        content.name = ItemContent.resources + path
        try await records.write { [content] records in
            let (_, rights) = try Self.item(id, for: principal, records)
            guard rights.updates else { throw PortalError.notAllowed }
            let isThere =
                try records.row(
                    "SELECT 1 FROM {contents} WHERE item = ? AND name = ?", [.text(id), .text(content.name)]) != nil
            guard isThere == mustExist else {
                throw PortalError(
                    isThere ? .exists : .notFound,
                    isThere ? "Resource already exists." : "Resource does not exist or is inaccessible.")
            }
            let count = try records.row("SELECT count(*) FROM {contents} WHERE item = ?", [.text(id)])?.integer(0) ?? 0
            guard count < Int64(Limits.resourcesPerItem) else {
                throw PortalError(.overLimit, "An item has at most \(Limits.resourcesPerItem) resources.")
            }
            try Self.write(content, of: id, moment, records)
            try records.run("UPDATE {items} SET modified = ? WHERE id = ?", [.integer(moment), .text(id)])
            try ItemChanges.note(id, records)
            try Self.note("item.resource", id, path, author, moment, records)
        }
    }

    /// - Parameter path: nil removes all resources.
    package func removeResource(
        _ path: String?, of id: String, for principal: Principal, by author: Author
    ) async throws {
        let moment = now
        try await records.write { records in
            let (_, rights) = try Self.item(id, for: principal, records)
            guard rights.updates else { throw PortalError.notAllowed }
            if let path {
                let removed = try records.run(
                    "DELETE FROM {contents} WHERE item = ? AND name = ?",
                    [.text(id), .text(ItemContent.resources + path)])
                guard removed > 0 else {
                    throw PortalError(.notFound, "Resource does not exist or is inaccessible.")
                }
            } else {
                try records.run(
                    "DELETE FROM {contents} WHERE item = ? AND name LIKE 'resources/%'", [.text(id)])
            }
            try Self.note("item.removeResource", id, path ?? "*", author, moment, records)
        }
    }

    /// `image.png`, `pictures/image.png`.
    private static func checked(resource path: String) throws(PortalError) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = segments.allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.count <= 255
                && segment.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\\" }
        }
        guard (1...4).contains(segments.count), isPlain else {
            throw PortalError(.invalid, "A resource has a name, and at most three folders before it.")
        }
        return path
    }

    // MARK: Relations

    package func setRelation(
        _ type: String, from origin: String, to destination: String, exists: Bool, for principal: Principal,
        by author: Author
    ) async throws {
        guard !type.isEmpty, type.utf8.count <= Limits.titleLength else {
            throw PortalError(.invalid, "A relationship has a type, such as Map2Service.")
        }
        let moment = now
        try await records.write { records in
            let (_, rights) = try Self.item(origin, for: principal, records)
            _ = try Self.item(destination, for: principal, records)
            guard rights.updates else { throw PortalError.notAllowed }
            let arguments = [AttributeValue.text(origin), .text(destination), .text(type)]
            if exists {
                try records.run(
                    """
                    INSERT INTO {relations} (origin, destination, type) VALUES (?, ?, ?)
                    ON CONFLICT (origin, destination, type) DO NOTHING
                    """, arguments)
            } else {
                try records.run(
                    "DELETE FROM {relations} WHERE origin = ? AND destination = ? AND type = ?", arguments)
            }
            try Self.note(
                exists ? "item.relate" : "item.unrelate", origin, "\(type) \(destination)", author, moment, records)
        }
    }

    /// The items that an item is related to, of those that the caller may read.
    package func relatedItems(
        of id: String, types: [String], isForward: Bool, for principal: Principal
    ) async throws -> [Item] {
        try await records.read { records in
            _ = try Self.item(id, for: principal, records)
            let (own, other) = isForward ? ("origin", "destination") : ("destination", "origin")
            let rows = try records.rows(
                "SELECT \(other), type FROM {relations} WHERE \(own) = ? ORDER BY \(other)", [.text(id)])
            var items: [Item] = []
            for row in rows where types.isEmpty || types.contains(row.text(1) ?? "") {
                if let related = try? Self.item(row.text(0) ?? "", for: principal, records) {
                    items.append(related.item)
                }
            }
            return items
        }
    }
}
