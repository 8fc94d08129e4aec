import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Puts panels into pages: the whole page for a plain request, only the changed parts for a script that asks for them.
struct PageRenderer: Sendable {
    let templates: TemplateLibrary
    let assets: AssetLibrary
    let seat: Seat
    var workspace: Workspace { seat.workspace }

    /// One panel, ready to be put into the page.
    struct Panel {
        var template: String
        var kind: String
        var tab: String
        var title: String
        var values: Values
        /// The call-out and the small pop-up of what is selected.
        var selection: String = ""
        /// What the panel is about, where it has no selection.
        var marked: MarkedPlace?
        var over: Values = [:]
        var status: HTTPResponse.Status = .ok
    }

    static let themes = ["light", "dark", "sunlight"]
    static let themeCookie = "fieldwork-theme"

    func respond(_ panel: Panel, to request: Request, map: OpenMap) async throws -> Response {
        var values = panel.values
        values["title"] = "\(panel.title) · \(map.title)"
        values["mapTitle"] = map.title
        let wanted = request.headers[.fragment]
        var selection = panel.selection
        if selection.isEmpty, let marked = panel.marked { selection = try templates.render("marked", marked.values) }
        let over = panel.over.isEmpty ? "" : try templates.render("over", panel.over)
        if wanted == "selection" {
            let text = try templates.render(
                "fragment", ["panel": "", "selection": selection, "over": over])
            return html(text, status: panel.status, isFragment: true)
        }
        let body = try templates.render(panel.template, values)
        if wanted == "panel" {
            let text = try templates.render(
                "fragment", ["panel": body, "selection": selection, "over": over])
            return html(text, status: panel.status, isFragment: true)
        }
        let page = try await pageValues(panel, request: request, map: map)
            .merging(["panel": body, "selection": selection, "over": over]) { $1 }
        return html(try templates.render("page", page), status: panel.status)
    }

    private func pageValues(_ panel: Panel, request: Request, map: OpenMap) async throws -> Values {
        var values = await statusValues(map)
        values["title"] = "\(panel.title) · \(map.title)"
        values["mapTitle"] = map.title
        values["theme"] = Self.theme(of: request).orFalse
        values["since"] = RequestMoment.revision ?? workspace.hub.revision
        values["assets"] = assets.root
        values["transaction"] = TransactionBar.values(map)
        values["kind"] = panel.kind
        values["person"] = (seat.accounts.current?.shown).orFalse
        values["mapHeading"] = panel.kind == "nearby"
        for tab in ["Map", "List", "Changes", "Offline", "Settings"] {
            values["tab\(tab)"] = panel.tab == tab.lowercased()
        }
        let addable = map.layers.filter(\.isAddable)
        values["canAdd"] = !addable.isEmpty
        let label = addable.count == 1 ? "Add \(addable[0].noun)" : "Add a feature"
        values["addLabel"] = label
        values["addLabelShort"] = label.count > 10 ? "Add" : label
        let legend = map.layers.last?.symbology.legend ?? []
        values["legend"] = legend.prefix(5).map { symbol -> Values in
            let label = symbol.label.isEmpty ? map.layers.last?.name ?? "" : symbol.label
            return ["symbol": symbol.swatch.values, "label": label]
        }
        values["legendMore"] = legend.count > 5 ? "and \(legend.count - 5) more" : false
        return values
    }

    func statusValues(_ map: OpenMap) async -> Values {
        await status(map).values(revision: workspace.hub.revision)
    }

    func status(_ map: OpenMap) async -> StatusLine {
        let refused = map.unsent().values.count { $0 != nil }
        return StatusLine(
            report: await map.outbox.report, refusedCount: refused, isUnreachable: await workspace.isUnreachable,
            conflictCount: map.conflictSources.openCount,
            areaName: map.offline.map { workspace.shelf.name(of: $0.area) }, isPlainFile: map.isPlainFile,
            isInTransaction: map.transaction != nil)
    }

    /// The state line alone, for windows that are open.
    func statusFragment(_ map: OpenMap) async throws -> String {
        try templates.render("state", await statusValues(map))
    }

    func html(_ text: String, status: HTTPResponse.Status = .ok, isFragment: Bool = false) -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .vary: "Fieldwork-Fragment, Cookie"]
        if isFragment { headers[.fragment] = "yes" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// Part of a page that a script asked for by an address of its own.
    func part(_ template: String, _ values: Values) throws -> Response {
        html(try templates.render(template, values), isFragment: true)
    }

    func json(_ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let bytes = ByteBuffer(bytes: try encoder.encode(value))
        return Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"], body: .init(byteBuffer: bytes))
    }

    /// The page that a refused request gets; it says nothing of the map.
    func closed(status: HTTPResponse.Status, heading: String, text: String, asksForKey: Bool) -> Response {
        let values: Values = [
            "heading": heading, "text": text, "asksForKey": asksForKey, "keyFile": PageKey.fileName,
            "assets": assets.root,
        ]
        guard let page = try? templates.render("closed", values) else { return Response(status: status) }
        return html(page, status: status)
    }

    static func redirect(_ address: String) -> Response {
        Response(status: .seeOther, headers: [.location: address])
    }

    static func theme(of request: Request) -> String? {
        let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for cookie in cookies {
            let parts = cookie.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2, parts[0] == themeCookie, themes.contains(parts[1]) { return parts[1] }
        }
        return nil
    }
}
