import Foundation
import Hummingbird

/// Unfinished forms: discarding them, and bringing one back that was cancelled.
struct DraftRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.post("drafts/:draft/discard") { _, context in
            let map = try await workspace.map()
            let draft = try self.draft(context, map: map)
            _ = try map.drafts.discard(draft.address)
            return PageRenderer.redirect("/changes?discarded=\(draft.id)")
        }
        router.post("drafts/:draft/restore") { _, context in
            let map = try await workspace.map()
            let draft = try self.draft(context, map: map)
            _ = try map.drafts.bringBack(id: draft.id)
            return PageRenderer.redirect(draft.address)
        }
    }

    private func draft(_ context: CollectContext, map: OpenMap) throws -> DraftStore.Draft {
        guard let id = context.parameters.get("draft"), let draft = map.drafts.draft(id: id) else {
            throw CollectError(.notFound, "This draft isn't kept any more.")
        }
        return draft
    }
}
