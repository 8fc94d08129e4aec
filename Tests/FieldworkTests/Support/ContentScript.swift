import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

@testable import Fieldwork

/// The content of a portal, in memory: items of Ana, folders, a search by words. What only Ana may see wants a token.
final class ContentScript: Sendable {
    struct State: Sendable {
        var items: [String: JSONObject] = [:]
        var data: [String: String] = [:]
        var folders: [(id: String, title: String)] = []
        var clock: Int64 = 1_700_000_000_000
        var losses = 0
        var refusesGroups = false
    }

    let state = Mutex(State())

    func item(_ id: String) -> JSONObject? { state.withLock { $0.items[id] } }

    /// Another person's change.
    func change(_ id: String, _ name: String, _ value: JSONValue) {
        state.withLock { state in
            state.clock += 1
            state.items[id]?[name] = value
            state.items[id]?["modified"] = .integer(state.clock)
        }
    }

    func put(_ id: String, _ values: JSONValue, data: String = "") {
        state.withLock { state in
            state.clock += 1
            var item = JSONObject([
                "id": .string(id), "owner": "ana", "access": "private", "created": .integer(state.clock),
                "modified": .integer(state.clock),
            ])
            for member in values.objectValue?.members ?? [] { item[member.key] = member.value }
            state.items[id] = item
            state.data[id] = data
        }
    }

    /// The answer to a request under `/portal/sharing/rest`; nil for others.
    func answer(_ request: LoopbackServer.Request, _ portal: PortalScript) -> LoopbackServer.Action? {
        let prefix = "/portal/sharing/rest/"
        guard request.path.hasPrefix(prefix) else { return nil }
        let steps = request.path.dropFirst(prefix.count).split(separator: "/").map {
            String($0).removingPercentEncoding ?? ""
        }
        let user = PortalScript.token(of: request).flatMap { token in
            portal.state.withLock { $0.tokens.contains(token) ? $0.usersOfTokens[token] : nil }
        }
        let isRefused = PortalScript.token(of: request) != nil && user == nil
        switch steps.first {
        case "portals" where steps.last == "self": return isRefused ? Self.ended : Self.me(user)
        case "search": return search(request, user)
        case "community": return .json(#"{"username":"ana","fullName":"Ana","role":"org_publisher"}"#)
        case "content" where isRefused: return Self.ended
        case "content" where steps.count > 2 && steps[1] == "items":
            return read(steps[2], Array(steps.dropFirst(3)), user)
        case "content" where steps.count > 2 && steps[1] == "users":
            guard user != nil else { return PortalScript.error(499, "Token Required") }
            return write(Array(steps.dropFirst(3)), request)
        default: return nil
        }
    }

    private static let ended = PortalScript.error(498, "Invalid token.")

    private static func me(_ user: String?) -> LoopbackServer.Action {
        let person = user.map { #","user":{"username":"\#($0)","fullName":"Ana Alba","role":"org_publisher"}"# } ?? ""
        return .json(#"{"id":"0123","name":"Trees","portalName":"Fieldwork","portalMode":"singletenant"\#(person)}"#)
    }

    private func sees(_ item: JSONObject, _ user: String?) -> Bool {
        item["access"]?.stringValue == "public" || item["owner"]?.stringValue == user
    }

    private func search(_ request: LoopbackServer.Request, _ user: String?) -> LoopbackServer.Action {
        let form = request.parameters
        let start = Int(form["start"] ?? "") ?? 1
        let count = Int(form["num"] ?? "") ?? 10
        let all = state.withLock { $0.items.values.filter { sees($0, user) } }
            .sorted { ($0["id"]?.stringValue ?? "") < ($1["id"]?.stringValue ?? "") }
        let page = all.dropFirst(start - 1).prefix(count)
        let next = start + count <= all.count ? start + count : -1
        var answer = JSONObject()
        answer["query"] = .string(form["q"] ?? "")
        answer["total"] = JSONValue(all.count)
        answer["nextStart"] = JSONValue(next)
        answer["results"] = .array(page.map(JSONValue.object))
        return .json(JSONValue.object(answer).text)
    }

    private func read(_ id: String, _ rest: [String], _ user: String?) -> LoopbackServer.Action {
        guard let item = item(id) else {
            return .json(
                #"{"error":{"code":400,"messageCode":"CONT_0001","message":"Item does not exist.","details":[]}}"#)
        }
        guard sees(item, user) else {
            return .json(
                #"{"error":{"code":403,"messageCode":"GWM_0003","message":"No permissions.","details":[]}}"#)
        }
        switch rest.first {
        case nil: return .json(JSONValue.object(item).text)
        case "data": return .json(state.withLock { $0.data[id] ?? "" })
        case "info":
            return .answer(status: 200, headers: [("Content-Type", "image/png")], body: Data([0x89, 0x50, 0x4E, 0x47]))
        case "relatedItems": return .json(#"{"total":1,"relatedItems":[{"id":"area","type":"Map Area"}]}"#)
        case "resources" where rest.count == 1:
            return .json(
                #"{"total":1,"nextStart":-1,"resources":[{"resource":"images/a b.png","size":3,"created":1000}]}"#)
        case "resources":
            return .answer(status: 200, headers: [], body: Data(rest.dropFirst().joined(separator: "|").utf8))
        default: return PortalScript.error(404, "Not found")
        }
    }

    private func write(_ steps: [String], _ request: LoopbackServer.Request) -> LoopbackServer.Action {
        let form = request.parameters
        let loses = state.withLock { state in
            guard request.method == "POST", state.losses > 0 else { return false }
            state.losses -= 1
            return true
        }
        let answer = done(steps, form)
        return loses ? .breakOff : answer
    }

    private func done(_ steps: [String], _ form: [String: String]) -> LoopbackServer.Action {
        if steps.last == "addItem" {
            let id = form["itemIdToCreate"] ?? ""
            var values = Self.values(form)
            values["ownerFolder"] = steps.count > 1 ? .string(steps[0]) : .null
            put(id, .object(values), data: form["text"] ?? "")
            return .json(#"{"success":true,"id":"\#(id)","folder":""}"#)
        }
        if steps.last == "createFolder" {
            state.withLock { $0.folders.append((id: "f\($0.folders.count)", title: form["title"] ?? "")) }
            return .json(#"{"success":true,"folder":{"username":"ana","id":"f0","title":"\#(form["title"] ?? "")"}}"#)
        }
        guard let place = steps.firstIndex(of: "items"), place + 2 < steps.count else { return content() }
        let id = steps[place + 1]
        switch steps[place + 2] {
        case "update":
            state.withLock { state in
                for member in Self.values(form).members { state.items[id]?[member.key] = member.value }
                if let text = form["text"] { state.data[id] = text }
                state.clock += 1
                state.items[id]?["modified"] = .integer(state.clock)
            }
        case "delete": state.withLock { _ = $0.items.removeValue(forKey: id) }
        case "share":
            if state.withLock({ $0.refusesGroups }), form["groups"]?.isEmpty == false {
                return .json(#"{"notSharedWith":["g1"],"itemId":"\#(id)"}"#)
            }
            let access = form["everyone"] == "true" ? "public" : form["org"] == "true" ? "org" : "private"
            change(id, "access", .string(access))
            return .json(#"{"notSharedWith":[],"itemId":"\#(id)"}"#)
        default: return PortalScript.error(404, "Not found")
        }
        return .json(#"{"success":true,"id":"\#(id)"}"#)
    }

    private func content() -> LoopbackServer.Action {
        let (items, folders) = state.withLock { (Array($0.items.values), $0.folders) }
        var answer = JSONObject()
        answer["nextStart"] = -1
        answer["items"] = .array(items.map(JSONValue.object))
        answer["folders"] = .array(folders.map { ["id": .string($0.id), "title": .string($0.title)] })
        return .json(JSONValue.object(answer).text)
    }

    private static func values(_ form: [String: String]) -> JSONObject {
        var values = JSONObject()
        for name in ["title", "type", "snippet", "description", "accessInformation"] {
            if let text = form[name] { values[name] = .string(text) }
        }
        if let tags = form["tags"] { values["tags"] = .array(tags.split(separator: ",").map { .string(String($0)) }) }
        return values
    }

    /// Runs a test with a portal that has content, and an environment whose requests go to it.
    static func with(
        _ test: (ContentScript, PortalScript, URL, ServiceEnvironment, AuthenticationManager) async throws -> Void
    ) async throws {
        let content = ContentScript()
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-portal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await PortalScript.with({ request, portal in content.answer(request, portal) }) { portal, server, manager in
            let environment = ServiceEnvironment(
                directory: folder, client: manager.client, downloads: manager.client)
            try await test(content, portal, try server.url("/portal"), environment, manager)
        }
    }
}
