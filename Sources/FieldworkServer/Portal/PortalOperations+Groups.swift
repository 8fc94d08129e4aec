import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

extension PortalOperations {
    /// The groups that whoever asks may see, by words of their titles.
    func searchGroups() async throws -> JSONValue {
        let page = try page()
        let words = SearchWords(request.parameters["q"] ?? "")
        let groups = try await portal.groups(for: principal).filter { words.match($0) }
        var json = envelope(page, total: groups.count)
        json["query"] = .string(request.parameters["q"] ?? "")
        json["results"] = .array(
            groups.dropFirst(page.start).prefix(page.count).map { .object(answers.group($0)) })
        return .object(json)
    }

    func groupDescription() async throws -> JSONValue {
        .object(answers.group(try await portal.group(try groupID, for: principal)))
    }

    func groupUsers() async throws -> JSONValue {
        let members = try await portal.members(of: try groupID, for: principal)
        return [
            "owner": .string(members.owner),
            "admins": .array(([members.owner] + members.managers).map(JSONValue.string)),
            "users": .array(members.members.map(JSONValue.string)),
        ]
    }

    func createGroup() async throws -> JSONValue {
        let capabilities = try list("capabilities").map { $0.lowercased() }
        let group = try await portal.addGroup(
            title: try required("title"), access: request.parameters["access"] ?? "private",
            isUpdating: capabilities.contains("updateitemcontrol"), details: try groupDetails(), for: principal,
            by: author)
        return ["success": true, "group": .object(answers.group(group))]
    }

    func updateGroup() async throws -> JSONValue {
        let id = try groupID
        try await portal.updateGroup(
            id, title: request.parameters["title"], access: request.parameters["access"],
            details: try groupDetails(), for: principal, by: author)
        return ["success": true, "groupId": .string(id)]
    }

    func deleteGroup() async throws -> JSONValue {
        let id = try groupID
        try await portal.removeGroup(id, for: principal, by: author)
        return ["success": true, "groupId": .string(id)]
    }

    private func groupDetails() throws(ServiceError) -> JSONObject {
        var details = JSONObject()
        for key in ["description", "snippet", "phone", "sortField", "sortOrder"] {
            if let text = request.parameters[key] { details[key] = .string(text) }
        }
        for key in ["tags", "typeKeywords"] where request.parameters.names(key) {
            details[key] = .array(try list(key).map(JSONValue.string))
        }
        for key in ["isInvitationOnly", "isViewOnly", "hiddenMembers"] {
            if let value = try request.parameters.bool(key) { details[key] = .bool(value) }
        }
        return details
    }

    func addGroupUsers() async throws -> JSONValue {
        let refused = try await portal.addMembers(
            try list("users"), managers: try list("admins"), to: try groupID, for: principal, by: author)
        return ["notAdded": .array(refused.map(JSONValue.string))]
    }

    func removeGroupUsers() async throws -> JSONValue {
        let refused = try await portal.removeMembers(try list("users"), from: try groupID, for: principal, by: author)
        return ["notRemoved": .array(refused.map(JSONValue.string))]
    }

    /// Everyone may leave a group; nobody joins one uninvited.
    func leaveGroup() async throws -> JSONValue {
        guard let name = principal.name else { throw ServiceError.tokenRequired }
        _ = try await portal.removeMembers([name], from: try groupID, for: principal, by: author)
        return ["success": true, "groupId": .string(try groupID)]
    }

    /// The items that a group shares, and the search of them.
    func groupContent() async throws -> JSONValue {
        let group = try await portal.group(try groupID, for: principal)
        let page = try page(standard: 100)
        let found = try await portal.search(
            request.parameters["q"] ?? "", filter: "group:\(group.id)", from: page.start, count: page.count,
            for: principal)
        var json = envelope(page, total: found.total)
        let items = JSONValue.array(found.items.map { .object(answers.item($0)) })
        json["items"] = items
        json["results"] = items
        return .object(json)
    }
}

/// The words of a search for groups: of titles, ids, owners and tags.
private struct SearchWords {
    private var ids: [String] = []
    private var words: [String] = []
    private var owners: [String] = []

    init(_ text: String) {
        let quoted = text.replacing("\"", with: " ").replacing("(", with: " ").replacing(")", with: " ")
        var field = ""
        for word in quoted.lowercased().split(whereSeparator: \.isWhitespace) {
            if ["and", "or", "not"].contains(word) { continue }
            let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if parts.count == 2 { field = parts[0] }
            let value = parts.last ?? ""
            guard !value.isEmpty, value != "*" else { continue }
            switch field {
            case "id": ids.append(value)
            case "owner": owners.append(value)
            case "", "title", "tags": words.append(value)
            default: break
            }
        }
    }

    func match(_ group: Group) -> Bool {
        let text = "\(group.title) \(group.details["tags"]?.arrayValue?.compactMap(\.stringValue) ?? [])".lowercased()
        return (ids.isEmpty || ids.contains(group.id)) && (owners.isEmpty || owners.contains(group.owner.lowercased()))
            && words.allSatisfy { text.contains($0.replacing("*", with: "")) }
    }
}
