import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import HTTPTypes

/// OAuth 2.0: where people sign in to applications, and applications get their tokens.
enum OAuthEndpoints {
    // MARK: Authorization

    /// The page on which a person signs in. What was asked for stands in the page, sealed in the database under a random name that
    /// is good once: a page of another site can't make one.
    static func authorize(_ context: RouteContext) async throws -> Answer {
        let portal = try await PortalOperations(context).portal
        let request = context.request
        let wanted: AuthorizationRequest
        do {
            wanted = try await AuthorizationRequest(request, portal)
        } catch let error as AuthorizationRequest.Refusal {
            return SignInPage(context).refusal(error.message)
        }
        let state = try await portal.keepState(wanted.text)
        if request.parameters["f"]?.lowercased() == "json" {
            var answer = Answer.json(["oauth_state": .string(state), "client_id": .string(wanted.clientID)])
            answer.isSecret = true
            return answer
        }
        return SignInPage(context).form(state: state, wanted, message: nil)
    }

    /// Takes name and password of the page. Success sends the browser back to the application.
    static func signIn(_ context: RouteContext) async throws -> Answer {
        let portal = try await PortalOperations(context).portal
        let request = context.request
        let page = SignInPage(context)
        guard let state = request.parameters["oauth_state"], let kept = try await portal.takeState(state),
            let wanted = AuthorizationRequest(text: kept)
        else { return page.refusal("Invalid oauth_state") }
        if try request.parameters.bool("authorize") == false || request.parameters["cancel"] != nil {
            return try await answer(wanted.denied, page, title: "Denied error=access_denied")
        }
        let name = request.parameters["username"] ?? ""
        do {
            let person = try await portal.signIn(
                name, password: request.parameters["password"] ?? "", from: request.peer)
            return try await signedIn(person.name, wanted, portal, context)
        } catch let error as PortalError where error.isSignInFailure {
            let next = try await portal.keepState(wanted.text)
            return page.form(state: next, wanted, message: try await words(error, name, portal), name: name)
        }
    }

    /// What somebody gets who has signed in, however that was.
    static func signedIn(
        _ name: String, _ wanted: AuthorizationRequest, _ portal: Portal, _ context: RouteContext
    ) async throws -> Answer {
        let page = SignInPage(context)
        guard let client = try await portal.client(wanted.clientID) else { return page.refusal("Invalid client_id") }
        if client.isOwnPages { return try await openPages(name, wanted, portal, context) }
        return try await granted(wanted, name, client, portal, page)
    }

    /// Why nobody was signed in, and what can be done. A name that is not there is told the same as one that is.
    private static func words(_ error: PortalError, _ name: String, _ portal: Portal) async throws -> String {
        guard error.kind == .wrongPassword else { return error.message }
        let left = try await portal.signInsLeft(of: name)
        let tries =
            left == 0
            ? "Wait a moment before you try again." : "You can try \(left == 1 ? "once" : "\(left) times") more."
        return "The user name or the password is not right. \(tries)"
    }

    /// The server's own pages know their reader by a cookie. It is made at the sign-in: no earlier one is taken over.
    private static func openPages(
        _ name: String, _ wanted: AuthorizationRequest, _ portal: Portal, _ context: RouteContext
    ) async throws -> Answer {
        let seconds = FieldworkPortal.Limits.sessionSeconds
        let session = try await portal.issueToken(to: name, kind: .session, seconds: seconds)
        let root = "/" + (context.directory.below + [context.server.instance]).joined(separator: "/")
        // What a client may write into the state leads to an item of this portal, or to its first page.
        let item = Secret.isID(wanted.state) ? "/item.html?id=\(wanted.state)" : ""
        let isHome = wanted.clientID == OAuthClient.home.id
        var answer = Answer.redirect(to: root + (isHome ? "/home\(item)" : "/rest/services"))
        answer.cookies = [SignInPage.cookie(session.token, context.request, seconds: seconds)]
        return answer
    }

    private static func granted(
        _ wanted: AuthorizationRequest, _ name: String, _ client: OAuthClient, _ portal: Portal, _ page: SignInPage
    ) async throws -> Answer {
        if wanted.isImplicit {
            let issued = try await portal.issueToken(to: name, client: client.id, seconds: wanted.seconds)
            let lifetime = (issued.expires - portal.now) / 1_000
            let fields = [
                ("access_token", issued.token), ("expires_in", "\(lifetime)"), ("username", name),
                ("ssl", wanted.redirect.hasPrefix("https:") ? "true" : "false"), ("state", wanted.state),
                ("persist", "false"),
            ]
            if wanted.redirect == OAuthClient.outOfBand {
                return page.success("SUCCESS access_token=\(issued.token)")
            }
            return Answer.redirect(to: wanted.redirect + "#" + AuthorizationRequest.query(fields))
        }
        let code = try await portal.issueCode(
            to: name, client: client, redirect: wanted.redirect, challenge: wanted.challenge)
        // Clients that read pages follow the address to the page with the code.
        if wanted.redirect == OAuthClient.outOfBand { return Answer.redirect(to: page.approval(code)) }
        return Answer.redirect(to: wanted.redirected([("code", code), ("state", wanted.state)]))
    }

    /// Shows a code, which the person types or a client reads.
    static func approval(_ context: RouteContext) async throws -> Answer {
        let code = context.request.parameters["code"] ?? ""
        let isCode =
            !code.isEmpty && code.utf8.count <= 200
            && code.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x2E: true
                default: false
                }
            }
        let page = SignInPage(context)
        return isCode ? page.success("SUCCESS code=\(code)") : page.refusal("Invalid code")
    }

    private static func answer(_ location: String?, _ page: SignInPage, title: String) async throws -> Answer {
        guard let location else { return page.success(title) }
        return Answer.redirect(to: location)
    }

    // MARK: Tokens

    static func token(_ context: RouteContext) async throws -> Answer {
        let portal = try await PortalOperations(context).portal
        let parameters = context.request.parameters
        do {
            guard let client = parameters["client_id"], try await portal.client(client) != nil else {
                throw PortalError(.invalid, "Invalid client_id")
            }
            var answer = Answer.json(.object(try await grant(client, portal, context.request)))
            answer.isSecret = true
            return answer
        } catch let error as PortalError {
            return .error(oauthError(error))
        }
    }

    private static func grant(
        _ client: String, _ portal: Portal, _ request: ServiceRequest
    ) async throws -> JSONObject {
        let parameters = request.parameters
        func required(_ name: String) throws(PortalError) -> String {
            guard let text = parameters[name] else { throw PortalError(.invalid, "Invalid \(name)") }
            return text
        }
        let author = Author(name: "", address: request.peer)
        let minutes = try parameters.integer("expiration")
        switch parameters["grant_type"] {
        case "authorization_code":
            let grant = try await portal.exchange(
                code: try required("code"), client: client, redirect: try required("redirect_uri"),
                verifier: parameters["code_verifier"], secret: parameters["client_secret"],
                seconds: minutes.map { TokenEndpoint.seconds(minutes: $0) }, by: author)
            return described(grant, portal, request)
        case "refresh_token":
            return described(
                try await portal.refresh(
                    try required("refresh_token"), client: client, exchanges: false,
                    secret: parameters["client_secret"],
                    by: author), portal, request)
        case "exchange_refresh_token":
            return described(
                try await portal.refresh(
                    try required("refresh_token"), client: client, exchanges: true, secret: parameters["client_secret"],
                    by: author), portal, request)
        case "client_credentials":
            let issued = try await portal.credentials(
                client: client, secret: try required("client_secret"),
                seconds: TokenEndpoint.seconds(minutes: minutes ?? 120))
            return JSONObject([
                "access_token": .string(issued.token), "expires_in": .integer((issued.expires - portal.now) / 1_000),
            ])
        default: throw PortalError(.invalid, "Invalid grant_type")
        }
    }

    private static func described(_ grant: Grant, _ portal: Portal, _ request: ServiceRequest) -> JSONObject {
        var json = JSONObject([
            "access_token": .string(grant.access.token),
            "expires_in": .integer((grant.access.expires - portal.now) / 1_000),
            "username": .string(grant.access.person), "ssl": .bool(request.origin.hasPrefix("https:")),
        ])
        if let refresh = grant.refresh {
            json["refresh_token"] = .string(refresh.token)
            json["refresh_token_expires_in"] = .integer((refresh.expires - portal.now) / 1_000)
        }
        return json
    }

    /// Errors of OAuth have members of their own beside those of the protocol.
    private static func oauthError(_ error: PortalError) -> ServiceError {
        let isExpired = error.message == "refresh_token expired"
        var told = ServiceError(code: isExpired ? 498 : 400, message: error.message)
        let kind: JSONValue =
            switch error.message {
            case "Invalid client_id", "Invalid client_secret": "invalid_client"
            case "Invalid grant_type": "unsupported_grant_type"
            case "Invalid authorization code", "refresh_token expired", "Invalid refresh_token": "invalid_grant"
            default: "invalid_request"
            }
        told.unknownMembers["error"] = kind
        told.unknownMembers["error_description"] = .string(error.message)
        return told
    }

    // MARK: Ending

    /// Unknown tokens are no error: what is asked for, that they open nothing, is so.
    static func revoke(_ context: RouteContext) async throws -> Answer {
        let operations = try await PortalOperations(context)
        if let token = context.request.parameters["auth_token"] {
            try await operations.portal.revoke(token, by: operations.author)
        }
        return .json(["success": true])
    }

    /// Ends the browser's session.
    static func signOut(_ context: RouteContext) async throws -> Answer {
        let operations = try await PortalOperations(context)
        if let session = context.request.session {
            try await operations.portal.revoke(session, by: operations.author)
        }
        if let token = context.request.token { try await operations.portal.revoke(token, by: operations.author) }
        var answer = SignInPage(context).success("You have signed out")
        answer.cookies = [SignInPage.cookie("", context.request, seconds: 0)]
        return answer
    }

    static func validate(_ context: RouteContext) async throws -> Answer {
        _ = try await PortalOperations(context)
        return .json([
            "valid": .bool(context.request.principal.isSignedIn), "viewOnlyUserTypeApp": false,
        ])
    }
}

extension PortalError {
    var isSignInFailure: Bool {
        switch kind {
        case .wrongPassword, .locked, .busy: true
        default: false
        }
    }
}

extension Answer {
    static func redirect(to address: String) -> Answer {
        var answer = Answer(status: .found, contentType: "text/plain;charset=utf-8", body: .bytes([]))
        answer.location = address
        answer.isSecret = true
        return answer
    }
}
