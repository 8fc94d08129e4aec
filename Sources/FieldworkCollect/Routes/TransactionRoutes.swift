import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// The transaction of an offline area: start, keep, discard; and the rule that every edit belongs to one.
struct TransactionRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        let group = router.group("transaction")
        group.get { request, _ in try await page(request) }
        group.post("start") { _, _ in
            try await change { map in
                try map.beginTransaction()
                return Said("started")
            }
        }
        group.post("go-on") { _, _ in
            try await change { map in
                map.journal.goOn()
                return Said("on")
            }
        }
        group.post("keep") { _, _ in
            try await change { map in Said("kept", try await map.keepTransaction()) }
        }
        // The question is asked only where something would be lost.
        group.post("ask") { _, _ in
            let map = try await workspace.map()
            if let open = map.transaction, open.count > 0 { return PageRenderer.redirect("/transaction?ask=yes") }
            return try await discard()
        }
        group.post("discard") { _, _ in try await discard() }
        group.post("rule") { request, _ in
            let map = try await workspace.map()
            let required = try await FormValues.read(request)["required"] == "yes"
            guard map.transaction == nil else { return PageRenderer.redirect("/transaction") }
            workspace.settings.setRequiresTransaction(required, of: map.key)
            return PageRenderer.redirect("/transaction")
        }
    }

    private func discard() async throws -> Response {
        try await change { map in Said("discarded", try await map.discardTransaction()) }
    }

    /// Does something with the transaction, between the edits, and tells all windows.
    private func change(_ body: @Sendable (OpenMap) async throws -> Said) async throws -> Response {
        let map = try await workspace.map()
        let said = try await workspace.oneByOne { try await body(map) }
        if map.isPlainFile { await map.outbox.send(patience: .zero) } else { await map.outbox.count() }
        workspace.hub.send("announce", Announcement(text: said.text, urgent: false))
        workspace.hub.send("map", MapChanged(layers: map.layers.map(\.id)))
        await workspace.tell(map)
        return PageRenderer.redirect("/transaction?said=\(said.word)&edits=\(said.count)")
    }

    /// What the page is told to say: by a word and a number, so that an address can't put words into its mouth.
    private struct Said: Sendable {
        var word: String
        var count = 0

        private var edits: String { FieldText.count(count, "edit") }

        var text: String {
            switch word {
            case "started": "Transaction started."
            case "on": "The transaction goes on."
            case "kept": "\(edits) kept."
            case "discarded": count > 0 ? "\(edits) discarded." : "The transaction is ended."
            default: ""
            }
        }

        init(_ word: String, _ count: Int = 0) { (self.word, self.count) = (word, count) }

        init?(_ request: Request) {
            guard let word = request.uri.queryParameters["said"] else { return nil }
            self.init(String(word), request.uri.queryParameters["edits"].flatMap { Int($0) } ?? 0)
            if text.isEmpty { return nil }
        }
    }

    private func page(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        guard let work = map.offline else {
            throw CollectError(
                .notAllowed, "Transactions need an offline area.", nextStep: "Take an area offline and work in it.")
        }
        let open = map.transaction
        let said = Said(request)
        let asks = request.uri.queryParameters["ask"] != nil && (open?.count ?? 0) > 0
        let edits = edits(map)
        return try await pages.respond(
            PageRenderer.Panel(
                TransactionPanel(
                    area: "\(map.isPlainFile ? "File" : "Offline,") \(workspace.shelf.name(of: work.area))",
                    said: said?.text, ask: asks ? "Discard \(FieldText.count(open?.count ?? 0, "edit"))?" : nil,
                    open: open.map {
                        TransactionPanel.Open(
                            figure: FieldText.count($0.count, "edit"), unfinished: $0.isUnfinished)
                    },
                    hasEdits: !edits.isEmpty, edits: edits,
                    required: workspace.settings.requiresTransaction(of: map.key)),
                kind: "side", tab: "offline", title: "Transaction"),
            to: request, map: map)
    }

    private func edits(_ map: OpenMap) -> [EditRow] {
        guard let id = map.journal.openTransaction else { return [] }
        let now = Date()
        return map.journal.entries.filter { $0.transaction == id }.reversed().map {
            ChangesRoutes.row($0, map: map, tone: "unsent", back: "/transaction", now: now)
        }
    }
}

/// Where every edit is to be part of a transaction, pages and posts that edit lead to the button that starts one.
struct TransactionRule: RouterMiddleware {
    typealias Context = CollectContext

    let pages: PageRenderer

    func handle(
        _ request: Request, context: CollectContext, next: (Request, CollectContext) async throws -> Response
    ) async throws -> Response {
        guard Self.edits(request), let map = try? await pages.workspace.map(), map.offline != nil,
            map.transaction == nil, pages.workspace.settings.requiresTransaction(of: map.key)
        else { return try await next(request, context) }
        return try await pages.respond(
            PageRenderer.Panel(
                TransactionNeededPanel(), kind: "side", tab: "map", title: "Start a transaction first",
                status: .conflict),
            to: request, map: map)
    }

    /// Whether a request changes a feature or opens the page on which one does.
    private static func edits(_ request: Request) -> Bool {
        let parts = request.uri.path.split(separator: "/")
        switch parts.first {
        case "add": return true
        case "undo": return request.method == .post
        case "f": return request.method == .post || ["edit", "move", "geometry"].contains(parts.last)
        default: return false
        }
    }
}
