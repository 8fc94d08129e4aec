extension Route {
    private static func page(_ path: String, _ body: @escaping Handler) -> Route {
        Route(.home, path, .read, [.html], metric: .page, needs: .visit, answer: body)
    }

    /// A form of a page. Like every write it is refused to pages of other sites.
    private static func form(_ path: String, _ body: @escaping Handler) -> Route {
        Route(.home, path, .write, [.html], metric: .page, needs: .member, answer: body)
    }

    /// The portal's pages for a browser. The addresses of the first ones are those that clients of the protocol know.
    static let homeRoutes: [Route] = [
        Route(.server, "portal.css", .read, [.file], metric: .page, needs: .nothing) { _ in
            Answer.text(HomeStylesheet.text, type: "text/css;charset=utf-8").tagged()
        },
        page("") { try await HomePage.maps($0) },
        page("index.html") { try await HomePage.maps($0) },
        page("gallery.html") { try await HomePage.maps($0) },
        page("item.html") { try await HomePage.item($0) },
        Route(.home, "items/{item}/code.svg", .read, [.file], metric: .page, needs: .visit) {
            try await HomePage.code($0)
        },
        form("items/{item}/share") { try await HomePage.share($0) },
        page("groups") { try await HomePage.groups($0) },
        form("addGroup") { try await HomePage.addGroup($0) },
        page("groups/{group}") { try await HomePage.group($0) },
        form("groups/{group}/addMember") { try await HomePage.addMember($0) },
        form("groups/{group}/removeMember") { try await HomePage.removeMember($0) },
        form("groups/{group}/delete") { try await HomePage.removeGroup($0) },
        page("people") { try await HomePage.people($0) },
        page("visitors") { try await HomePage.visitors($0) },
        form("addPerson") { try await HomePage.addPerson($0) },
        page("people/{username}") { try await HomePage.person($0) },
        form("people/{username}/role") { try await HomePage.changeRole($0) },
        form("people/{username}/password") { try await HomePage.setPassword($0) },
        form("people/{username}/disable") { try await HomePage.setDisabled(true, $0) },
        form("people/{username}/enable") { try await HomePage.setDisabled(false, $0) },
        Route(.home, "welcome", .read, [.html], metric: .page, needs: .prove) { try await HomePage.welcome($0) },
        Route(.home, "choosePassword", .write, [.html], metric: .page, needs: .prove) {
            try await HomePage.choosePassword($0)
        },
    ]
}
