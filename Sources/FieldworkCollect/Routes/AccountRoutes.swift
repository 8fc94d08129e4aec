import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Who works on this device: signing in and out, the profile and what it may do.
struct AccountRoutes: Sendable {
    let pages: PageRenderer
    private let browser = BrowserSignIn()

    var workspace: Workspace { pages.workspace }
    var accounts: Accounts { pages.seat.accounts }

    init(pages: PageRenderer) { self.pages = pages }

    func add(to router: Router<CollectContext>) {
        router.get("account") { request, _ in try await profile(request) }
        router.get("account/sign-in") { request, _ in try await form(request, SignInForm(request.uri.queryParameters)) }
        router.post("account/sign-in") { request, _ in try await signIn(request) }
        router.post("account/browser") { request, _ in try await beginInBrowser(request) }
        router.get("account/browser") { request, _ in try await waitForBrowser(request) }
        router.get("account/sign-out") { request, _ in try await askSignOut(request) }
        router.post("account/sign-out") { request, _ in try await signOut(request) }
    }

    private func page(
        _ model: any StartPageModel, _ request: Request, status: HTTPResponse.Status = .ok, refresh: String? = nil
    ) throws -> Response {
        try StartRoutes(pages: pages).page(model, request, status: status, refresh: refresh)
    }

    // MARK: Signing in

    private func form(_ request: Request, _ asked: SignInForm) async throws -> Response {
        var asked = asked
        if asked.server.isEmpty { asked.server = await knownServer()?.absoluteString ?? "" }
        let person = fixed(asked)
        var reason = "Your name and password go to this server alone."
        if asked.map != nil {
            reason = "Opening this map needs an account."
        } else if person != nil {
            reason = "The sign-in has ended. What you saved is still on this device, and is sent after the new one."
        } else if accounts.wishes.contains(where: { $0.server.absoluteString == asked.server }) {
            reason = "The server wants to know who asks."
        }
        let model = AccountSignInPage(
            heading: person == nil ? "Sign in" : "Sign in again", reason: reason, problem: asked.problem,
            userProblem: asked.problem != nil && asked.isAboutUser, server: asked.server,
            host: asked.serverURL.map { DevicePerson.host(of: $0) }, user: asked.user, fixed: person?.name,
            back: asked.back, map: asked.map)
        return try page(model, request, status: asked.problem == nil ? .ok : .unprocessableContent)
    }

    /// Who has to sign in again, where the sign-in is for the person's own server; nil where anybody may.
    private func fixed(_ asked: SignInForm) -> DevicePerson? {
        guard let person = accounts.current, let server = asked.serverURL, Self.root(of: server) == person.server else {
            return nil
        }
        return person
    }

    /// The server that wants a sign-in, or else that of the map, or of the services that the app was started with.
    private func knownServer() async -> URL? {
        if let wish = accounts.wishes.first { return Self.root(of: wish.server) }
        if let open = await workspace.openAddress() { return Self.root(of: open) }
        return workspace.configuration.servicesRoot.map(Self.root)
    }

    /// What stands before the services or the sharing API of an address: `http://maps.example/arcgis`.
    static func root(of url: URL) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        let steps = parts.path.split(separator: "/").prefix { !["rest", "sharing", "home", "tokens"].contains($0) }
        (parts.query, parts.fragment) = (nil, nil)
        parts.path = steps.isEmpty ? "/arcgis" : steps.map { "/\($0)" }.joined()
        return parts.url ?? url
    }

    private func signIn(_ request: Request) async throws -> Response {
        let posted = try await FormValues.read(request)
        var asked = SignInForm(posted)
        guard let server = asked.serverURL else {
            asked.problem = StartProblem(
                what: "That is not the address of a server.", next: "It begins with http:// or https://.")
            return try await form(request, asked)
        }
        let name = fixed(asked)?.name ?? asked.user
        guard !name.isEmpty, let password = posted["password"], !password.isEmpty else {
            asked.problem = StartProblem(what: "The name and the password are both needed.", next: "")
            asked.isAboutUser = true
            return try await form(request, asked)
        }
        do {
            let credential = try await TokenCredential.credential(
                for: Self.root(of: server), username: name, password: password)
            return try await finish(credential, asked, isKept: posted["stay"] == "yes", request)
        } catch let error as CancellationError {
            throw error
        } catch let error as CollectError {
            throw error
        } catch {
            asked.problem = Self.problem(error)
            asked.isAboutUser = (error as? ArcGISAuthenticationError)?.isAboutCredentials == true
            return try await form(request, asked)
        }
    }

    private static func problem(_ error: any Error) -> StartProblem {
        let details = (error as? any ArcGISError)?.details ?? "\(error)"
        switch error {
        case let error as ArcGISAuthenticationError where error.isAboutCredentials:
            let words = error.plainDetails
            return StartProblem(what: words.hasSuffix(".") ? words : "\(words).", next: "")
        case ServiceError.connectionFailed:
            return StartProblem(
                what: "Signing in needs a connection.", next: "What is on this device opens without it. (\(details))")
        default:
            return StartProblem(what: "The sign-in failed.", next: details)
        }
    }

    /// Hands the device over to who has signed in, and goes on where the sign-in was asked for.
    private func finish(
        _ credential: ArcGISCredential, _ asked: SignInForm, isKept: Bool, _ request: Request
    ) async throws -> Response {
        let server = Self.root(of: credential.url ?? asked.serverURL ?? workspace.configuration.dataDirectory)
        let place = await workspace.place()
        let accounts = accounts
        if let person = accounts.current {
            let isSame = person.server != server || person.name.lowercased() == credential.username.lowercased()
            guard isSame else {
                throw CollectError(
                    .notAllowed, "\(person.shown) is signed in on this device.", nextStep: "Sign out first.")
            }
            try await pages.seat.hand { accounts.add(credential) }
        } else {
            try await pages.seat.hand { try await accounts.become(credential, at: server, isKept: isKept) }
        }
        if let map = asked.map.flatMap(URL.init(string:)) {
            return try await StartRoutes(pages: pages).open(map, typed: map.absoluteString, request)
        }
        if let place { await workspace.goOn(at: place) }
        return PageRenderer.redirect(asked.back)
    }

    // MARK: In the browser

    private func beginInBrowser(_ request: Request) async throws -> Response {
        var asked = SignInForm(try await FormValues.read(request))
        guard let server = asked.serverURL else {
            asked.problem = StartProblem(
                what: "That is not the address of a server.", next: "It begins with http:// or https://.")
            return try await form(request, asked)
        }
        let id = browser.begin(at: Self.root(of: server))
        return try await show(id, asked, request)
    }

    private func waitForBrowser(_ request: Request) async throws -> Response {
        let query = request.uri.queryParameters
        guard let id = query["session"].flatMap({ UUID(uuidString: String($0)) }) else {
            return PageRenderer.redirect("/account/sign-in")
        }
        return try await show(id, SignInForm(query), request)
    }

    private func show(_ id: UUID, _ asked: SignInForm, _ request: Request) async throws -> Response {
        var asked = asked
        for _ in 0..<100 {
            guard case .starting = browser.progress(id) else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        switch browser.progress(id) {
        case .done(let credential):
            browser.forget(id)
            return try await finish(credential, asked, isKept: true, request)
        case .failed(let reason):
            asked.problem = StartProblem(what: "The sign-in in the browser failed.", next: reason)
            return try await form(request, asked)
        case nil: return try await form(request, asked)
        case .starting, .open:
            var url: URL?
            if case .open(let page) = browser.progress(id) { url = page }
            let host = asked.serverURL.map { DevicePerson.host(of: $0) } ?? ""
            let again = "/account/browser?session=\(id.uuidString.lowercased())&\(asked.query)"
            return try page(
                AccountBrowserPage(
                    heading: "Sign in on \(host)", host: host, page: url?.absoluteString, cancel: asked.back),
                request, refresh: again)
        }
    }

    // MARK: The profile

    private func profile(_ request: Request) async throws -> Response {
        guard let person = accounts.current else { return PageRenderer.redirect("/account/sign-in") }
        var role = ""
        var may: [String] = []
        let portal = Portal(url: person.server, connection: .authenticated)
        let isThere = (try? await portal.load()) != nil
        if let user = portal.user {
            role = ProfileText.role(user.role)
            may = ProfileText.abilities(user.privileges)
        }
        let others = accounts.people.filter { $0.id != person.id }.compactMap { other in
            waiting(for: other).map { "\($0) for \(other.shown)" }
        }
        let nobodys = waiting(for: nil)
        return try page(
            AccountPage(
                heading: person.shown, name: person.name, server: person.server.absoluteString,
                role: role.isEmpty ? nil : role, isAway: !isThere, hasAbilities: !may.isEmpty, abilities: may,
                waiting: waiting(for: person).map { "\($0) to be sent" },
                wishes: accounts.wishes.map { wish in
                    AccountPage.Wish(
                        host: DevicePerson.host(of: wish.server),
                        server: ChooseRoutes.escaped(wish.server.absoluteString))
                },
                hasOthers: !others.isEmpty || nobodys != nil, others: others,
                nobodys: nobodys.map { "\($0) to be sent that were made without a sign-in" }), request)
    }

    /// "3 edits wait"; nil where nothing does.
    private func waiting(for person: DevicePerson?) -> String? {
        let count = WaitingEdits.count(in: accounts.folder(of: person))
        guard count > 0 else { return nil }
        return "\(FieldText.count(count, "edit")) \(count == 1 ? "waits" : "wait")"
    }

    // MARK: Signing out

    private func askSignOut(_ request: Request) async throws -> Response {
        guard let person = accounts.current else { return PageRenderer.redirect("/account/sign-in") }
        let count = WaitingEdits.count(in: accounts.currentFolder)
        let unsent = AccountSignOutPage.Unsent(
            edits: "\(FieldText.count(count, "edit")) \(count == 1 ? "was" : "were") not sent.",
            stay: count == 1 ? "It stays on this device and is" : "They stay on this device and are",
            person: person.shown)
        return try page(AccountSignOutPage(heading: "Sign out?", unsent: count > 0 ? unsent : nil), request)
    }

    private func signOut(_ request: Request) async throws -> Response {
        let isCertain = try await FormValues.read(request)["certain"] == "yes"
        guard accounts.current != nil else { return PageRenderer.redirect("/start") }
        if !isCertain, WaitingEdits.count(in: accounts.currentFolder) > 0 {
            return PageRenderer.redirect("/account/sign-out")
        }
        let accounts = accounts
        let areRevoked = try await pages.seat.hand { try await accounts.signOut() }
        return PageRenderer.redirect(areRevoked ? "/start?signed-out=yes" : "/start?signed-out=here")
    }
}

/// What the page of the sign-in was asked for, and goes on with.
struct SignInForm {
    var server: String
    var user: String
    /// The page of the app to go on at.
    var back: String
    /// The map that was to be opened.
    var map: String?
    var problem: StartProblem?
    /// Whether the name or the password is what is wrong.
    var isAboutUser = false

    init(_ form: FormValues) { self.init { form[$0] } }

    init(_ query: Parameters) { self.init { name in query[Substring(name)].map(String.init) } }

    private init(_ value: (String) -> String?) {
        server = (value("server") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        user = (value("user") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        back = Self.ownPage(value("back"))
        map = value("map").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A page of this app alone, so that no address leads elsewhere.
    private static func ownPage(_ text: String?) -> String {
        guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), !text.hasPrefix("/account"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return "/map" }
        return text
    }

    /// nil for what is no address of a server.
    var serverURL: URL? {
        guard let url = StartRoutes.url(server), ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
            url.host()?.isEmpty == false, url.user() == nil, url.password() == nil
        else { return nil }
        return url
    }

    var query: String {
        var pairs = [("server", server), ("back", back)]
        if let map { pairs.append(("map", map)) }
        return pairs.map { "\($0.0)=\(ChooseRoutes.escaped($0.1))" }.joined(separator: "&")
    }
}
