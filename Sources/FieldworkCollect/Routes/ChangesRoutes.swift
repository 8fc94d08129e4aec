import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Where each edit is; sending now; taking edits back.
struct ChangesRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("changes") { request, _ in try await changes(request, map: try await workspace.map()) }
        router.post("sync") { request, _ in
            let map = try await workspace.map()
            if map.transaction != nil {
                throw CollectError(
                    .notAllowed, "Sync waits until the transaction is ended.", nextStep: "Keep or discard its edits.")
            }
            await map.outbox.send(patience: .milliseconds(Limits.sendPatienceMilliseconds), isAsked: true)
            return PageRenderer.redirect("/changes")
        }
        router.post("undo") { request, _ in
            let map = try await workspace.map()
            guard let entry = map.journal.last else { throw CollectError(.notFound, "There is nothing to undo.") }
            return try await undo(entry, map: map)
        }
        router.post("undo/:edit") { request, context in
            let map = try await workspace.map()
            guard let id = context.parameters.get("edit").flatMap({ UUID(uuidString: $0) }),
                let entry = map.journal.entry(id: id)
            else { throw CollectError(.notFound, "This edit isn't known any more.") }
            let back = try await FormValues.read(request)["back"]
            return try await undo(entry, map: map, back: back)
        }
    }

    private func undo(_ entry: EditEntry, map: OpenMap, back: String? = nil) async throws -> Response {
        let counter = try await workspace.oneByOne { () -> EditEntry in
            guard let latest = map.journal.entry(id: entry.id) else {
                throw CollectError(.notFound, "This edit isn't known any more.")
            }
            return try await map.undo(latest)
        }
        let response = await edits.sent(counter, map: map)
        guard let back, ["/changes", "/transaction"].contains(back) else { return response }
        return PageRenderer.redirect("\(back)?edit=\(counter.id.uuidString.lowercased())")
    }

    private func changes(_ request: Request, map: OpenMap) async throws -> Response {
        let report = await map.outbox.report
        var values: Values = [
            "figure": FieldText.count(report.unsent, "edit"), "canSend": report.unsent > 0,
            "figureNote": report.unsent == 0 ? "All is sent." : "on this device, not on the server yet",
            "attempt": report.lastSent.map {
                "Last \(map.offline == nil ? "sent" : "sync") \(FieldText.date($0, now: Date(), timeZone: .current))"
            }
            .orFalse,
            "failure": false, "failureNote": "",
        ]
        if report.unsent == 0 { values["figure"] = "0 edits" }
        if case .waiting(let until, let reason) = report.phase {
            values["failure"] = "No connection."
            values["failureNote"] =
                "Your edits are on this device. Fieldwork tries again by itself at \(Self.clock(until)). \(reason)"
        }
        if case .failed(let reason) = report.phase {
            values["failure"] = "The area was not synced."
            values["failureNote"] = "Your edits are on this device. Try again when there is a network. \(reason)"
        }
        // An area is also synced for what others did.
        if map.offline != nil, map.transaction == nil { values["canSend"] = true }
        values["groups"] = Self.groups(map)
        values["mode"] = await mode(map)
        let conflicts = try await map.openConflictCount() ?? 0
        values["conflicts"] =
            conflicts > 0
            ? FieldText.count(conflicts, "conflict") + (conflicts == 1 ? " waits" : " wait") + " for you" : false
        let over = FeatureViews.over(request, map: map, back: "/changes")
        values["drafts"] = map.drafts.open.map { draft -> Values in
            [
                "id": draft.id, "address": draft.address, "title": draft.title,
                "detail": "Not saved · \(FieldText.date(draft.date, now: Date(), timeZone: .current))",
            ]
        }
        values["hasDrafts"] = !map.drafts.open.isEmpty
        return try await pages.respond(
            PageRenderer.Panel(
                template: "changes", kind: "wide", tab: "changes", title: "Changes", values: values, over: over),
            to: request, map: map)
    }

    /// The ways to the other work mode, one tap from the state line.
    private func mode(_ map: OpenMap) async -> Values {
        var areas: [Values] = []
        for area in await workspace.areas(of: map) where workspace.shelf.isHere(area.id) {
            if area.id != map.offline?.area.id { areas.append(["id": area.text, "name": area.name]) }
        }
        return ["offline": map.offline != nil, "areas": areas, "hasWays": map.offline != nil || !areas.isEmpty]
    }

    private static func clock(_ date: Date) -> String {
        let parts = Calendar(identifier: .gregorian).dateComponents([.hour, .minute, .second], from: date)
        return [parts.hour, parts.minute, parts.second].map { part in
            let digits = String(part ?? 0)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    private static func groups(_ map: OpenMap) -> [Values] {
        var unsent: [Values] = []
        var refused: [Values] = []
        var sent: [Values] = []
        let now = Date()
        for entry in map.journal.entries.reversed() {
            switch entry.progress {
            case .onDevice: unsent.append(row(entry, map: map, tone: "unsent", now: now))
            case .refused(let reason): refused.append(row(entry, map: map, tone: "bad", now: now, reason: reason))
            case .onServer: if sent.count < 50 { sent.append(row(entry, map: map, tone: "good", now: now)) }
            }
        }
        return [("Refused by the server", refused), ("On this device, not sent", unsent), ("On the server", sent)]
            .filter { !$0.1.isEmpty }
            .map { ["name": $0.0, "edits": $0.1] }
    }

    static func row(
        _ entry: EditEntry, map: OpenMap, tone: String, now: Date, reason: String? = nil
    ) -> Values {
        let icon =
            switch entry.kind {
            case .create: "i-plus"
            case .update: "i-pen"
            case .move: "i-move"
            case .delete: "i-bin"
            }
        let time = FieldText.date(entry.date, now: now, timeZone: .current)
        let isGone = entry.kind == .delete || (entry.kind == .create && entry.isUndone)
        return [
            "tone": tone, "icon": tone == "good" ? "i-check" : icon, "title": entry.title,
            "detail": [entry.detail, reason, time].compactMap { $0 }.joined(separator: " · "),
            "address": isGone ? false : map.journal.current(entry.feature).mapAddress,
            "undo": entry.canUndo ? entry.id.uuidString.lowercased() : false, "undone": entry.isUndone,
        ]
    }
}
