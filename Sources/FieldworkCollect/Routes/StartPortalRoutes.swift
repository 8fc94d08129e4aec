import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The maps of a portal to choose from, and their pictures.
struct StartPortalRoutes: Sendable {
    let pages: PageRenderer
    private var accounts: Accounts { pages.seat.accounts }

    func add(to router: Router<CollectContext>) {
        router.get("start/portal") { request, _ in try await list(request) }
        router.get("start/picture") { request, _ in try await picture(request) }
    }

    /// The portal of the person, or else the one that the app was started with; nil for none.
    static func known(_ pages: PageRenderer) -> URL? {
        pages.seat.accounts.current?.server ?? pages.workspace.configuration.servicesRoot.map(AccountRoutes.root)
    }

    static func maps(_ server: URL, _ pages: PageRenderer) -> PortalMaps {
        PortalMaps(server: server, isSignedIn: pages.seat.accounts.isSignedIn(to: server))
    }

    static func row(_ entry: PortalMaps.Entry, of server: URL) -> PortalMapView {
        let query = "server=\(ChooseRoutes.escaped(server.absoluteString))&item=\(ChooseRoutes.escaped(entry.id))"
        return PortalMapView(
            url: entry.url.absoluteString, name: entry.title, about: entry.about,
            snippet: entry.snippet.isEmpty ? nil : entry.snippet,
            picture: entry.hasPicture ? "/start/picture?\(query)" : nil, isService: entry.isService)
    }

    private func server(_ request: Request) throws -> URL {
        let typed = request.uri.queryParameters["server"].map(String.init) ?? ""
        guard let url = StartRoutes.url(typed), ["http", "https"].contains(url.scheme ?? ""), url.host() != nil else {
            throw CollectError(.notFound, "That is not the address of a portal.")
        }
        return AccountRoutes.root(of: url)
    }

    private func list(_ request: Request) async throws -> Response {
        let server = try server(request)
        let query = request.uri.queryParameters
        let words = query["q"].map(String.init) ?? ""
        let start = max(1, query["start"].flatMap { Int($0) } ?? 1)
        let host = DevicePerson.host(of: server)
        let escaped = ChooseRoutes.escaped(server.absoluteString)
        let here = "/start/portal?server=\(escaped)&q=\(ChooseRoutes.escaped(words))"
        var page = StartPortalPage(
            heading: "Maps of \(host)", server: server.absoluteString, words: words,
            signIn: accounts.isSignedIn(to: server)
                ? nil : "/account/sign-in?server=\(escaped)&back=\(ChooseRoutes.escaped(here))")
        do {
            let found = try await Self.maps(server, pages).find(words, from: start, count: Limits.portalMaps)
            page.maps = found.entries.map { Self.row($0, of: server) }
            page.count = found.entries.isEmpty ? nil : FieldText.count(found.total, "map")
            page.more = found.next.map { "\(here)&start=\($0)" }
            if found.entries.isEmpty {
                page.nothing =
                    words.isEmpty ? "No map of this server is shared with you." : "No map has these words."
            }
        } catch let error as any ArcGISError where !(error is ArcGISChallengeCancellationError) {
            page.problem = StartProblem(
                what: "\(host) doesn't answer.", next: "\(error.details) What is on this device opens without it.")
        }
        return try StartRoutes(pages: pages).page(page, request)
    }

    /// The app fetches the picture itself: no token of a person gets into the page.
    private func picture(_ request: Request) async throws -> Response {
        let item = request.uri.queryParameters["item"].map(String.init) ?? ""
        guard let found = try? await Self.maps(try server(request), pages).picture(of: item),
            case .picture(let type) = FileKind(found)
        else { throw HTTPError(.notFound) }
        return Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "private, max-age=300"],
            body: .init(byteBuffer: ByteBuffer(bytes: found)))
    }
}
