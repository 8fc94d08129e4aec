import FieldworkPortal
import FieldworkREST

/// People, for who manages them; and of each person what the person may see and change, and why.
extension HomePage {
    static func people(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        return try await page.people(message: page.doneMessage)
    }

    static func addPerson(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        return try await page.done(page.back(to: ["people"], "?done=added")) {
            _ = try await page.operations.createUser()
        } else: {
            try await page.people(message: $0)
        }
    }

    private func people(message: Message?) async throws -> Answer {
        guard principal.has(.viewUsers), principal.kind == .person else { return closed("People", in: .people) }
        let start = max(1, try parameters.integer("start") ?? 1) - 1
        let found = try await portal.people(from: start, count: Limits.itemsPerPage)
        let custom = try await portal.customRoles()
        let roles = Role.all + custom
        return page("People", in: .people, message: message) { html in
            html.markup("<div class=\"two\"><section class=\"card\"><ul class=\"rows\">")
            for person in found.people {
                let role = roles.first { $0.id == person.roleID }
                html.markup("<li>")
                html.link(to: home + ["people", person.name], person.name)
                html.element(" <span dir=\"auto\">", person.fullName == person.name ? "" : person.fullName, "</span>")
                html.element("<br><span class=\"small muted\">", role?.word ?? person.roleID, " · ")
                html.element("", Self.lastSignIn(of: person), "")
                html.markup(person.isDisabled ? " · <b>can't sign in</b></span></li>" : "</span></li>")
            }
            html.markup("</ul>")
            steps(start, of: found.total, Limits.itemsPerPage, to: home + ["people"], [], in: &html)
            html.markup("<p class=\"gap\">")
            html.link(to: home + ["visitors"], "What is open to whoever has not signed in")
            html.markup("</p></section>")
            if principal.has(.inviteUsers) { addForm(roles, in: &html) }
            html.markup("</div>")
        }
    }

    private static func lastSignIn(of person: Person) -> String {
        person.lastSignIn < 0 ? "has never signed in" : "signed in last on \(day(person.lastSignIn))"
    }

    private func addForm(_ roles: [Role], in html: inout HTMLWriter) {
        html.markup("<section class=\"card\"><h2>Add a person</h2>")
        form(to: ["addPerson"], "", in: &html)
        html.markup(
            """
            <label for="username">User name</label><input id="username" name="username" autocapitalize="none"
            spellcheck="false" autocomplete="off" required><label for="fullname">Full name</label><input id="fullname"
            name="fullname" autocomplete="off">
            """)
        roleChoice(roles, chosen: Role.viewer.id, in: &html)
        passwordField(in: &html)
        html.markup("<p class=\"gap\"><button class=\"main\" type=\"submit\">Add</button></p></form></section>")
    }

    private func roleChoice(_ roles: [Role], chosen: String, in html: inout HTMLWriter) {
        html.markup("<label for=\"role\">Role</label><select id=\"role\" name=\"role\">")
        for role in roles {
            html.element("<option value=\"", role.id, "\"")
            html.markup(role.id == chosen ? " selected>" : ">")
            html.element("", role.word, "</option>")
        }
        html.markup("</select>")
    }

    private func passwordField(in html: inout HTMLWriter) {
        html.element(
            "<label for=\"password\">Password, at least ", "\(FieldworkPortal.Limits.passwordLength)",
            " characters</label><input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"new-password\" required>"
        )
    }

    // MARK: A person

    static func person(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        return try await page.person(try page.operations.person, message: page.doneMessage)
    }

    /// What is open to whoever has not signed in.
    static func visitors(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        guard page.principal.has(.viewUsers), page.principal.kind == .person else {
            return page.closed("Visitors", in: .people)
        }
        return try await page.page(
            "Without signing in", in: .people, at: page.home + ["visitors"], rightsOf: .nobody,
            name: "whoever has not signed in"
        ) { _ in }
    }

    static func changeRole(_ context: RouteContext) async throws -> Answer {
        try await change(context) {
            try await $0.operations.setRole(try $0.operations.required("role"), of: try $0.operations.person)
        }
    }

    static func setDisabled(_ isDisabled: Bool, _ context: RouteContext) async throws -> Answer {
        try await change(context) { try await $0.operations.setDisabled(isDisabled, try $0.operations.person) }
    }

    static func setPassword(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        // A new password ends the session of the page as well.
        let isOwn = page.principal.isNamed(try page.operations.person)
        return try await change(context, to: isOwn ? page.back(to: [], "?done=password") : nil) {
            // A form without a password must not pass for one that changes it.
            _ = try $0.operations.required("password")
            _ = try await $0.operations.updateUser()
        }
    }

    private static func change(
        _ context: RouteContext, to answer: Answer? = nil, _ work: (HomePage) async throws -> Void
    ) async throws -> Answer {
        let page = try await HomePage(context)
        let name = try page.operations.person
        return try await page.done(answer ?? page.back(to: ["people", name], "?done=changed")) {
            try await work(page)
        } else: {
            try await page.person(name, message: $0)
        }
    }

    private func person(_ name: String, message: Message?) async throws -> Answer {
        let isOwn = principal.isNamed(name)
        guard principal.kind == .person, isOwn || principal.has(.viewUsers),
            let person = try await portal.person(named: name)
        else { return closed("Person", in: .people) }
        let subject = try await portal.principal(named: name)
        let roles = Role.all + (try await portal.customRoles())
        let groups = try await portal.groups(for: principal, onlyOf: name)
        return try await page(
            person.name, in: isOwn && !principal.has(.viewUsers) ? .none : .people,
            at: home + ["people", person.name], rightsOf: subject, name: isOwn ? "you" : person.name, message: message
        ) { html in
            html.markup("<section class=\"card\">")
            html.element("<p dir=\"auto\">", person.fullName, "</p>")
            html.element("<p>Role: ", roles.first { $0.id == person.roleID }?.word ?? person.roleID, "</p>")
            html.element("<p class=\"small muted\">", Self.lastSignIn(of: person), "</p>")
            for group in groups {
                html.markup("<p>Member of ")
                html.link(to: home + ["groups", group.id], group.title)
                html.markup("</p>")
            }
            if person.isDisabled { html.markup("<p class=\"failed\">This person can't sign in.</p>") }
            html.markup("</section>")
            manage(person, roles, isOwn, in: &html)
        }
    }

    private func manage(_ person: Person, _ roles: [Role], _ isOwn: Bool, in html: inout HTMLWriter) {
        if principal.has(.changeUserRoles) {
            html.markup("<section class=\"card\"><h2>Role</h2>")
            form(to: ["people", person.name, "role"], "", in: &html)
            roleChoice(roles, chosen: person.roleID, in: &html)
            html.markup("<p class=\"gap\"><button type=\"submit\">Change the role</button></p></form></section>")
        }
        if isOwn || principal.has(.updateUsers) {
            html.markup("<section class=\"card\"><h2>New password</h2>")
            form(to: ["people", person.name, "password"], "", in: &html)
            if isOwn {
                html.markup(
                    """
                    <label for="oldPassword">Password of now</label><input id="oldPassword" name="oldPassword" type="password"
                    autocomplete="current-password" required>
                    """)
            }
            passwordField(in: &html)
            html.markup("<p class=\"small muted gap\">It ends every sign-in of the person.</p>")
            html.markup("<p><button type=\"submit\">Set the password</button></p></form></section>")
        }
        if principal.has(.disableUsers), !isOwn {
            html.markup("<section class=\"card\"><h2>Signing in</h2>")
            form(to: ["people", person.name, person.isDisabled ? "enable" : "disable"], "", in: &html)
            html.markup(
                person.isDisabled
                    ? "<p><button type=\"submit\">Let this person sign in again</button></p></form></section>"
                    : "<p><button class=\"bad\" type=\"submit\">End every sign-in, and allow no more</button></p></form></section>"
            )
        }
    }

    // MARK: What somebody may see and change, and why

    /// A page with what somebody may do with each item that the reader may see.
    private func page(
        _ title: String, in room: Room, at here: [String], rightsOf subject: Principal?, name: String,
        message: Message? = nil,
        beside content: (inout HTMLWriter) -> Void
    ) async throws -> Answer {
        try await context.server.keepServiceItems()
        let words = parameters["q"] ?? ""
        let start = max(1, try parameters.integer("start") ?? 1) - 1
        let found = try await find(words, from: start, order: .title)
        let message = found.message ?? message
        var rows: [(item: Item, rights: ItemRights)] = []
        if let subject {
            for item in found.items {
                rows.append((item, ItemRights(of: subject, on: try await portal.facts(ofItem: item.id))))
            }
        }
        return page(title, in: room, message: message) { html in
            html.markup("<div class=\"two\"><section class=\"card\"><h2>What ")
            html.element("", name, " may see and change, and why</h2>")
            html.markup("<form class=\"search\" method=\"get\" role=\"search\" action=\"")
            html.path(here)
            html.element(
                "\"><div><label for=\"q\">Search</label><input id=\"q\" name=\"q\" type=\"search\" value=\"", words,
                "\"></div>")
            html.markup("<button type=\"submit\">Search</button></form><ul class=\"rows\">")
            for row in rows {
                html.markup("<li><a href=\"")
                html.path(home + ["item.html"])
                html.query([("id", row.item.id)])
                html.element("\" dir=\"auto\">", row.item.title, "</a>")
                html.element(" <span class=\"small muted\">", row.item.type, "</span>")
                rights(row.rights, on: row.item, in: &html)
                html.markup("</li>")
            }
            html.markup("</ul>")
            if rows.isEmpty {
                html.markup(
                    subject == nil ? "<p>Nothing: this person can't sign in.</p>" : "<p>There is no such item.</p>")
            }
            steps(start, of: found.total, Limits.itemsPerPage, to: here, [("q", words)], in: &html)
            html.markup("</section><div>")
            content(&html)
            html.markup("</div></div>")
        }
    }
}
