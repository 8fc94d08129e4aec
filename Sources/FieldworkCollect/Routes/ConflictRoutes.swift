import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Conflicts, one at a time: both values, and which is to stand.
struct ConflictRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("conflicts") { request, _ in try await list(request) }
        router.get("conflicts/:layer/:conflict") { request, context in
            let map = try await workspace.map()
            return try await page(
                try await found(context, map: map), chosen: [:], missing: nil, request: request, map: map)
        }
        router.post("conflicts/:layer/:conflict") { request, context in try await settle(request, context) }
    }

    private func found(_ context: CollectContext, map: OpenMap) async throws -> FoundConflict {
        let layer = try context.layer(in: map)
        guard let id = context.parameters.get("conflict").flatMap({ Int64($0) }) else {
            throw CollectError(.notFound, "There is no such conflict.")
        }
        return try await map.conflict(id, in: layer)
    }

    private func views(_ map: OpenMap) -> ConflictViews {
        ConflictViews(map: map, own: workspace.settings.replicas)
    }

    // MARK: Showing

    private func list(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let all = try await map.conflicts()
        let views = views(map)
        func rows(_ conflicts: some Sequence<FoundConflict>) async -> [ConflictsPanel.Row] {
            var rows: [ConflictsPanel.Row] = []
            for found in conflicts {
                rows.append(views.row(found, title: views.title(try? await map.find(found.reference))))
            }
            return rows
        }
        let open = await rows(all.filter { $0.conflict.state == .open }.prefix(Limits.listedConflicts))
        let decided = await rows(all.filter { $0.conflict.state != .open }.prefix(Limits.listedConflicts))
        map.forgetConflictNotice(in: workspace.settings)
        return try await pages.respond(
            PageRenderer.Panel(
                ConflictsPanel(
                    open: open, hasOpen: !open.isEmpty, decided: decided, hasDecided: !decided.isEmpty),
                kind: "side", tab: "changes", title: "Conflicts", over: over(request)),
            to: request, map: map)
    }

    /// A toast about what was just settled.
    private func over(_ request: Request) -> OverView? {
        guard request.uri.queryParameters["settled"] != nil else { return nil }
        return OverView(
            toast: OverView.Toast(
                text: "These values are kept.", where: "The others stay in the history",
                announce: "These values are kept. The others stay in the history.", back: "/conflicts"))
    }

    private func page(
        _ found: FoundConflict, chosen: [String: String], missing: String?, request: Request, map: OpenMap
    ) async throws -> Response {
        let now = try? await map.find(found.reference)
        let open = try await map.conflicts(in: .open)
        let views = views(map)
        let picture = await ConflictPicture.make(found, now: now, views: views, map: map)
        let panel = views.panel(
            found, among: open, now: now, picture: picture, chosen: chosen, missing: missing)
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "wide", tab: "changes", title: "\(panel.heading): \(views.title(now) ?? "")",
                over: over(request), status: missing == nil ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    // MARK: Settling

    private func settle(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let found = try await found(context, map: map)
        guard found.conflict.state == .open || form["all"] == "lost" else {
            throw CollectError(.notAllowed, "This conflict was settled meanwhile.", nextStep: "Look at it again.")
        }
        var chosen: [String: String] = [:]
        for part in found.parts { chosen[part] = form["all"] ?? form["choice.\(part)"] }
        let lost: Set<String>
        if found.parts.isEmpty {
            guard let all = form["all"], ["lost", "won"].contains(all) else {
                throw CollectError(.badForm, "No side was chosen.")
            }
            lost = all == "lost" ? [FoundConflict.place] : []
        } else {
            // Nothing is chosen for the user: what has no choice is asked for.
            if let missing = found.parts.first(where: { !["lost", "won"].contains(chosen[$0] ?? "") }) {
                return try await page(found, chosen: chosen, missing: missing, request: request, map: map)
            }
            lost = Set(found.parts.filter { chosen[$0] == "lost" })
        }
        let settlement = try await workspace.oneByOne {
            try await map.settle(found, lost: lost, session: form["session"])
        }
        if case .edited(let entry) = settlement { _ = await edits.sent(entry, map: map) }
        workspace.hub.send("map", MapChanged(layers: [found.layer.id]))
        let next = try await map.conflicts(in: .open).first
        await workspace.tell(map)
        return PageRenderer.redirect("\(next?.address ?? "/conflicts")?settled=yes")
    }
}
