import FieldworkPortal
import FieldworkREST

/// The gallery: the maps that the reader may see, or everything.
extension HomePage {
    static func maps(_ context: RouteContext) async throws -> Answer { try await HomePage(context).maps() }

    private func maps() async throws -> Answer {
        guard principal.kind != .everybody else { return withoutPeople() }
        try await context.server.keepServiceItems()
        let words = parameters["q"] ?? ""
        let showsAll = parameters["show"] == "all"
        let start = max(1, try parameters.integer("start") ?? 1) - 1
        let found = try await find(words, filter: showsAll ? nil : "type:\"Web Map\"", from: start)
        let message = found.message ?? doneMessage
        return page(showsAll ? "Maps, services and other items" : "Maps", in: .maps, message: message) { html in
            search(words, showsAll, in: &html)
            if found.message == nil {
                html.element("<p class=\"muted\">", Self.counted(found.total, showsAll ? "item" : "map"), "</p>")
            }
            html.markup("<ul class=\"cards\">")
            for item in found.items { card(item, in: &html) }
            html.markup("</ul>")
            if found.total == 0, found.message == nil { nothing(words, in: &html) }
            steps(
                start, of: found.total, Limits.itemsPerPage, to: home,
                [("q", words), ("show", showsAll ? "all" : "maps")], in: &html)
        }
    }

    /// One page of a search by words that a person has typed.
    struct Found {
        var items: [Item] = []
        var total = 0
        /// Why there is nothing: the words go beyond what a search may have.
        var message: Message?
    }

    func find(
        _ words: String, filter: String? = nil, from start: Int, order: SearchOrder = .modified
    ) async throws -> Found {
        do {
            let result = try await portal.search(
                words, filter: filter, from: start, count: Limits.itemsPerPage, order: order,
                isDescending: order == .modified, for: principal)
            return Found(items: result.items, total: result.total)
        } catch let error as PortalError where error.kind == .overLimit {
            return Found(message: Message(text: error.message, isFailure: true))
        }
    }

    private func withoutPeople() -> Answer {
        page("Maps", in: .maps) { html in
            html.markup("<p>This server has no people yet, and therefore no portal: whoever reaches it may use its ")
            html.link(to: context.directory.services, "services")
            html.markup(
                ".</p><p><code>fieldwork users add NAME --role administrator</code> adds the first person.</p>")
        }
    }

    private func search(_ words: String, _ showsAll: Bool, in html: inout HTMLWriter) {
        html.markup("<form class=\"search\" method=\"get\" role=\"search\" action=\"")
        html.path(home)
        html.element(
            "\"><div><label for=\"q\">Search</label><input id=\"q\" name=\"q\" type=\"search\" value=\"", words,
            "\"></div>")
        html.markup(
            "<div><label for=\"show\">Show</label><select id=\"show\" name=\"show\"><option value=\"maps\">Maps</option>"
        )
        html.markup(showsAll ? "<option value=\"all\" selected>" : "<option value=\"all\">")
        html.markup(
            "Maps, services and other items</option></select></div><button class=\"main\" type=\"submit\">Search</button></form>"
        )
    }

    private func nothing(_ words: String, in html: inout HTMLWriter) {
        html.markup(
            !words.isEmpty
                ? "<p>Nothing that you may see has these words.</p>"
                : principal.isSignedIn
                    ? "<p>No map is shared with you yet. Ask its owner to share one.</p>"
                    : "<p>No map is shared with everyone. People who have signed in may see more.</p>")
    }

    private func card(_ item: Item, in html: inout HTMLWriter) {
        html.markup("<li class=\"card\">")
        picture(of: item, in: &html)
        html.markup("<div><a href=\"")
        html.path(home + ["item.html"])
        html.query([("id", item.id)])
        html.element("\" dir=\"auto\">", item.title, "</a>")
        html.element("<p class=\"small muted\">", item.type, " · ")
        html.element("", item.owner, " · ")
        html.element("", Self.day(item.modified), "</p>")
        if let snippet = item.fields.snippet, !snippet.isEmpty {
            html.element("<p class=\"small\" dir=\"auto\">", snippet, "</p>")
        }
        html.markup("</div></li>")
    }

    /// The picture says nothing that the title doesn't say.
    func picture(of item: Item, in html: inout HTMLWriter) {
        guard let path = thumbnail(of: item) else {
            html.markup("<span class=\"thumb none\"></span>")
            return
        }
        html.markup("<img class=\"thumb\" alt=\"\" width=\"600\" height=\"400\" loading=\"lazy\" src=\"")
        html.path(path)
        html.markup("\">")
    }

    static func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
}
