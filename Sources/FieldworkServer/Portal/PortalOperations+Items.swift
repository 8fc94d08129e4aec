import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Foundation

extension PortalOperations {
    // MARK: Finding

    func search() async throws -> JSONValue {
        try await context.server.keepServiceItems()
        try request.parameters.refuse(["bbox", "categories", "categoryFilters"], in: "search")
        let text = request.parameters["q"] ?? ""
        let page = try page()
        var order = SearchOrder.modified
        if let word = request.parameters["sortField"] {
            guard let named = SearchOrder(word: word) else {
                throw ServiceError.invalidParameter("'sortField' has '\(word.prefix(40))', which sorts nothing here.")
            }
            order = named
        }
        let isDescending = request.parameters["sortOrder"].map { $0.lowercased() == "desc" }
        let found = try await portal.search(
            text, filter: request.parameters["filter"], from: page.start, count: page.count, order: order,
            isDescending: isDescending ?? (order == .modified), for: principal)
        var json = JSONObject(["query": .string(text)])
        for member in envelope(page, total: found.total).members { json[member.key] = member.value }
        json["results"] = .array(found.items.map { .object(answers.item($0)) })
        return .object(json)
    }

    func itemDescription() async throws -> JSONValue {
        let found = try await portal.item(try itemID, for: principal)
        return .object(describe(found.item, found.rights))
    }

    /// An item of a folder of its owner, with what the owner asks for beside.
    func ownedItem() async throws -> JSONValue {
        let found = try await portal.item(try itemID, for: principal)
        return [
            "item": .object(describe(found.item, found.rights)),
            "sharing": [
                "access": .string(found.item.sharing.access),
                "groups": .array(found.item.sharing.groups.sorted().map(JSONValue.string)),
            ],
        ]
    }

    private func describe(_ item: Item, _ rights: ItemRights) -> JSONObject {
        var json = answers.item(item)
        json["itemControl"] = rights.updates ? (rights.shares ? "admin" : "update") : "view"
        return json
    }

    func itemGroups() async throws -> JSONValue {
        let found = try await portal.item(try itemID, for: principal)
        var admin: [JSONValue] = []
        var member: [JSONValue] = []
        var other: [JSONValue] = []
        for group in try await portal.groups(for: principal) where found.item.sharing.groups.contains(group.id) {
            let json = JSONValue.object(answers.group(group))
            if principal.managedGroups.contains(group.id) {
                admin.append(json)
            } else if principal.groups.contains(group.id) {
                member.append(json)
            } else {
                other.append(json)
            }
        }
        return ["admin": .array(admin), "member": .array(member), "other": .array(other)]
    }

    func relatedItems() async throws -> JSONValue {
        let types = try list("relationshipTypes") + [request.parameters["relationshipType"]].compactMap { $0 }
        let isForward = (request.parameters["direction"] ?? "forward").lowercased() != "reverse"
        let items = try await portal.relatedItems(
            of: try itemID, types: types, isForward: isForward, for: principal)
        return [
            "total": JSONValue(items.count), "start": 1, "num": JSONValue(items.count), "nextStart": -1,
            "relatedItems": .array(items.map { .object(answers.item($0)) }),
        ]
    }

    // MARK: Folders

    func folderContent() async throws -> JSONValue {
        try await context.server.keepServiceItems()
        let page = try page(standard: 100)
        let name = try person
        guard principal.isSignedIn || principal.kind == .everybody else { throw ServiceError.tokenRequired }
        let found = try await portal.items(
            of: name, folder: values.text ?? "", from: page.start, count: page.count, for: principal)
        var json = envelope(page, total: found.total)
        json["username"] = .string(name)
        json["currentFolder"] = found.folder.map { folder($0, of: name) } ?? JSONValue.null
        json["items"] = .array(found.items.map { .object(answers.item($0)) })
        let seesFolders = principal.isNamed(name) || principal.has(.viewItems)
        let folders = seesFolders && found.folder == nil ? try await portal.folders(of: name) : []
        json["folders"] = .array(folders.map { folder($0, of: name) })
        return .object(json)
    }

    private func folder(_ folder: ItemFolder, of name: String) -> JSONValue {
        [
            "username": .string(name), "id": .string(folder.id), "title": .string(folder.title),
            "created": .integer(folder.created),
        ]
    }

    func createFolder() async throws -> JSONValue {
        let name = try person
        let title = try request.parameters["title"] ?? required("folderName")
        let made = try await portal.addFolder(title, of: name, for: principal, by: author)
        return ["success": true, "folder": folder(made, of: name)]
    }

    func updateFolder() async throws -> JSONValue {
        guard let id = values.text else { throw ServiceError.internalFailure }
        try await portal.renameFolder(id, of: try person, to: try required("newTitle"), for: principal)
        return ["success": true, "folder": ["username": .string(try person), "id": .string(id)]]
    }

    func deleteFolder() async throws -> JSONValue {
        guard let id = values.text else { throw ServiceError.internalFailure }
        try await portal.removeFolder(
            id, of: try person, services: try await serviceKeys(), for: principal, by: author)
        return ["success": true, "folder": ["username": .string(try person), "id": .string(id)]]
    }

    // MARK: Adding and changing

    func addItem() async throws -> JSONValue {
        try request.parameters.refuse(["dataUrl"], in: "addItem")
        var change = try change()
        // The data follows in parts.
        if try request.parameters.bool("multipart") == true { change.data = nil }
        if change.title == nil { change.title = change.data?.fileName ?? change.name }
        guard change.title != nil, change.type != nil else {
            throw ServiceError.invalidParameter("'title' and 'type' say what the item is.")
        }
        let item = try await portal.addItem(
            change, id: request.parameters["itemIdToCreate"], owner: try person, folder: values.text ?? "",
            for: principal, by: author)
        return ["success": true, "id": .string(item.id), "folder": .string(item.folder)]
    }

    /// A part of the data of an item, by its number; they may come in any order, and again.
    func addPart() async throws -> JSONValue {
        let id = try itemID
        guard let number = try request.parameters.integer("partNum"),
            (1...FieldworkPortal.Limits.parts).contains(number)
        else {
            throw ServiceError.invalidParameter("'partNum' is a number from 1 to \(FieldworkPortal.Limits.parts).")
        }
        guard let file = request.files["file"] ?? request.files.first?.value else {
            throw ServiceError.invalidParameter("'file' is missing.")
        }
        let content = try Self.content(of: file, name: ItemContent.part(number))
        try await portal.addPart(content, of: id, for: principal)
        return ["success": true, "id": .string(id)]
    }

    /// Joins the parts. What the form says of the item is taken as well.
    func commitParts() async throws -> JSONValue {
        let id = try itemID
        var change = try change()
        change.data = nil
        try await portal.commitParts(of: id, change, for: principal, by: author)
        return ["success": true, "id": .string(id), "itemId": .string(id)]
    }

    func updateItem() async throws -> JSONValue {
        let id = try itemID
        try await portal.updateItem(id, try change(), for: principal, by: author)
        return ["success": true, "id": .string(id)]
    }

    /// What a form says of an item.
    private func change() throws -> ItemChange {
        let parameters = request.parameters
        let clears = try parameters.bool("clearEmptyFields") ?? false
        func text(_ name: String) -> String? {
            parameters[name] ?? (clears && parameters.names(name) ? "" : nil)
        }
        var change = ItemChange()
        change.title = parameters["title"]
        change.type = parameters["type"]
        change.url = text("url")
        change.name = parameters["name"] ?? parameters["fileName"]
        change.snippet = text("snippet")
        change.description = text("description")
        let clearsTags = clears && parameters.names("tags")
        if parameters["tags"] != nil || clearsTags { change.tags = try list("tags") }
        if parameters["typeKeywords"] != nil { change.typeKeywords = try list("typeKeywords") }
        for key in ItemFields.kept where parameters[key] != nil {
            change.others[key] = try Self.kept(key, parameters)
        }
        change.data = try data()
        if let file = request.files["thumbnail"] {
            change.thumbnail = try Self.content(of: file, name: ItemContent.thumbnail)
        }
        return change
    }

    /// A box is kept as its two corners, other structures as they are.
    private static func kept(_ key: String, _ parameters: RequestParameters) throws -> JSONValue {
        let text = parameters[key] ?? ""
        if key == "extent", !text.hasPrefix("["), !text.hasPrefix("{") {
            let numbers = text.split(separator: ",").compactMap {
                Double($0.trimmingCharacters(in: .whitespaces))
            }
            guard numbers.count == 4, numbers.allSatisfy(\.isFinite) else {
                throw ServiceError.invalidParameter("'extent' has four numbers: xmin,ymin,xmax,ymax.")
            }
            return [
                [.number(numbers[0]), .number(numbers[1])], [.number(numbers[2]), .number(numbers[3])],
            ]
        }
        if text.hasPrefix("[") || text.hasPrefix("{") { return try parameters.json(key) ?? .null }
        if ["categories", "appCategories", "industries", "languages", "screenshots"].contains(key) {
            return .array((try parameters.words(key) ?? []).map(JSONValue.string))
        }
        return .string(text)
    }

    /// The data of an item: a text, JSON under the name `data`, or a file.
    private func data() throws -> ItemContent? {
        if let text = request.parameters["text"] ?? request.parameters["data"] {
            return ItemContent(
                name: ItemContent.data, type: Self.textType(text), fileName: "", modified: 0, bytes: Array(text.utf8))
        }
        guard let file = request.files["file"] ?? request.files["data"] else { return nil }
        return try Self.content(of: file, name: ItemContent.data)
    }

    private static func textType(_ text: String) -> String {
        let first = text.first { !$0.isWhitespace }
        return first == "{" || first == "[" ? "application/json" : "text/plain;charset=utf-8"
    }

    static func content(of file: ReceivedFile, name: String) throws -> ItemContent {
        guard file.size <= FieldworkPortal.Limits.contentBytes else {
            throw ServiceError.tooLarge(FieldworkPortal.Limits.contentBytes)
        }
        let bytes = [UInt8](try Data(contentsOf: file.url))
        let type = file.contentType ?? "application/octet-stream"
        return ItemContent(name: name, type: type, fileName: file.name, modified: 0, bytes: bytes)
    }

    // MARK: Moving, removing, sharing

    func deleteItem() async throws -> JSONValue {
        let id = try itemID
        try await remove(id)
        return ["success": true, "itemId": .string(id)]
    }

    func deleteItems() async throws -> JSONValue {
        try await eachItem { id in
            try await remove(id)
            return ["itemId": .string(id), "success": true]
        }
    }

    private func remove(_ id: String) async throws {
        try await portal.removeItem(id, services: try await serviceKeys(), for: principal, by: author)
    }

    /// The services that are there: their items stay.
    private func serviceKeys() async throws -> Set<String> {
        Set(try await context.server.itemServices().map { $0.kind.key($0.path) })
    }

    /// One result for each of `items`.
    private func eachItem(_ body: (String) async throws -> JSONValue) async throws -> JSONValue {
        var results: [JSONValue] = []
        for id in try list("items") {
            do {
                results.append(try await body(id.lowercased()))
            } catch let error as PortalError {
                let told = ServiceError(error)
                results.append([
                    "itemId": .string(id), "success": false,
                    "error": ["code": JSONValue(told.code), "message": .string(told.message)],
                ])
            }
        }
        return ["results": .array(results)]
    }

    func moveItem() async throws -> JSONValue {
        let item = try await portal.moveItem(
            try itemID, to: request.parameters["folder"] ?? "/", for: principal, by: author)
        return [
            "success": true, "itemId": .string(item.id), "owner": .string(item.owner),
            "folder": JSONValue(item.folder.isEmpty ? nil : item.folder),
        ]
    }

    func reassignItem() async throws -> JSONValue {
        let id = try itemID
        try await portal.reassign(id, to: try required("targetUsername"), for: principal, by: author)
        return ["success": true, "itemId": .string(id)]
    }

    func setProtected(_ isProtected: Bool) async throws -> JSONValue {
        try await portal.setProtected(isProtected, try itemID, for: principal, by: author)
        return Self.success
    }

    /// `share` says whom the item is shared with: everyone and the organisation as said, and the groups added.
    func shareItem() async throws -> JSONValue { try await share(try itemID) }

    func unshareItem() async throws -> JSONValue { try await unshare(try itemID) }

    func shareItems() async throws -> JSONValue { try await eachItem { try await share($0) } }

    func unshareItems() async throws -> JSONValue { try await eachItem { try await unshare($0) } }

    private func share(_ id: String) async throws -> JSONValue {
        let everyone = try request.parameters.bool("everyone")
        let organisation = try request.parameters.bool("org") ?? request.parameters.bool("account")
        let groups = try list("groups")
        // `groups` with nothing in it takes the groups away; without it they stay.
        let onlyGroups = request.parameters.names("groups") && groups.isEmpty && everyone != nil
        let refused = try await portal.share(
            id, everyone: everyone, organisation: organisation, addingGroups: groups, onlyGroups: onlyGroups,
            for: principal, by: author)
        return shared(id, notSharedWith: refused, "notSharedWith")
    }

    private func unshare(_ id: String) async throws -> JSONValue {
        let everyone = try request.parameters.bool("everyone") == true ? false : nil
        let organisation = try request.parameters.bool("org") == true ? false : nil
        let refused = try await portal.share(
            id, everyone: everyone, organisation: organisation, removingGroups: try list("groups"), for: principal,
            by: author)
        return shared(id, notSharedWith: refused, "notUnsharedFrom")
    }

    private func shared(_ id: String, notSharedWith refused: [String], _ name: String) -> JSONValue {
        var json = JSONObject(["itemId": .string(id), "success": true])
        json[name] = .array(refused.map(JSONValue.string))
        return .object(json)
    }

    func setRelation(exists: Bool) async throws -> JSONValue {
        try await portal.setRelation(
            try required("relationshipType"), from: try required("originItemId").lowercased(),
            to: try required("destinationItemId").lowercased(), exists: exists, for: principal, by: author)
        return Self.success
    }

    // MARK: Resources

    func resources() async throws -> JSONValue {
        let page = try page(standard: 100)
        let found = try await portal.resources(of: try itemID, for: principal)
        var json = envelope(page, total: found.count)
        json["resources"] = .array(
            found.dropFirst(page.start).prefix(page.count).map { resource in
                [
                    "resource": .string(resource.path), "created": .integer(resource.modified),
                    "size": .integer(resource.size), "access": "inherit", "type": .string(resource.type),
                ]
            })
        return .object(json)
    }

    func setResource(mustExist: Bool) async throws -> JSONValue {
        let id = try itemID
        var content: ItemContent
        if let file = request.files["file"] {
            content = try Self.content(of: file, name: "")
        } else {
            let text = try required("text")
            content = ItemContent(
                name: "", type: Self.textType(text), fileName: try required("fileName"), modified: 0,
                bytes: Array(text.utf8))
        }
        let name = request.parameters["fileName"] ?? content.fileName
        content.name = [request.parameters["resourcesPrefix"], name].compactMap { $0 }.joined(separator: "/")
        try await portal.setResource(content, of: id, mustExist: mustExist, for: principal, by: author)
        return ["success": true, "itemId": .string(id), "owner": .string(try person), "folder": nil]
    }

    func removeResources() async throws -> JSONValue {
        let removesAll = try request.parameters.bool("deleteAll") ?? false
        let name = request.parameters["resource"] ?? request.parameters["fileName"]
        guard removesAll || name != nil else { throw ServiceError.invalidParameter("'resource' is missing.") }
        let path = [request.parameters["resourcesPrefix"], name].compactMap { $0 }.joined(separator: "/")
        try await portal.removeResource(removesAll ? nil : path, of: try itemID, for: principal, by: author)
        return Self.success
    }
}
