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
        let content: any PanelModel
        let kind: String
        let tab: String
        var title: String
        /// The call-out and the small pop-up of what is selected.
        var selection = Markup.empty
        /// What the panel is about, where it has no selection.
        var marked: MarkedPlace?
        var over: OverView?
        var status: HTTPResponse.Status = .ok

        init(
            _ content: any PanelModel, kind: String, tab: String, title: String, selection: Markup = .empty,
            marked: MarkedPlace? = nil, over: OverView? = nil, status: HTTPResponse.Status = .ok
        ) {
            self.content = content
            self.kind = kind
            self.tab = tab
            self.title = title
            self.selection = selection
            self.marked = marked
            self.over = over
            self.status = status
        }
    }

    static let themes = ["light", "dark", "sunlight"]
    static let themeCookie = "fieldwork-theme"

    func respond(_ panel: Panel, to request: Request, map: OpenMap) async throws -> Response {
        let frame = PanelFrame(pageTitle: "\(panel.title) · \(map.title)", mapTitle: map.title)
        let wanted = request.headers[.fragment]
        let selection =
            panel.selection == .empty
            ? try panel.marked.map { try templates.render($0.view) } ?? .empty : panel.selection
        let over = try panel.over.map { try templates.render($0) } ?? .empty
        let body = wanted == "selection" ? Markup.empty : try templates.render(panel.content, in: frame)
        if wanted == "selection" || wanted == "panel" {
            let fragment = FragmentView(panel: body, selection: selection, over: over)
            return html(try templates.render(fragment), status: panel.status, isFragment: true)
        }
        let page = await page(
            panel, frame: frame, body: body, selection: selection, over: over, theme: Self.theme(of: request), map: map)
        return html(try templates.render(page), status: panel.status)
    }

    private func page(
        _ panel: Panel, frame: PanelFrame, body: Markup, selection: Markup, over: Markup, theme: String?, map: OpenMap
    ) async -> PageView {
        let addable = map.layers.filter(\.isAddable)
        let addLabel = addable.count == 1 ? "Add \(addable[0].noun)" : "Add a feature"
        let legend = map.layers.last?.symbology.legend ?? []
        let state = await status(map)
        return PageView(
            pageTitle: frame.pageTitle, mapTitle: frame.mapTitle, theme: theme,
            since: RequestMoment.revision ?? workspace.hub.revision, assets: assets.root, state: state,
            transactionBar: TransactionBar(map, revision: workspace.hub.revision), kind: panel.kind,
            person: seat.accounts.current?.shown, mapHeading: panel.kind == "nearby", tabMap: panel.tab == "map",
            tabList: panel.tab == "list", tabChanges: panel.tab == "changes", tabOffline: panel.tab == "offline",
            tabSettings: panel.tab == "settings", canAdd: !addable.isEmpty, addLabel: addLabel,
            addLabelShort: addLabel.count > 10 ? "Add" : addLabel,
            legend: legend.prefix(5).map { line in
                let label = line.label.isEmpty ? map.layers.last?.name ?? "" : line.label
                return PageView.LegendLine(symbol: line.swatch.view(), label: label)
            },
            legendMore: legend.count > 5 ? "and \(legend.count - 5) more" : nil, panel: body, selection: selection,
            over: over)
    }

    func status(_ map: OpenMap) async -> StatusLine {
        let refused = map.unsent().values.count { $0 != nil }
        return StatusLine(
            report: await map.outbox.report, refusedCount: refused, isUnreachable: await workspace.isUnreachable,
            conflictCount: map.conflictSources.openCount,
            areaName: map.offline.map { workspace.shelf.name(of: $0.area) }, isPlainFile: map.isPlainFile,
            isInTransaction: map.transaction != nil, revision: workspace.hub.revision)
    }

    func html(_ markup: Markup, status: HTTPResponse.Status = .ok, isFragment: Bool = false) -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .vary: "Fieldwork-Fragment, Cookie"]
        if isFragment { headers[.fragment] = "yes" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: markup.html)))
    }

    /// Part of a page that a script asked for by an address of its own.
    func part(_ model: any TemplateModel) throws -> Response {
        html(try templates.render(model), isFragment: true)
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
        let page = ClosedPage(
            heading: heading, text: text, asksForKey: asksForKey, keyFile: PageKey.fileName, assets: assets.root)
        guard let page = try? templates.render(page) else { return Response(status: status) }
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
