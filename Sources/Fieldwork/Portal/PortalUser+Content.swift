import FieldworkGeometry
import Foundation

extension PortalUser {
    // MARK: Looking

    /// The items of the person's root, and the folders. Throws `ServiceError`.
    public var content: PortalUserContent {
        get async throws { try await content(of: nil) }
    }

    /// The items of a folder; of the root for nil. Throws `ServiceError`.
    public func content(of folder: PortalFolder?) async throws -> PortalUserContent {
        let portal = try home
        var items: [PortalItem] = []
        var folders: [PortalFolder] = []
        var start = 1
        for _ in 0..<Limits.portalPages {
            let json = try await portal.client.read(
                place(folder), [("start", String(start)), ("num", String(Limits.portalPage))])
            items += (json["items"]?.arrayValue ?? []).compactMap(\.objectValue).compactMap {
                PortalItem($0, portal: portal)
            }
            if start == 1 {
                folders = (json["folders"]?.arrayValue ?? []).compactMap(\.objectValue).compactMap(PortalFolder.init)
            }
            guard let next = json.int("nextStart"), next > start else { break }
            start = next
        }
        return PortalUserContent(items: items, folders: folders)
    }

    private func place(_ folder: PortalFolder?) -> [String] {
        ["content", "users", username] + [folder?.id].compactMap(\.self)
    }

    private func place(of item: PortalItem, _ operation: String) throws -> [String] {
        guard let id = item.id else { throw Self.isNotThere(item) }
        return ["content", "users", item.owner.isEmpty ? username : item.owner, "items", id.rawValue, operation]
    }

    private static func isNotThere(_ item: PortalItem) -> CommonError {
        .illegalState(details: "The item \(item.title) is not in a portal yet. Add it first.")
    }

    // MARK: Adding

    /// Adds an item with its content. Its id is made here, so that a request whose answer was lost does not add it twice.
    ///
    /// ```swift
    /// let item = PortalItem(portal: portal, kind: .webMap, title: "Trees")
    /// try await portal.user?.add(item, with: .json(map.toJSON()))
    /// ```
    /// - Throws: `ServiceError` when the portal refuses it, `CommonError.illegalState` for an item that is in a portal.
    public func add(_ item: PortalItem, with parameters: PortalItemContentParameters) async throws {
        try await add(item, with: parameters, to: nil)
    }

    /// Adds an item with its content to a folder. Throws like the other one.
    public func add(
        _ item: PortalItem, with parameters: PortalItemContentParameters, to folder: PortalFolder?
    ) async throws {
        let portal = try home
        guard item.id == nil else {
            throw CommonError.illegalState(details: "The item \(item.title) is in a portal already.")
        }
        // Portals name items by 32 digits.
        let id = UUID().uuidString.lowercased().filter { $0 != "-" }
        let (form, file) = try parameters.parts()
        var added = id
        do {
            let json = try await portal.client.write(
                place(folder) + ["addItem"], item.form + form + [("itemIdToCreate", id)], file: file)
            // Not every portal lets the id be chosen.
            added = json["id"]?.stringValue ?? added
        } catch let error as ServiceError {
            guard case .connectionFailed = error, try await isThere(id) else { throw error }
        }
        guard let final = PortalItem.ID(added) else {
            throw ServiceError.unknown(details: "The portal gave the item no id.")
        }
        try await item.becomeAdded(final, owner: username)
    }

    private func isThere(_ id: String) async throws -> Bool {
        do {
            return try await home.client.read(["content", "items", id])["id"] != nil
        } catch let error as ServiceError {
            if case .serverFailure = error { return false }
            throw error
        }
    }

    // MARK: Changing

    /// Deletes an item of the person. Throws `ServiceError` when the portal refuses it.
    public func delete(_ item: PortalItem) async throws {
        _ = try await home.client.write(try place(of: item, "delete"), [])
    }

    /// Moves an item to a folder; to the root for nil. Throws `ServiceError`.
    public func move(_ item: PortalItem, to folder: PortalFolder?) async throws {
        _ = try await home.client.write(try place(of: item, "move"), [("folder", folder?.id ?? "/")])
    }

    /// Makes a folder. Throws `ServiceError`, also for a title that is taken.
    public func addFolder(titled title: String) async throws -> PortalFolder {
        let json = try await home.client.write(place(nil) + ["createFolder"], [("title", title)])
        guard let folder = json["folder"]?.objectValue.flatMap(PortalFolder.init) else {
            throw ServiceError.unknown(details: "The portal gave the folder no id.")
        }
        return folder
    }

    /// Deletes a folder with what is in it. Throws `ServiceError`.
    public func delete(_ folder: PortalFolder) async throws {
        _ = try await home.client.write(place(folder) + ["delete"], [])
    }
}
