import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// First start: the ways to a map, and the one over a server, whose address is typed or read from a code.
struct StartRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("start") { request, _ in try await ways(request) }
        router.post("start") { request, _ in try await open(request) }
        router.get("start/server") { request, _ in try await server(request, ServerPage()) }
        router.post("start/code") { request, _ in try await readCode(request) }
    }

    // MARK: The ways

    private func ways(_ request: Request) async throws -> Response {
        var problem: StartProblem?
        if request.uri.queryParameters["problem"] != nil {
            problem = StartProblem(
                what: "The map of last time didn't open: its server doesn't answer.",
                next: "Try again, or open another one.")
        }
        let (services, isMissing) = try await services()
        if isMissing {
            problem = StartProblem(
                what: "The server's list of maps didn't load.",
                next: "What is on this device opens without it.")
        }
        // A map of this very machine needs no network, so it is offered as a map to try.
        let own = workspace.ownsServices
        let shelf = workspace.shelf
        let areas = shelf.areas().filter { shelf.isHere($0.id) }.prefix(Limits.firstAreas)
        return try page(
            StartPage(
                heading: "Which map do you want to open?", problem: problem, signedOut: signedOut(request),
                services: services.map { Self.service($0, isOwn: own) }, hasAreas: !areas.isEmpty,
                areas: areas.map { StartFileRoutes.row($0) }, portal: await portal(besides: services)), request)
    }

    /// The newest maps of the portal that is known, as far as they come soon; nil for a portal that has none for this person.
    private func portal(besides offered: [ServiceDirectory.Entry]) async -> StartPage.Portal? {
        guard let server = StartPortalRoutes.known(pages) else { return nil }
        let maps = StartPortalRoutes.maps(server, pages)
        let work = Task { try await maps.find("", count: Limits.firstPortalMaps) }
        let limit = Task {
            try await Task.sleep(for: .milliseconds(Limits.portalPatienceMilliseconds))
            work.cancel()
        }
        defer { limit.cancel() }
        let found = try? await work.value
        // What the app was started with stands above.
        let titles = Set(offered.map(Self.title))
        let configuration = workspace.configuration
        let shown = configuration.offeredMaps.compactMap {
            configuration.servicesRoot?.appending(path: "\($0.serviceName)/FeatureServer")
        }
        let urls = Set(offered.map(\.url) + shown)
        let entries = (found?.entries ?? []).filter { !titles.contains($0.title) && !urls.contains($0.url) }
        guard !entries.isEmpty || pages.seat.accounts.current != nil else { return nil }
        return StartPage.Portal(
            host: DevicePerson.host(of: server), maps: entries.map { StartPortalRoutes.row($0, of: server) },
            all: "/start/portal?server=\(ChooseRoutes.escaped(server.absoluteString))")
    }

    /// What the sign-out did, and what waits for whom.
    private func signedOut(_ request: Request) -> String? {
        let accounts = pages.seat.accounts
        guard let said = request.uri.queryParameters["signed-out"], accounts.current == nil else { return nil }
        let waiting = accounts.people.compactMap { person -> String? in
            let count = WaitingEdits.count(in: accounts.folder(of: person))
            return count == 0
                ? nil : "\(FieldText.count(count, "edit")) \(count == 1 ? "waits" : "wait") for \(person.shown)."
        }
        let told = said == "here" ? ["The server could not be told: its sign-in ends when it expires."] : []
        return (["You are signed out."] + told + waiting).joined(separator: " ")
    }

    /// The maps that the app was started with; whether their server couldn't be asked.
    private func services() async throws -> (entries: [ServiceDirectory.Entry], isMissing: Bool) {
        do {
            return (try await workspace.services(), false)
        } catch let error as CancellationError {
            throw error
        } catch {
            return ([], true)
        }
    }

    private static func title(_ entry: ServiceDirectory.Entry) -> String {
        entry.title ?? OpenMap.title(of: entry.name)
    }

    private static func service(_ entry: ServiceDirectory.Entry, isOwn: Bool) -> StartPage.Service {
        StartPage.Service(
            url: entry.url.absoluteString, name: title(entry),
            about: entry.about
                ?? (isOwn ? "A service of this server, without a map of its own." : entry.url.absoluteString),
            own: isOwn)
    }

    /// - Parameter refresh: the address that the page goes on to by itself.
    func page(
        _ model: any StartPageModel, _ request: Request, status: HTTPResponse.Status = .ok, refresh: String? = nil
    ) throws -> Response {
        let frame = StartFrame(
            person: pages.seat.accounts.current?.shown, theme: PageRenderer.theme(of: request),
            assets: pages.assets.root, refresh: refresh)
        return pages.html(try pages.templates.render(model, in: frame), status: status)
    }

    // MARK: A map on a server

    /// What the page of a server's maps shows.
    private struct ServerPage {
        var typed = ""
        var problem: StartProblem?
        /// What was found in a picture.
        var codes: [CodeAddress] = []
        var codeProblem: StartProblem?
        /// The maps of the server whose address was typed.
        var maps: [ServiceDirectory.Entry] = []
        var host = ""
        var status = HTTPResponse.Status.ok
    }

    private func server(_ request: Request, _ shown: ServerPage) async throws -> Response {
        try page(
            StartServerPage(
                heading: "A map on a server", codeProblem: shown.codeProblem,
                found: shown.codes.isEmpty ? nil : Self.found(shown.codes),
                server: shown.maps.isEmpty ? nil : Self.server(shown.host, shown.maps), typed: shown.typed,
                problem: shown.problem), request, status: shown.status)
    }

    private static func found(_ codes: [CodeAddress]) -> StartServerPage.Found {
        StartServerPage.Found(
            heading: codes.count == 1 ? "The code says" : "The picture has \(codes.count) codes. They say",
            codes: codes.map { code in
                StartServerPage.Code(
                    shown: code.shown.isEmpty ? "nothing" : code.shown, url: code.url?.absoluteString,
                    refusal: code.refusal)
            })
    }

    private static func server(_ host: String, _ maps: [ServiceDirectory.Entry]) -> StartServerPage.Server {
        StartServerPage.Server(
            host: host,
            maps: maps.map { entry in
                StartServerPage.Map(
                    url: entry.url.absoluteString, name: title(entry), about: entry.about ?? entry.url.absoluteString)
            })
    }

    private func open(_ request: Request) async throws -> Response {
        let typed = (try await FormValues.read(request)["service"] ?? "").trimmingCharacters(
            in: .whitespacesAndNewlines)
        var shown = ServerPage(typed: typed, status: .unprocessableContent)
        guard !typed.isEmpty, let url = Self.url(typed) else {
            shown.problem = StartProblem(
                what: typed.isEmpty ? "There is no address yet." : "That is not an address.",
                next: "It begins with http:// or https://, and has no spaces.")
            return try await server(request, shown)
        }
        return try await open(url, typed: typed, request)
    }

    /// Opens what an address leads to, or shows what it offers.
    func open(_ url: URL, typed: String, _ request: Request) async throws -> Response {
        var shown = ServerPage(typed: typed, status: .unprocessableContent)
        do {
            if let root = ServiceDirectory.root(of: url) {
                let maps = try await ServiceDirectory.list(root)
                shown.maps = Array(maps.prefix(Limits.services))
                shown.host = url.host() ?? ""
                guard maps.isEmpty else {
                    shown.status = .ok
                    return try await server(request, shown)
                }
                let portal = AccountRoutes.root(of: root)
                if try await PortalMaps.isPortal(portal) { return Self.portalPage(portal) }
                shown.problem = StartProblem(
                    what: "This server has no maps for you.", next: "Ask its owner to share one.")
                return try await server(request, shown)
            }
            if let portal = try await Self.portal(url) { return Self.portalPage(portal) }
            _ = try await workspace.open(try await itemMap(url) ?? url)
            return PageRenderer.redirect("/map")
        } catch let error as ArcGISChallengeCancellationError {
            let server = error.challenge.signInURL ?? error.challenge.requestURL
            let query =
                "server=\(ChooseRoutes.escaped(server.absoluteString))&map=\(ChooseRoutes.escaped(url.absoluteString))"
            return PageRenderer.redirect("/account/sign-in?\(query)&back=/start")
        } catch let error as SignInNeeded {
            let query =
                "server=\(ChooseRoutes.escaped(error.server.absoluteString))&map=\(ChooseRoutes.escaped(url.absoluteString))"
            return PageRenderer.redirect("/account/sign-in?\(query)&back=/start")
        } catch let error as CollectError {
            shown.problem = StartProblem(what: error.message, next: error.nextStep ?? "")
        } catch let error as CancellationError {
            throw error
        } catch {
            shown.problem = Self.problem(error)
        }
        return try await server(request, shown)
    }

    private static func portalPage(_ portal: URL) -> Response {
        PageRenderer.redirect("/start/portal?server=\(ChooseRoutes.escaped(portal.absoluteString))")
    }

    /// The portal that an address names, `http://maps.example/arcgis` or a page of it; nil for the address of a map or an item.
    private static func portal(_ url: URL) async throws -> URL? {
        let steps = url.pathComponents.filter { $0 != "/" }
        let ends = ["home", "index.html", "gallery.html", "sharing", "rest"]
        guard ["http", "https"].contains(url.scheme?.lowercased() ?? ""), PortalItem(url: url) == nil,
            !steps.contains("FeatureServer"),
            let last = steps.last, steps.count == 1 && !last.contains(".") || ends.contains(last)
        else { return nil }
        let root = AccountRoutes.root(of: url)
        return try await PortalMaps.isPortal(root) ? root : nil
    }

    /// What the app opens of an item of a portal, by the address of its page or of its description; nil for another address.
    private func itemMap(_ url: URL) async throws -> URL? {
        guard !url.isFileURL, let item = PortalItem(url: url) else { return nil }
        do {
            try await item.load()
        } catch let error as ServiceError where [400, 403].contains(error.code) {
            // A portal tells nobody of what is not everybody's.
            let server = AccountRoutes.root(of: item.itemURL)
            guard !pages.seat.accounts.isSignedIn(to: server) else { throw error }
            throw SignInNeeded(server: server)
        }
        guard let map = PortalMaps.mapURL(item) else {
            throw CollectError(
                .notAFeatureService, "\(item.title) is no map: its kind is \(item.typeName).",
                nextStep: "Choose a web map or a feature service.")
        }
        return map
    }

    /// An item is not there for whoever has not signed in.
    private struct SignInNeeded: Error {
        let server: URL
    }

    /// Without a scheme it is an address of the web: `maps.example` or `127.0.0.1:8080/…`.
    static func url(_ typed: String) -> URL? {
        if let url = URL(string: typed), let scheme = url.scheme, url.host() != nil || scheme.lowercased() == "file" {
            return url
        }
        guard !typed.contains("://"), let url = URL(string: "http://\(typed)"), url.host()?.isEmpty == false else {
            return URL(string: typed)
        }
        return url
    }

    /// The address stays, the cause is named.
    private static func problem(_ error: any Error) -> StartProblem {
        let reason = (error as? any ArcGISError)?.details ?? "\(error)"
        let details = reason.hasSuffix(".") ? reason : reason + "."
        if case ServiceError.connectionFailed = error {
            return StartProblem(
                what: "That map didn't open. \(details)",
                next: "Check how the server's name is spelt, and whether this device has a network.")
        }
        return StartProblem(
            what: "That map didn't open. \(details)",
            next: "The address of a feature service ends in FeatureServer; that of a web map leads to its document.")
    }

    // MARK: A code

    private func readCode(_ request: Request) async throws -> Response {
        var shown = ServerPage(status: .unprocessableContent)
        do {
            let form = try await FormValues.read(request, upTo: Limits.codeFormBytes)
            guard let picture = form.files.first(where: { !$0.data.isEmpty }) else {
                shown.codeProblem = StartProblem(
                    what: "No picture was chosen.", next: "Take one of the code, or choose one.")
                return try await server(request, shown)
            }
            let codes = try await CodeReader.read(picture.data).map(CodeAddress.init)
            if codes.isEmpty {
                shown.codeProblem = StartProblem(
                    what: "No code in this picture.",
                    next: "Hold the camera closer, so that the whole code fills most of the picture and is sharp.")
            } else {
                shown.codes = codes
                shown.status = .ok
            }
        } catch let failure as CodeReader.Failure {
            shown.codeProblem = Self.problem(failure)
        } catch let error as any HTTPResponseError where error.status == .contentTooLarge {
            shown.codeProblem = StartProblem(
                what: "The picture has more than \(ByteText.whole(Int64(Limits.codeFormBytes))).",
                next: "Take a smaller one.")
        }
        return try await server(request, shown)
    }

    private static func problem(_ failure: CodeReader.Failure) -> StartProblem {
        switch failure {
        case .notJPEG:
            StartProblem(
                what: "Fieldwork can't read this kind of picture.",
                next: "Take it as a JPEG, or type the address that stands beside the code.")
        case .tooLarge(let pixels):
            StartProblem(
                what: "The picture has \(pixels / 1_000_000) million pixels.",
                next: "At most \(Limits.codePixels / 1_000_000) million can be read. Take a smaller one.")
        case .damaged:
            StartProblem(what: "The picture is damaged.", next: "Take another one.")
        }
    }
}
