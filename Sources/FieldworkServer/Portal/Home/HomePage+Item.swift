import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

/// The page of an item: what it is, how the app opens it, who may see it and why.
extension HomePage {
    static func item(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        let id = (page.parameters["id"] ?? "").lowercased()
        return try await page.item(id, message: page.doneMessage)
    }

    /// The address of an item's page as a code that the app reads.
    static func code(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        let item = try await page.portal.item(try page.operations.itemID, for: page.principal).item
        guard let picture = context.server.codePicture?(page.address(of: item)) else { throw ServiceError.notSupported }
        return Answer.text(picture, type: "image/svg+xml").tagged()
    }

    static func share(_ context: RouteContext) async throws -> Answer {
        let page = try await HomePage(context)
        let id = try page.operations.itemID
        return try await page.done(page.back(to: ["item.html"], "?id=\(id)&done=shared")) {
            try await page.share(id)
        } else: {
            try await page.item(id, message: $0)
        }
    }

    private func item(_ id: String, message: Message?) async throws -> Answer {
        let found: (item: Item, rights: ItemRights)
        do {
            found = try await portal.item(id, for: principal)
        } catch let error as PortalError where error.kind == .notFound {
            return closed("Item", in: .maps, item: Secret.isID(id) ? id : nil)
        }
        let (item, rights) = found
        let groups = try await portal.groups(for: principal)
        let facts = try await portal.facts(ofItem: item.id)
        let hidden = rights.shares ? try await portal.servicesSharedLess(thanMap: item.id) : []
        return page(item.title, in: .maps, item: item.id, message: message) { html in
            html.markup("<div class=\"two\"><div>")
            about(item, in: &html)
            opening(item, in: &html)
            html.markup("</div><div><section class=\"card\"><h2>Sharing</h2>")
            html.element("<p>", Self.words(item.sharing, facts), "</p>")
            list(groups.filter { item.sharing.groups.contains($0.id) }, in: &html)
            if !hidden.isEmpty {
                let what = hidden.count == 1 ? "it" : "them"
                html.element(
                    "<p>",
                    "Fewer people may see \(hidden.joined(separator: ", ")): the others see the map without \(what).",
                    "</p>")
            }
            html.markup("</section><section class=\"card\"><h2>Your rights</h2>")
            self.rights(rights, on: item, in: &html)
            html.markup("</section>")
            if rights.shares { sharing(of: item, facts, rights, groups, in: &html) }
            html.markup("</div></div>")
        }
    }

    private func about(_ item: Item, in html: inout HTMLWriter) {
        html.markup("<section class=\"card\">")
        if item.fields.thumbnail != nil { picture(of: item, in: &html) }
        html.element("<p class=\"small muted\">", item.type, " · ")
        html.element("", item.owner, " · changed on ")
        html.element("", Self.day(item.modified), "</p>")
        for text in [item.fields.snippet, item.fields.description] {
            if let text, !text.isEmpty { html.element("<p dir=\"auto\">", text, "</p>") }
        }
        if !item.fields.tags.isEmpty {
            html.element("<p class=\"small muted\" dir=\"auto\">", item.fields.tags.joined(separator: ", "), "</p>")
        }
        html.markup("</section>")
    }

    /// How the app gets the item. On a telephone an address of this very machine leads nowhere.
    private func opening(_ item: Item, in html: inout HTMLWriter) {
        let isMap = item.type == "Web Map" || item.type == ServiceItemKind.feature.rawValue
        guard isMap else { return }
        html.markup(
            "<section class=\"card\"><h2>Open in the app</h2><p>In Fieldwork Collect choose <b>A map on a server</b>, and"
        )
        html.markup(" scan the code or type the address.</p>")
        if context.server.codePicture != nil {
            html.markup(
                "<p><img class=\"code\" width=\"192\" height=\"192\" alt=\"The address below as a code\" src=\"")
            html.path(home + ["items", item.id, "code.svg"])
            html.markup("\"></p>")
        }
        html.element("<p><span class=\"address\" dir=\"ltr\">", address(of: item), "</span></p>")
        if SiteOrigin(address: context.request.origin)?.host.isLoopback == true {
            html.markup(
                "<p class=\"small muted\">This address leads to this computer: another device does not reach it.</p>")
        }
        if let url = operations.answers.item(item)["url"]?.stringValue, item.service != nil {
            html.element("<p class=\"small\">The service: <a href=\"", url, "\" dir=\"ltr\">")
            html.element("", url, "</a></p>")
        }
        html.markup("</section>")
    }

    static func words(_ sharing: Sharing, _ facts: ItemFacts) -> String {
        let groups = sharing.groups.count
        let more = groups == 0 ? "" : " and the members of \(counted(groups, "group"))"
        if sharing.everyone {
            return "Everyone sees it\(more), also without signing in."
                + (facts.isOpenToEdits ? " Everyone may edit its features." : "")
        }
        if sharing.organisation { return "Everyone who has signed in sees it\(more)." }
        return groups == 0
            ? "Its owner alone sees it, and administrators." : "The members of \(counted(groups, "group")) see it."
    }

    private func list(_ groups: [Group], in html: inout HTMLWriter) {
        guard !groups.isEmpty else { return }
        html.markup("<ul class=\"rows\">")
        for group in groups {
            html.markup("<li>")
            html.link(to: home + ["groups", group.id], group.title)
            html.markup("</li>")
        }
        html.markup("</ul>")
    }

    /// What somebody may do with an item, and why: the words of `fieldwork rights`.
    func rights(_ rights: ItemRights, on item: Item, in html: inout HTMLWriter) {
        let words = rights.words(for: item)
        html.element(
            "<p class=\"may\">", words.isEmpty ? "nothing" : words.joined(separator: ", "), "</p><ul class=\"small\">")
        for reason in rights.reasons { html.element("<li>", reason, "</li>") }
        html.markup("</ul>")
    }

    // MARK: Sharing

    /// Groups that the reader may share with; others that the item is shared with stay as they are.
    private func offered(_ groups: [Group]) -> [Group] {
        groups.filter { principal.groups.contains($0.id) || principal.has(.updateItems) }
    }

    private func sharing(
        of item: Item, _ facts: ItemFacts, _ rights: ItemRights, _ groups: [Group], in html: inout HTMLWriter
    ) {
        html.markup("<section class=\"card\"><h2>Change the sharing</h2>")
        form(to: ["items", item.id, "share"], "", in: &html)
        html.markup("<fieldset><legend>Who sees it</legend>")
        for (value, title) in [
            ("private", "Its owner, and the groups below"), ("org", "Everyone who has signed in"),
            ("public", "Everyone"),
        ] {
            let isChosen = value == (item.sharing.access == "shared" ? "private" : item.sharing.access)
            choice("radio", "access", value, title, isChosen, in: &html)
        }
        html.markup("</fieldset>")
        let offered = offered(groups)
        if !offered.isEmpty {
            html.markup("<fieldset><legend>Groups</legend>")
            for group in offered {
                choice(
                    "checkbox", "group-\(group.id)", "true", group.title, item.sharing.groups.contains(group.id),
                    in: &html)
            }
            html.markup("</fieldset>")
        }
        if item.type == ServiceItemKind.feature.rawValue, rights.administers {
            html.markup("<fieldset><legend>Edits</legend>")
            choice(
                "checkbox", "editing", "true",
                "Everyone who sees it may edit its features, where it is shared with everyone",
                facts.isOpenToEdits, in: &html)
            html.markup("</fieldset>")
        }
        html.markup("<p class=\"gap\"><button class=\"main\" type=\"submit\">Change</button></p></form></section>")
    }

    private func choice(
        _ kind: StaticString, _ name: String, _ value: String, _ title: String, _ isChosen: Bool,
        in html: inout HTMLWriter
    ) {
        html.markup("<label class=\"pick\"><input type=\"")
        html.markup(kind)
        html.element("\" name=\"", name, "\" value=\"")
        html.text(value)
        html.markup(isChosen ? "\" checked>" : "\">")
        html.element("<span dir=\"auto\">", title, "</span></label>")
    }

    private func share(_ id: String) async throws {
        let access = try operations.required("access")
        guard Group.accesses.contains(access) else {
            throw ServiceError.invalidParameter("'access' is private, org or public.")
        }
        let (item, rights) = try await portal.item(id, for: principal)
        let offered = offered(try await portal.groups(for: principal))
        var (wanted, unwanted): ([String], [String]) = ([], [])
        for group in offered {
            if try parameters.bool("group-\(group.id)") == true {
                wanted.append(group.id)
            } else {
                unwanted.append(group.id)
            }
        }
        _ = try await portal.share(
            id, everyone: access == "public", organisation: access != "private", addingGroups: wanted,
            removingGroups: unwanted, for: principal, by: operations.author)
        guard item.type == ServiceItemKind.feature.rawValue, rights.administers else { return }
        let isOpen = try parameters.bool("editing") == true && access == "public"
        try await portal.setOpenToEdits(isOpen, id, for: principal, by: operations.author)
    }
}
