import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

extension Route {
    typealias PortalBody = @Sendable (PortalOperations) async throws -> JSONValue

    private static func read(_ path: String, _ body: @escaping PortalBody) -> Route {
        Route(.portal, path, metric: .portal, needs: .visit) { try await PortalOperations.answer($0, body) }
    }

    private static func write(_ path: String, body kind: Body = .parameters, _ body: @escaping PortalBody) -> Route {
        Route(.portal, path, .write, metric: .portal, needs: .member, body: kind) {
            try await PortalOperations.answer($0, body)
        }
    }

    /// Who one is.
    static let signInRoutes: [Route] = ownSignInRoutes + spelled(.sharing) + spelled(.portal)

    private static let ownSignInRoutes: [Route] = [
        Route(.tokens, "generateToken", .write, metric: .token, needs: .prove) {
            try await TokenEndpoint.generate($0)
        },
        Route(.tokens, "", .write, metric: .token, needs: .prove) { try await TokenEndpoint.generate($0) },
    ]

    /// Clients use both spellings of these addresses.
    private static func spelled(_ base: Base) -> [Route] {
        [
            Route(base, "generateToken", .write, metric: .token, needs: .prove) {
                try await TokenEndpoint.generate($0)
            },
            Route(base, "oauth2/authorize", .read, [.html, .json], metric: .token, needs: .prove) {
                try await OAuthEndpoints.authorize($0)
            },
            Route(base, "oauth2/signin", .write, [.html], metric: .token, needs: .prove) {
                try await OAuthEndpoints.signIn($0)
            },
            Route(base, "oauth2/approval", .read, [.html], metric: .token, needs: .prove) {
                try await OAuthEndpoints.approval($0)
            },
            Route(base, "oauth2/provider", .read, [.html], metric: .token, needs: .prove) {
                try await ProviderEndpoints.begin($0)
            },
            Route(base, "oauth2/provider/callback", .read, [.html], metric: .token, needs: .prove) {
                try await ProviderEndpoints.finish($0)
            },
            Route(base, "oauth2/token", .write, metric: .token, needs: .prove) {
                try await OAuthEndpoints.token($0)
            },
            Route(base, "oauth2/revokeToken", .write, metric: .token, needs: .prove) {
                try await OAuthEndpoints.revoke($0)
            },
            Route(base, "oauth2/signout", .write, [.html], metric: .token, needs: .prove) {
                try await OAuthEndpoints.signOut($0)
            },
            Route(base, "oauth2/validateAppAccess", .write, metric: .token, needs: .prove) {
                try await OAuthEndpoints.validate($0)
            },
        ]
    }

    /// Clients read the resources above the one that they use.
    private static func administrationRoot(_ path: String, _ json: JSONValue) -> Route {
        Route(.portalAdministration, path, metric: .portal, needs: .visit) {
            .json(json, format: try $0.jsonFormat)
        }
    }

    /// The portal and its people.
    static let portalRoutes: [Route] = [
        Route(.instance, "info", metric: .info, needs: .nothing) {
            try await ServerInfo.answer($0)
        },
        Route(.portal, "", metric: .portal, needs: .nothing) {
            let version = PortalAnswers.version
            return .json(
                [
                    "currentVersion": .string(version), "fullVersion": .string("\(version).0"),
                    "enterpriseVersion": "11.2.0",
                ], format: try $0.jsonFormat)
        },
        Route(.portal, "info", metric: .info, needs: .nothing) { try await ServerInfo.portalAnswer($0) },
        read("portals/self") { try await $0.selfDescription() },
        // Clients look at these before they change or remove a person.
        read("portals/languages") { _ in [["language": "English", "culture": "en", "localizedName": "English"]] },
        read("portals/self/purchases") { _ in ["purchases": []] },
        read("portals/self/appBundles") { _ in ["appBundles": [], "total": 0, "nextStart": -1] },
        read("community/users/{username}/provisionedListings") { _ in
            ["provisionedListings": [], "total": 0, "nextStart": -1]
        },
        read("portals/self/isServiceNameAvailable") { try await $0.isServiceNameAvailable() },
        read("portals/self/users") { try await $0.users() },
        read("portals/self/roles") { try await $0.roles() },
        read("portals/self/history") { try await $0.history() },
        read("portals/self/roles/{name}/privileges") { try await $0.rolePrivileges() },
        write("portals/self/createRole") { try await $0.createRole() },
        write("portals/self/roles/{name}/setPrivileges") { try await $0.setRolePrivileges() },
        write("portals/self/updateUserRole") { try await $0.updateUserRole() },
        write("portals/self/enableUsers") { try await $0.setUsersDisabled(false) },
        write("portals/self/disableUsers") { try await $0.setUsersDisabled(true) },
        write("portals/self/createUser") { try await $0.createUser() },
        // Where clients of today make people, and what they look at before.
        administrationRoot("", ["version": .string(PortalAnswers.version), "resources": ["security"]]),
        administrationRoot("security", ["resources": ["users"]]),
        administrationRoot("security/users", ["resources": []]),
        administrationRoot(
            "security/config",
            [
                "enableAutomaticAccountCreation": false, "disableServicesDirectory": false,
                "defaultRoleForUser": .string(Role.viewer.id), "defaultUserTypeIdForUser": "creatorUT",
            ]),
        Route(.portalAdministration, "security/users/createUser", .write, metric: .portal, needs: .member) {
            try await PortalOperations.answer($0) {
                _ = try await $0.createUser()
                return ["status": "success"]
            }
        },
        read("community") { _ in [:] },
        read("community/self") { try await $0.ownDescription() },
        read("community/users") { try await $0.searchUsers() },
        read("community/users/{username}") { try await $0.userDescription() },
        write("community/users/{username}/update") { try await $0.updateUser() },
        write("community/users/{username}/delete") { try await $0.deleteUser() },
        read("community/groups") { try await $0.searchGroups() },
        read("community/groups/{group}") { try await $0.groupDescription() },
        read("community/groups/{group}/users") { try await $0.groupUsers() },
        write("community/createGroup") { try await $0.createGroup() },
        write("community/groups/{group}/update") { try await $0.updateGroup() },
        write("community/groups/{group}/delete") { try await $0.deleteGroup() },
        write("community/groups/{group}/addUsers") { try await $0.addGroupUsers() },
        write("community/groups/{group}/removeUsers") { try await $0.removeGroupUsers() },
        write("community/groups/{group}/leave") { try await $0.leaveGroup() },
    ]

    /// Applications that people have registered.
    static let appRoutes: [Route] = [
        write("oauth2/registerApp") { try await $0.registerApp() },
        read("oauth2/apps") { try await $0.apps() },
        read("oauth2/apps/{name}") { try await $0.appDescription() },
        write("oauth2/apps/{name}/update") { try await $0.updateApp() },
        write("oauth2/apps/{name}/unregister") { try await $0.unregisterApp() },
    ]

    /// Items and what belongs to them.
    static let contentRoutes: [Route] = [
        read("search") { try await $0.search() },
        read("content/groups/{group}") { try await $0.groupContent() },
        read("content/groups/{group}/search") { try await $0.groupContent() },
        read("content/items/{item}") { try await $0.itemDescription() },
        Route(.portal, "content/items/{item}/data", .read, [.json, .file], metric: .portal, needs: .visit) {
            try await PortalContents.data($0)
        },
        Route(
            .portal, "content/items/{item}/info/thumbnail/{name}", .read, [.file], metric: .portal, needs: .visit
        ) { try await PortalContents.thumbnail($0) },
        read("content/items/{item}/resources") { try await $0.resources() },
        Route(
            .portal, "content/items/{item}/resources/{name}", .read, [.file], metric: .portal, needs: .visit
        ) { try await PortalContents.resource($0) },
        Route(
            .portal, "content/items/{item}/resources/{prefix}/{name}", .read, [.file], metric: .portal,
            needs: .visit
        ) { try await PortalContents.resource($0) },
        read("content/items/{item}/relatedItems") { try await $0.relatedItems() },
        read("content/items/{item}/groups") { try await $0.itemGroups() },
        write("content/items/{item}/share") { try await $0.shareItem() },
        write("content/items/{item}/unshare") { try await $0.unshareItem() },
        write("content/items/{item}/update", body: .files) { try await $0.updateItem() },
        read("content/users/{username}") { try await $0.folderContent() },
        read("content/users/{username}/{folder}") { try await $0.folderContent() },
        write("content/users/{username}/createFolder") { try await $0.createFolder() },
        write("content/users/{username}/{folder}/updateFolder") { try await $0.updateFolder() },
        write("content/users/{username}/{folder}/delete") { try await $0.deleteFolder() },
        write("content/users/{username}/createService") { try await $0.createService() },
        write("content/users/{username}/{folder}/createService") { try await $0.createService() },
        write("content/features/analyze", body: .files) { try await $0.analyze() },
        write("content/users/{username}/publish") { try await $0.publishItem() },
        write("content/users/{username}/{folder}/publish") { try await $0.publishItem() },
        write("content/users/{username}/export") { try await $0.exportItem() },
        write("content/users/{username}/{folder}/export") { try await $0.exportItem() },
        write("content/users/{username}/addItem", body: .files) { try await $0.addItem() },
        write("content/users/{username}/{folder}/addItem", body: .files) { try await $0.addItem() },
        write("content/users/{username}/deleteItems") { try await $0.deleteItems() },
        write("content/users/{username}/shareItems") { try await $0.shareItems() },
        write("content/users/{username}/unshareItems") { try await $0.unshareItems() },
        write("content/users/{username}/addRelationship") { try await $0.setRelation(exists: true) },
        write("content/users/{username}/deleteRelationship") { try await $0.setRelation(exists: false) },
        Route(.portal, "*", metric: .portal, needs: .visit) { _ in
            throw ServiceError(code: 400, message: "Invalid URL", details: ["The portal has no such operation."])
        },
    ]

    /// What its owner does with an item, outside of folders and within.
    static let ownedItemRoutes: [Route] =
        placed(at: "content/users/{username}/items/{item}")
        + placed(at: "content/users/{username}/{folder}/items/{item}")

    private static func placed(at place: String) -> [Route] {
        [
            read(place) { try await $0.ownedItem() },
            write("\(place)/update", body: .files) { try await $0.updateItem() },
            write("\(place)/addPart", body: .files) { try await $0.addPart() },
            write("\(place)/commit", body: .files) { try await $0.commitParts() },
            write("\(place)/cancel") { try await $0.cancelParts() },
            read("\(place)/status") { try await $0.itemStatus() },
            read("\(place)/registeredAppInfo") { try await $0.registeredAppInfo() },
            write("\(place)/delete") { try await $0.deleteItem() },
            write("\(place)/move") { try await $0.moveItem() },
            write("\(place)/reassign") { try await $0.reassignItem() },
            write("\(place)/protect") { try await $0.setProtected(true) },
            write("\(place)/unprotect") { try await $0.setProtected(false) },
            write("\(place)/share") { try await $0.shareItem() },
            write("\(place)/unshare") { try await $0.unshareItem() },
            write("\(place)/addResources", body: .files) { try await $0.setResource(mustExist: false) },
            write("\(place)/updateResources", body: .files) { try await $0.setResource(mustExist: true) },
            write("\(place)/removeResources") { try await $0.removeResources() },
        ]
    }
}
