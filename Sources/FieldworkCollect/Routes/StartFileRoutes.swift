import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// First start: an area that was taken along, or a GeoPackage of this device, opened in its place.
struct StartFileRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }
    private var start: StartRoutes { StartRoutes(pages: pages) }

    func add(to router: Router<CollectContext>) {
        router.get("start/file") { request, _ in try await look(request) }
        router.post("start/file") { request, _ in try await open(request) }
    }

    /// An area as the pages of the first start offer it.
    static func row(_ area: OfflineArea) -> StartAreaView {
        let about =
            switch area.held {
            case let held? where area.isSynced: "\(area.mapTitle), \(held.shown)"
            case let held?: "\(held.shown), a file of no server"
            case nil: "\(area.mapTitle), an area on this device · \(area.size)"
            }
        return StartAreaView(id: area.text, name: area.name, about: about)
    }

    // MARK: The page

    private struct FilePage {
        var typed = ""
        var problem: StartProblem?
        /// A file that the user is asked about first.
        var asked: (path: String, summary: GeodatabaseSummary)?
        var status = HTTPResponse.Status.ok
    }

    private func page(_ request: Request, _ shown: FilePage) async throws -> Response {
        let shelf = workspace.shelf
        let areas = shelf.areas().filter { shelf.isHere($0.id) }
        let known = Set(areas.compactMap { $0.held?.path })
        let files = await workspace.files.files().filter { !known.contains($0.path) }
        return try start.page(
            StartFilePage(
                heading: "A file on this device",
                asked: shown.asked.map { asked in
                    StartFilePage.Asked(
                        path: asked.path, shown: HeldFile.shown(asked.path), layers: Self.layers(asked.summary))
                },
                hasAreas: !areas.isEmpty, areas: areas.map { Self.row($0) }, hasFiles: !files.isEmpty,
                files: files.map { Self.row($0) }, typed: shown.typed, problem: shown.problem), request,
            status: shown.status)
    }

    private static func row(_ file: FoundFile) -> StartFilePage.File {
        let changed = FieldText.date(file.changed, now: Date())
        let origin =
            file.summary.serviceURL.map { "Taken from \(OpenMap.title(of: ServiceDirectory.name(of: $0)))" }
            ?? "Of no server"
        return StartFilePage.File(
            path: file.path, name: (file.path as NSString).lastPathComponent,
            about: "\(origin) · \(layers(file.summary)) · \(ByteText.whole(file.bytes)) · \(changed)",
            folder: HeldFile.shown((file.path as NSString).deletingLastPathComponent))
    }

    /// "Trees, Parks and 3 more"
    private static func layers(_ summary: GeodatabaseSummary) -> String {
        let named = summary.layers.prefix(Limits.namedLayers).joined(separator: ", ")
        let more = summary.layers.count - Limits.namedLayers
        return more > 0 ? "\(named) and \(more) more" : named
    }

    // MARK: What the user does

    /// The page, and why the file of last time didn't open. Opens nothing.
    private func look(_ request: Request) async throws -> Response {
        guard let path = request.uri.queryParameters["path"].map(String.init) else {
            return try await page(request, FilePage())
        }
        var shown = FilePage(typed: path)
        do {
            let whole = try HeldFile.canonical(try HeldFile.path(typed: path))
            _ = try await Workspace.summary(whole)
            try HeldFile.requireRights(whole)
            shown.problem = StartProblem(
                what: "\(HeldFile.shown(whole)) didn't open.",
                next: "It may be open in another Fieldwork. Close it there, then open it here.")
        } catch {
            shown.problem = StartProblem(what: error.message, next: error.nextStep ?? "")
        }
        return try await page(request, shown)
    }

    private func open(_ request: Request) async throws -> Response {
        let form = try await FormValues.read(request)
        let typed = form["path"] ?? ""
        var shown = FilePage(typed: typed, status: .unprocessableContent)
        do {
            switch try await workspace.openFile(typed, isAgreed: form["agreed"] == "yes") {
            case .opened(let map):
                return PageRenderer.redirect(map.journal.isTransactionUnfinished ? "/transaction" : "/map")
            case .asks(let path, let summary):
                shown.asked = (path, summary)
                shown.status = .ok
            }
        } catch let error as CollectError {
            shown.problem = StartProblem(what: error.message, next: error.nextStep ?? "")
        }
        return try await page(request, shown)
    }
}
