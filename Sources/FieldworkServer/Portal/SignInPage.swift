import FieldworkPortal
import FieldworkREST

/// The pages on which people sign in: plain, without style sheets of others, not to be framed.
struct SignInPage: Sendable {
    let context: RouteContext

    init(_ context: RouteContext) { self.context = context }

    private var below: [String] { context.directory.below }
    private var sharing: [String] { below + [context.server.instance, "sharing"] }

    /// The form. Clients that read the page look for the object that begins with `oauth_state`, the first one in the page.
    /// - Parameter name: what was typed before, which stays where it can be a name: the first brace of the page is the object's.
    func form(state: String, _ wanted: AuthorizationRequest, message: String?, name: String = "") -> Answer {
        var html = head("Sign in")
        html.element("<p>to go on to ", wanted.title, "</p>")
        if let message { html.element("<p class=\"failed\" role=\"alert\" id=\"message\">", message, "</p>") }
        html.markup("<form method=\"post\" action=\"")
        html.path(sharing + ["oauth2", "signin"])
        html.markup("\"><input type=\"hidden\" name=\"oauth_state\" value=\"")
        html.text(state)
        html.markup(
            """
            "><label for="username">User name</label>
            <input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required value="
            """)
        let kept = (try? Person.checked(name)) ?? ""
        html.text(kept)
        html.markup(message == nil ? "\"" : "\" aria-describedby=\"message\"")
        html.markup(kept.isEmpty ? " autofocus>" : ">")
        html.markup(
            """
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required
            """)
        html.markup(kept.isEmpty ? ">" : " autofocus>")
        html.markup(
            """
            <button class="main" type="submit">Sign in</button>
            <button type="submit" name="cancel" value="true" formnovalidate>Cancel</button></form>
            """)
        providerLink(state, in: &html)
        script(state, message, in: &html)
        return end(html, sendsTo: wanted.redirect)
    }

    /// No script runs: the content policy forbids it. It is there for clients that read pages.
    private func script(_ state: String, _ message: String?, in html: inout HTMLWriter) {
        html.markup("<script type=\"application/json\" id=\"oauth\">var oAuthInfo = {\"oauth_state\":\"")
        html.text(state)
        html.markup("\"")
        if message != nil {
            html.markup(",\"code\":\"OAUTH_0015\",\"messages\":[\"Invalid username or password.\"]")
        }
        html.markup("};</script>")
    }

    /// Where a provider sends people back to, in full: the operator has told it.
    var providerReturn: String {
        [context.request.origin, context.server.instance, "sharing", "rest", "oauth2", "provider", "callback"]
            .joined(separator: "/")
    }

    /// A link, not a form: browsers hold a form to the addresses of its page through every step that follows it.
    private func providerLink(_ state: String, in html: inout HTMLWriter) {
        guard let provider = context.server.provider else { return }
        html.markup("<p class=\"gap\"><a class=\"btn wide\" rel=\"nofollow\" href=\"")
        html.path(sharing + ["rest", "oauth2", "provider"])
        html.query([("oauth_state", state)])
        html.element("\">Sign in with ", provider.settings.label, "</a></p>")
    }

    /// The address of the page that shows a code, in full: clients don't resolve it.
    func approval(_ code: String) -> String {
        let path = [context.request.origin, context.server.instance, "sharing", "rest", "oauth2", "approval"]
        return path.joined(separator: "/") + "?" + AuthorizationRequest.query([("code", code)])
    }

    /// A page that says something. Clients read its title.
    func success(_ title: String) -> Answer {
        var html = head(title)
        html.markup("<p>You can close this page.</p>")
        return end(html, sendsTo: nil)
    }

    func refusal(_ message: String) -> Answer {
        var html = head("Error")
        html.element("<p class=\"failed\" role=\"alert\">Error: ", message, "</p>")
        html.markup("<p>The application that sent you here asked for something that is not allowed.</p>")
        var answer = end(html, sendsTo: nil)
        answer.errorCode = 400
        return answer
    }

    private func head(_ title: String) -> HTMLWriter {
        var html = HTMLWriter()
        html.markup("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        html.element("<title>", title, "</title><link rel=\"stylesheet\" href=\"")
        html.path(below + ["portal.css"])
        html.element("\"></head><body><main class=\"sheet\"><h1>", title, "</h1>")
        return html
    }

    private func end(_ page: HTMLWriter, sendsTo redirect: String?) -> Answer {
        var html = page
        html.markup("</main></body></html>")
        var answer = Answer(contentType: "text/html;charset=utf-8", body: .bytes(html.bytes))
        answer.isPage = true
        answer.isSecret = true
        answer.contentPolicy = Self.contentPolicy(sendingTo: redirect)
        return answer
    }

    /// Browsers apply `form-action` to where a form's answer sends them as well.
    private static func contentPolicy(sendingTo redirect: String?) -> String {
        var target = ""
        if let redirect, redirect != OAuthClient.outOfBand {
            if let origin = SiteOrigin(address: redirect) {
                target = " " + origin.text
            } else if let mark = redirect.firstIndex(of: ":") {
                let scheme = redirect[..<mark]
                let isPlain = scheme.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
                    default: false
                    }
                }
                if isPlain { target = " \(scheme):" }
            }
        }
        return
            "default-src 'none'; style-src 'self'; form-action 'self'\(target); base-uri 'none'; frame-ancestors 'none'"
    }

    /// The cookie of a session: no script reads it, and no other site's page sends it along.
    static func cookie(
        _ value: String, _ request: ServiceRequest, seconds: Int64, name: String = Authenticator.cookie
    ) -> String {
        let secure = request.origin.hasPrefix("https:") ? "; Secure" : ""
        return "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax\(secure)"
    }
}
