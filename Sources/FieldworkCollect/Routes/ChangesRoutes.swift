import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Where each edit is; sending now; taking edits back.
struct ChangesRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("changes") { request, _ in try await changes(request, map: try await workspace.map()) }
        router.get("changes/unsent.geojson") { _, _ in
            let bytes = try JSONEncoder().encode(ExportedEdits(try await workspace.map()))
            return Response(
                status: .ok,
                headers: [
                    .contentType: "application/geo+json",
                    .contentDisposition: "attachment; filename=unsent-edits.geojson",
                ], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        }
        router.post("sync") { request, _ in
            let map = try await workspace.map()
            if map.transaction != nil {
                throw CollectError(
                    .notAllowed, "Sync waits until the transaction is ended.", nextStep: "Keep or discard its edits.")
            }
            await map.outbox.send(patience: .milliseconds(Limits.sendPatienceMilliseconds), isAsked: true)
            return PageRenderer.redirect("/changes")
        }
        router.post("sync/stop") { _, _ in
            try await workspace.map().outbox.stop()
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
        let start = request.uri.queryParameters["start"].flatMap { Int($0) } ?? 0
        let groups = Self.groups(map, from: max(0, start))
        let modes = await modes(map)
        let conflicts = try await conflicts(map)
        let drafts = map.drafts.open.map { draft in
            ChangesPanel.Draft(
                id: draft.id, address: draft.address, title: draft.title,
                detail: "Not saved · \(FieldText.date(draft.date, now: Date()))")
        }
        // An area is also synced for what others did.
        let isSyncable = map.offline != nil && !map.isPlainFile && map.transaction == nil
        let panel = ChangesPanel(
            figure: Self.figure(report, map: map), canSend: report.unsent > 0 || isSyncable,
            sendingBar: SendingView.bar(report), failure: failure(report.phase, map: map), modes: modes,
            conflicts: conflicts, settledNotice: map.conflictNotice(in: workspace.settings).text,
            isPlainFile: map.isPlainFile, hasDrafts: !drafts.isEmpty, drafts: drafts, groups: groups.shown,
            newer: groups.newer, older: groups.older, canExport: map.journal.entries.contains { !$0.isSettled })
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "wide", tab: "changes", title: "Changes",
                over: FeatureViews.over(request, map: map, back: "/changes")),
            to: request, map: map)
    }

    private static func figure(_ report: Outbox.Report, map: OpenMap) -> ChangesPanel.Figure {
        if map.isPlainFile { return figure(ofFile: map) }
        let attempt = report.lastSent.map {
            "Last \(map.offline == nil ? "sent" : "sync") \(FieldText.date($0, now: Date()))"
        }
        guard report.unsent > 0 else {
            return ChangesPanel.Figure(text: "Everything is sent", note: "", attempt: attempt)
        }
        return ChangesPanel.Figure(
            text: FieldText.count(report.unsent, "edit"),
            note: photos(map) ?? "on this device, not on the server yet", attempt: attempt)
    }

    /// Where the edits of a file of no service are.
    private static func figure(ofFile map: OpenMap) -> ChangesPanel.Figure {
        let open = map.transaction?.count ?? 0
        return ChangesPanel.Figure(
            text: open > 0 ? FieldText.count(open, "edit") : "All saved",
            note: open > 0
                ? "in the open transaction, not kept yet" : "It is in the file, which isn’t connected to a server.",
            attempt: nil)
    }

    private func failure(_ phase: Outbox.Phase, map: OpenMap) -> ChangesPanel.Failure? {
        switch phase {
        case .waiting(let until, let reason):
            return ChangesPanel.Failure(
                what: "No connection.",
                note:
                    "Your edits are on this device. Fieldwork tries again by itself at \(Self.clock(until)). \(reason)")
        case .failed(let reason):
            let isOfSeveral = (map.offline?.parts.count ?? 0) > 1
            return ChangesPanel.Failure(
                what: isOfSeveral ? "Not all of the area was synced." : "The area was not synced.",
                note: "Your edits are on this device. Try again when there is a network. \(reason)")
        case .refused(let reason):
            let person = pages.seat.accounts.current?.shown ?? "you"
            return ChangesPanel.Failure(
                what: "The server did not take the edits of \(person).",
                note: "They stay on this device, and are sent when the server lets \(person) edit. \(reason)",
                signIn: true)
        default: return nil
        }
    }

    private func conflicts(_ map: OpenMap) async throws -> ChangesPanel.Conflicts? {
        let counted = map.conflictSources.openCount
        let conflicts = try await map.openConflicts() ?? []
        if map.conflictSources.openCount != counted { await workspace.tell(map) }
        let wait = conflicts.count == 1 ? "waits" : "wait"
        // One tap from the notice to the first of them.
        return conflicts.first.map { first in
            ChangesPanel.Conflicts(
                text: "\(FieldText.count(conflicts.count, "conflict")) \(wait) for you", address: first.address)
        }
    }

    /// "and 2 photos and files, 8.4 MB": those that go with the edits; nil where there are none.
    private static func photos(_ map: OpenMap) -> String? {
        let added = map.journal.entries.filter { $0.progress == .onDevice && !$0.isUndone }
            .flatMap { $0.photos?.added ?? [] }
        guard !added.isEmpty else { return nil }
        let what = added.count == 1 ? "1 photo or file" : "\(FieldText.grouped(added.count)) photos and files"
        return "and \(what), \(ByteText.whole(added.reduce(0) { $0 + Int64($1.size) }))"
    }

    /// The ways to the other work mode, one tap from the state line; nil for none.
    private func modes(_ map: OpenMap) async -> ChangesPanel.Modes? {
        var areas: [ChangesPanel.Modes.Area] = []
        for area in await workspace.areas(of: map) where workspace.shelf.isHere(area.id) {
            if area.id != map.offline?.area.id {
                areas.append(ChangesPanel.Modes.Area(id: area.text, name: area.name))
            }
        }
        let isOffline = map.offline != nil && !map.isPlainFile
        return isOffline || !areas.isEmpty ? ChangesPanel.Modes(offline: isOffline, areas: areas) : nil
    }

    private static func clock(_ date: Date) -> String {
        let parts = Calendar(identifier: .gregorian).dateComponents([.hour, .minute, .second], from: date)
        return [parts.hour, parts.minute, parts.second].map { part in
            let digits = String(part ?? 0)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// The edits by where they are, the latest first, a page of each group.
    private static func groups(
        _ map: OpenMap, from start: Int
    ) -> (shown: [ChangesPanel.Group], newer: String?, older: String?) {
        var groups: [(name: String, tone: String, entries: [(entry: EditEntry, reason: String?)])] = [
            ("Refused by the server", "bad", []),
            (map.isPlainFile ? "In the open transaction" : "On this device, not sent", "unsent", []),
            (map.isPlainFile ? "In the file" : "On the server", "good", []),
        ]
        for entry in map.journal.entries.reversed() {
            switch entry.progress {
            case .refused(let reason): groups[0].entries.append((entry, reason))
            case .onDevice: groups[1].entries.append((entry, nil))
            case .onServer: groups[2].entries.append((entry, nil))
            }
        }
        let now = Date()
        let end = start + Limits.listedChanges
        let shown = groups.filter { $0.entries.count > start }.map { group in
            let listed = group.entries[start..<min(end, group.entries.count)]
            let isAll = listed.count == group.entries.count
            let part = "\(FieldText.grouped(start + 1)) to \(FieldText.grouped(start + listed.count))"
            return ChangesPanel.Group(
                name: isAll ? group.name : "\(group.name), \(part) of \(FieldText.grouped(group.entries.count))",
                edits: listed.map {
                    row($0.entry, map: map, tone: group.tone, back: "/changes", now: now, reason: $0.reason)
                })
        }
        let isMore = groups.contains { $0.entries.count > end }
        return (
            shown, start > 0 ? "/changes?start=\(max(0, start - Limits.listedChanges))" : nil,
            isMore ? "/changes?start=\(end)" : nil
        )
    }

    static func row(
        _ entry: EditEntry, map: OpenMap, tone: String, back: String, now: Date, reason: String? = nil
    ) -> EditRow {
        let icon =
            switch entry.kind {
            case .create: "i-plus"
            case .update: "i-pen"
            case .move: "i-move"
            case .delete: "i-bin"
            }
        let time = FieldText.date(entry.date, now: now)
        let isGone = entry.kind == .delete || (entry.kind == .create && entry.isUndone)
        return EditRow(
            tone: tone, icon: tone == "good" ? "i-check" : icon, title: entry.title,
            detail: [entry.detail, reason, time].compactMap { $0 }.joined(separator: " · "),
            address: isGone ? nil : map.journal.current(entry.feature).mapAddress,
            undo: entry.canUndo ? entry.id.uuidString.lowercased() : nil, back: back, undone: entry.isUndone)
    }
}
