import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

/// Registered applications, under the addresses that clients of the protocol use.
extension PortalOperations {
    /// Registers the application of an item. The answer is the only one that ever tells its secret.
    func registerApp() async throws -> JSONValue {
        try checkAppType()
        let made = try await portal.registerApp(
            try required("itemId").lowercased(), redirects: try redirects(), for: principal, by: author)
        var json = describe(made.app)
        json["client_secret"] = .string(made.secret)
        return .object(json)
    }

    func apps() async throws -> JSONValue {
        guard principal.isSignedIn || principal.kind == .everybody else { throw ServiceError.tokenRequired }
        let page = try page(standard: 100)
        let found = try await portal.apps(from: page.start, count: page.count, for: principal)
        var json = envelope(page, total: found.total)
        json["apps"] = .array(found.apps.map { .object(describe($0)) })
        return .object(json)
    }

    func appDescription() async throws -> JSONValue {
        .object(describe(try await portal.app(try appID, for: principal)))
    }

    /// The application that an item stands for.
    func registeredAppInfo() async throws -> JSONValue {
        .object(describe(try await portal.app(ofItem: try itemID, for: principal)))
    }

    func updateApp() async throws -> JSONValue {
        try checkAppType()
        return .object(
            describe(
                try await portal.updateApp(try appID, redirects: try redirects(), for: principal, by: author)))
    }

    func unregisterApp() async throws -> JSONValue {
        let id = try appID
        let app = try await portal.app(id, for: principal)
        try await portal.unregisterApp(id, for: principal, by: author)
        return ["success": true, "itemId": .string(app.item)]
    }

    private var appID: String {
        get throws {
            guard let id = values.text else { throw ServiceError.internalFailure }
            return id
        }
    }

    private func describe(_ app: RegisteredApp) -> JSONObject {
        JSONObject([
            "itemId": .string(app.item), "client_id": .string(app.client.id), "appType": "multiple",
            "redirect_uris": .array(app.client.redirects.map(JSONValue.string)),
            "registered": .integer(app.registered), "modified": .integer(app.registered), "httpReferrers": [],
            "privileges": [], "isBeta": false,
        ])
    }

    /// Every application may do all that the types of the protocol may.
    private func checkAppType() throws(ServiceError) {
        let known = ["multiple", "browser", "native", "server"]
        guard let type = request.parameters["appType"], !known.contains(type.lowercased()) else { return }
        throw .invalidParameter("'appType' is browser, native, server or multiple.")
    }

    /// `redirect_uris`: a list in JSON.
    private func redirects() throws -> [String] {
        guard let json = try request.parameters.json("redirect_uris") else { return [] }
        guard let list = json.arrayValue else {
            throw ServiceError.invalidParameter("'redirect_uris' is a list of addresses in JSON.")
        }
        return try list.map { entry in
            guard let text = entry.stringValue else {
                throw ServiceError.invalidParameter("'redirect_uris' is a list of addresses in JSON.")
            }
            return text
        }
    }
}
