import FieldworkPortal
import FieldworkREST

/// Groups and their members.
extension HomePage {
    static func groups(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        return try await page.groups(message: page.doneMessage)
    }

    static func addGroup(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        return try await page.done(page.back(to: ["groups"], "?done=added")) {
            _ = try await page.operations.createGroup()
        } else: {
            try await page.groups(message: $0)
        }
    }

    static func removeGroup(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        let id = try page.operations.groupID
        return try await page.done(page.back(to: ["groups"], "?done=removed")) {
            _ = try await page.operations.deleteGroup()
        } else: {
            try await page.group(id, message: $0)
        }
    }

    static func group(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        return try await page.group(try page.operations.groupID, message: page.doneMessage)
    }

    static func addMember(_ context: RouteContext) async throws -> Answer {
        try await change(context) { page, id in
            let name = try page.operations.required("user")
            let manages = try page.parameters.bool("manages") == true
            let unknown = try await page.portal.addMembers(
                manages ? [] : [name], managers: manages ? [name] : [], to: id, for: page.principal,
                by: page.operations.author)
            guard unknown.isEmpty else { throw PortalError(.notFound, "There is no user '\(name.prefix(80))'.") }
        }
    }

    static func removeMember(_ context: RouteContext) async throws -> Answer {
        try await change(context) { page, id in
            _ = try await page.portal.removeMembers(
                [try page.operations.required("user")], from: id, for: page.principal, by: page.operations.author)
        }
    }

    private static func change(
        _ context: RouteContext, _ work: (HomePage, String) async throws -> Void
    ) async throws -> Answer {
        let page = try await HomePage(context)
        let id = try page.operations.groupID
        return try await page.done(page.back(to: ["groups", id], "?done=changed")) {
            try await work(page, id)
        } else: {
            try await page.group(id, message: $0)
        }
    }

    private func groups(message: Message?) async throws -> Answer {
        guard principal.isSignedIn else { return closed("Groups", in: .groups) }
        let groups = try await portal.groups(for: principal)
        return page("Groups", in: .groups, message: message) { html in
            html.markup("<div class=\"two\"><section class=\"card\"><ul class=\"rows\">")
            for group in groups {
                html.markup("<li>")
                html.link(to: home + ["groups", group.id], group.title)
                html.element("<br><span class=\"small muted\">", Self.words(of: group), "</span></li>")
            }
            html.markup("</ul>")
            if groups.isEmpty { html.markup("<p>There is no group that you may see.</p>") }
            html.markup("</section>")
            if principal.has(.createGroup), principal.kind == .person {
                html.markup("<section class=\"card\"><h2>Make a group</h2>")
                form(to: ["addGroup"], "", in: &html)
                html.markup(
                    """
                    <label for="title">Title</label><input id="title" name="title" autocomplete="off" required>
                    <label for="access">Who sees the group</label><select id="access" name="access">
                    <option value="private">Its members</option><option value="org">Everyone who has signed in</option>
                    </select><p class="gap"><button class="main" type="submit">Make</button></p></form></section>
                    """)
            }
            html.markup("</div>")
        }
    }

    private static func words(of group: Group) -> String {
        switch group.access {
        case "public": "Everyone sees it"
        case "org": "Everyone who has signed in sees it"
        default: "Its members see it"
        }
    }

    private func group(_ id: String, message: Message?) async throws -> Answer {
        guard principal.isSignedIn, let group = try? await portal.group(id, for: principal) else {
            return closed("Group", in: .groups)
        }
        let members = try await portal.members(of: id, for: principal)
        let items = try await portal.search("", filter: "group:\(id)", count: Limits.itemsPerPage, for: principal)
        let manages = principal.managedGroups.contains(id) || principal.has(.assignToGroups)
        let removes = principal.isNamed(group.owner) || principal.has(.deleteGroups)
        return page(group.title, in: .groups, message: message) { html in
            html.element("<p class=\"muted\">", Self.words(of: group), ".</p><div class=\"two\"><div>")
            shared(items, in: &html)
            html.markup("<section class=\"card\"><h2>Members</h2><ul class=\"rows\">")
            html.element("<li>", members.owner, " <span class=\"small muted\">owner</span></li>")
            for name in members.managers { member(name, of: id, "manager", manages, in: &html) }
            for name in members.members { member(name, of: id, "member", manages, in: &html) }
            html.markup("</ul></section></div><div>")
            if manages { memberForm(id, in: &html) }
            if removes {
                html.markup("<section class=\"card\"><h2>Remove the group</h2><p>Its items stay with their owners.</p>")
                form(to: ["groups", id, "delete"], "", in: &html)
                html.markup("<button class=\"bad\" type=\"submit\">Remove the group</button></form></section>")
            }
            html.markup("</div></div>")
        }
    }

    private func shared(_ items: SearchResult, in html: inout HTMLWriter) {
        html.markup("<section class=\"card\"><h2>Shared with the group</h2><ul class=\"rows\">")
        for item in items.items {
            html.markup("<li><a href=\"")
            html.path(home + ["item.html"])
            html.query([("id", item.id)])
            html.element("\" dir=\"auto\">", item.title, "</a>")
            html.element(" <span class=\"small muted\">", item.type, "</span></li>")
        }
        html.markup("</ul>")
        if items.total > items.items.count {
            html.element("<p class=\"small muted\">", "The newest of \(items.total)", "</p>")
        }
        if items.total == 0 { html.markup("<p>Nothing yet. The page of an item shares it.</p>") }
        html.markup("</section>")
    }

    private func member(
        _ name: String, of group: String, _ part: String, _ manages: Bool, in html: inout HTMLWriter
    ) {
        html.element("<li class=\"line\"><div>", name, " ")
        html.element("<span class=\"small muted\">", part, "</span></div>")
        if manages || principal.isNamed(name) {
            form(to: ["groups", group, "removeMember"], "", in: &html)
            html.element("<input type=\"hidden\" name=\"user\" value=\"", name, "\">")
            html.element(
                "<button type=\"submit\">", principal.isNamed(name) ? "Leave the group" : "Take out \(name)",
                "</button></form>")
        }
        html.markup("</li>")
    }

    private func memberForm(_ id: String, in html: inout HTMLWriter) {
        html.markup("<section class=\"card\"><h2>Add a member</h2>")
        form(to: ["groups", id, "addMember"], "", in: &html)
        html.markup(
            """
            <label for="user">User name</label><input id="user" name="user" autocapitalize="none" spellcheck="false"
            autocomplete="off" required><label class="pick"><input type="checkbox" name="manages" value="true">
            <span>Manages the group</span></label>
            <p class="gap"><button class="main" type="submit">Add</button></p></form></section>
            """)
    }
}
