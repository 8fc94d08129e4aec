import FieldworkPortal
import FieldworkREST
import HTTPTypes

/// The frame of the portal's pages: plain HTML without script, every value escaped, for a telephone as well as for a desk. What a
/// page shows and does is decided by the functions that the protocol's operations call.
struct HomePage: Sendable {
    let operations: PortalOperations
    var context: RouteContext { operations.context }
    var portal: Portal { operations.portal }
    var principal: Principal { operations.principal }
    var parameters: RequestParameters { operations.request.parameters }

    init(_ context: RouteContext) async throws { operations = try await PortalOperations(context) }

    /// The rooms of the portal, as the bar names them.
    enum Room: Sendable {
        case maps, groups, people
        /// A page of a person, or of an error.
        case none
    }

    /// What a page says above its content: that something was done, or why it was not.
    struct Message: Sendable {
        var text: String
        var isFailure = false
    }

    /// What the form before has done, by the word in the address that the browser was sent to.
    var doneMessage: Message? {
        let words = [
            "shared": "The sharing was changed.", "added": "It was added.", "changed": "It was changed.",
            "removed": "It was removed.", "password": "The password was changed. Sign in with the new one.",
        ]
        return parameters["done"].flatMap { words[$0] }.map { Message(text: $0) }
    }

    // MARK: Addresses

    var home: [String] { context.directory.below + [context.server.instance, "home"] }
    private var sharing: [String] { context.directory.below + [context.server.instance, "sharing", "rest"] }

    func thumbnail(of item: Item) -> [String]? {
        item.fields.thumbnail.map { sharing + ["content", "items", item.id, "info", "thumbnail", $0] }
    }

    /// The address of an item's page, as others are given it.
    func address(of item: Item) -> String { "\(operations.answers.base)/home/item.html?id=\(item.id)" }

    /// Sends the browser back to a page after a form has been done: a reload does not do it again.
    func back(to segments: [String], _ query: String = "") -> Answer {
        var html = HTMLWriter()
        html.path(home + segments)
        return .redirect(to: String(decoding: html.bytes, as: UTF8.self) + query)
    }

    // MARK: The frame

    static let contentPolicy =
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    func page(
        _ title: String, in room: Room, item: String? = nil, message: Message? = nil,
        _ content: (inout HTMLWriter) -> Void
    ) -> Answer {
        var html = HTMLWriter()
        html.markup("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        html.element("<title>", title, " · Fieldwork</title><link rel=\"stylesheet\" href=\"")
        html.path(context.directory.below + ["portal.css"])
        html.markup("\"></head><body><a class=\"skip\" href=\"#content\">Skip to the content</a>")
        bar(room, item, in: &html)
        html.element("<main class=\"wrap\" id=\"content\"><h1>", title, "</h1>")
        if let message {
            html.markup(
                message.isFailure ? "<p class=\"note failed\" role=\"alert\">" : "<p class=\"note\" role=\"status\">")
            html.text(message.text)
            html.markup("</p>")
        }
        content(&html)
        html.markup("</main></body></html>")
        var answer = Answer(contentType: "text/html;charset=utf-8", body: .bytes(html.bytes))
        answer.isPage = true
        answer.isSecret = true
        answer.contentPolicy = Self.contentPolicy
        if message?.isFailure == true { answer.errorCode = 400 }
        return answer
    }

    private func bar(_ room: Room, _ item: String?, in html: inout HTMLWriter) {
        html.markup("<header class=\"bar\"><span class=\"brand\">Fieldwork</span><nav aria-label=\"Portal\">")
        entry("Maps", home, isHere: room == .maps, in: &html)
        if principal.isSignedIn { entry("Groups", home + ["groups"], isHere: room == .groups, in: &html) }
        if principal.has(.viewUsers) { entry("People", home + ["people"], isHere: room == .people, in: &html) }
        html.markup("</nav>")
        if principal.kind == .nobody { signIn(item, in: &html) }
        if let name = principal.name {
            html.link(to: home + ["people", name], name)
            html.markup("<form method=\"post\" action=\"")
            html.path(sharing + ["oauth2", "signout"])
            html.markup("\"><button type=\"submit\">Sign out</button></form>")
        }
        html.markup("</header>")
    }

    private func entry(_ name: String, _ path: [String], isHere: Bool, in html: inout HTMLWriter) {
        html.markup("<a href=\"")
        html.path(path)
        html.markup(isHere ? "\" aria-current=\"page\">" : "\">")
        html.text(name)
        html.markup("</a>")
    }

    /// - Parameter item: the item whose page is shown after the sign-in.
    private func signIn(_ item: String?, in html: inout HTMLWriter) {
        html.markup("<form method=\"get\" action=\"")
        html.path(sharing + ["oauth2", "authorize"])
        html.element("\"><input type=\"hidden\" name=\"client_id\" value=\"", OAuthClient.home.id, "\">")
        html.markup("<input type=\"hidden\" name=\"response_type\" value=\"code\">")
        if let item { html.element("<input type=\"hidden\" name=\"state\" value=\"", item, "\">") }
        html.markup("<button class=\"main\" type=\"submit\">Sign in</button></form>")
    }

    /// For a page that is not for everybody: the same words whether there is such a thing or not.
    func closed(_ title: String, in room: Room, item: String? = nil) -> Answer {
        var answer = page(title, in: room, item: item) { html in
            html.markup(
                principal.isSignedIn
                    ? "<p>It is not there, or you may not see it.</p>"
                    : "<p>It is not there, or only people who have signed in see it. <b>Sign in</b> stands above.</p>")
        }
        answer.errorCode = principal.isSignedIn ? 403 : 499
        answer.status = .forbidden
        return answer
    }

    // MARK: Forms

    /// Does what a form asks for, and shows the page again with the reason where it can't be done.
    func done(
        _ back: Answer, _ work: () async throws -> Void, else page: (Message) async throws -> Answer
    ) async throws -> Answer {
        do {
            try await work()
            return back
        } catch let error as PortalError {
            return try await page(Message(text: error.message, isFailure: true))
        } catch let error as ServiceError {
            return try await page(
                Message(text: ([error.message] + error.details).joined(separator: " "), isFailure: true))
        }
    }

    /// Opens a form that posts to a page of the portal.
    func form(to segments: [String], _ kind: StaticString = "gap", in html: inout HTMLWriter) {
        html.markup("<form method=\"post\" class=\"")
        html.markup(kind)
        html.markup("\" action=\"")
        html.path(home + segments)
        html.markup("\">")
    }

    /// The links to the pages before and after one of a list.
    func steps(
        _ start: Int, of total: Int, _ count: Int, to path: [String], _ fields: [(name: StaticString, value: String)],
        in html: inout HTMLWriter
    ) {
        guard start > 0 || start + count < total else { return }
        html.markup("<nav class=\"steps\" aria-label=\"Pages\">")
        for (title, next) in [("Previous", start - count), ("Next", start + count)] where next < total && next > -count
        {
            html.markup("<a class=\"btn\" href=\"")
            html.path(path)
            html.query(fields + [("start", "\(max(0, next) + 1)")])
            html.element("\">", title, "</a>")
        }
        html.markup("</nav>")
    }

    /// The day of a moment, in UTC.
    static func day(_ milliseconds: Int64) -> String {
        String(HTTPDate.text(secondsSince1970: milliseconds / 1_000).dropFirst(5).prefix(11))
    }
}
