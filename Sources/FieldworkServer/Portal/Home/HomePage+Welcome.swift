import FieldworkPortal
import FieldworkREST

/// Where a link leads by which a person chooses a password.
extension HomePage {
    /// Looking uses nothing up: programs that follow addresses before their readers do don't take a link away.
    static func welcome(_ context: RouteContext) async throws -> Answer {
        try await HomePage(context).welcome(message: nil)
    }

    static func choosePassword(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        return try await page.done(page.back(to: [], "?done=password")) {
            let password = try page.operations.required("password")
            guard password == page.parameters["again"] else {
                throw PortalError(.invalid, "The two passwords are not the same.")
            }
            _ = try await page.portal.accept(
                invitation: page.code, password: password, from: page.operations.request.peer)
        } else: {
            try await page.welcome(message: $0)
        }
    }

    private var code: String { parameters["code"] ?? "" }

    private func welcome(message: Message?) async throws -> Answer {
        guard let person = try await portal.invited(by: code) else {
            var answer = page("Choose a password", in: .none) { html in
                html.markup("<p>This link was used already, or is too old. Ask for a new one.</p>")
            }
            answer.errorCode = 400
            return answer
        }
        return page("Choose a password", in: .none, message: message) { html in
            html.markup("<section class=\"card\">")
            form(to: ["choosePassword"], in: &html)
            html.element("<input type=\"hidden\" name=\"code\" value=\"", code, "\">")
            html.markup(
                "<label for=\"username\">User name</label><input id=\"username\" autocomplete=\"username\" readonly")
            html.element(" value=\"", person.name, "\">")
            html.element(
                "<label for=\"password\">Password, at least ", "\(FieldworkPortal.Limits.passwordLength)",
                " characters</label>")
            html.markup(
                """
                <input id="password" name="password" type="password" autocomplete="new-password" required>
                <label for="again">The same again</label>
                <input id="again" name="again" type="password" autocomplete="new-password" required>
                <p class="gap"><button class="main" type="submit">Set the password</button></p></form></section>
                """)
        }
    }
}
