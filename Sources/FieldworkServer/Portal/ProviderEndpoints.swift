import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Logging

/// Sends a person to the provider of sign-ins, and takes the person in who comes back.
enum ProviderEndpoints {
    /// Keeps what ties the provider's answer to this browser.
    static let cookie = "fieldwork_provider"

    /// What a person is on the way to, kept under the name that the provider gives back.
    private struct Journey {
        var wanted: AuthorizationRequest
        /// Where the provider sends the person: told once more when the code is exchanged.
        var redirect: String
        /// The hash of the cookie of the browser that began it.
        var browser: String

        var text: String {
            let json: JSONValue = [
                "provider": .string(wanted.text), "redirect": .string(redirect), "browser": .string(browser),
            ]
            var bytes: [UInt8] = []
            json.write(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }

        init(wanted: AuthorizationRequest, redirect: String, browser: String) {
            self.wanted = wanted
            self.redirect = redirect
            self.browser = browser
        }

        init?(text: String) {
            guard let json = try? JSONParser.parse(text),
                let wanted = json["provider"]?.stringValue.flatMap(AuthorizationRequest.init(text:)),
                let redirect = json["redirect"]?.stringValue, let browser = json["browser"]?.stringValue
            else { return nil }
            self.init(wanted: wanted, redirect: redirect, browser: browser)
        }
    }

    /// Sends the browser to the provider.
    static func begin(_ context: RouteContext) async throws -> Answer {
        let portal = try await PortalOperations(context).portal
        let page = SignInPage(context)
        guard let provider = context.server.provider else { return page.refusal("There is no provider of sign-ins") }
        guard let form = context.request.parameters["oauth_state"], let kept = try await portal.state(form),
            let wanted = AuthorizationRequest(text: kept)
        else { return page.refusal("Invalid oauth_state") }
        let secret = Secret.make()
        let journey = Journey(wanted: wanted, redirect: page.providerReturn, browser: Secret.hash(secret))
        let state = try await portal.keepState(journey.text)
        do {
            let address = try await provider.authorization(
                SignInProvider.Ticket(secret: secret, state: state), redirect: journey.redirect)
            var answer = Answer.redirect(to: address)
            answer.cookies = [
                SignInPage.cookie(
                    secret, context.request, seconds: FieldworkPortal.Limits.stateSeconds, name: cookie)
            ]
            return answer
        } catch let error as ProviderFailure {
            return try await failed(error, wanted, portal, context)
        }
    }

    /// Takes in a person who comes back from the provider.
    static func finish(_ context: RouteContext) async throws -> Answer {
        let portal = try await PortalOperations(context).portal
        let (request, page) = (context.request, SignInPage(context))
        guard let provider = context.server.provider else { return page.refusal("There is no provider of sign-ins") }
        guard let state = request.parameters["state"], let kept = try await portal.takeState(state),
            let journey = Journey(text: kept)
        else { return page.refusal("The sign-in was too long ago, or was finished already") }
        // An answer that somebody else has got is not this person's.
        guard let secret = request.providerTicket, Secret.hash(secret) == journey.browser else {
            return page.refusal("The sign-in was begun in another browser")
        }
        do {
            if let reason = request.parameters["error"] {
                throw ProviderFailure(.refused, "The provider says: \(reason.prefix(200))")
            }
            guard let code = request.parameters["code"], code.utf8.count <= 8_192 else {
                throw ProviderFailure(.refused, "The provider has sent no code.")
            }
            let found = try await provider.identity(
                code: code, issuer: request.parameters["iss"],
                SignInProvider.Ticket(secret: secret, state: state), redirect: journey.redirect)
            let person = try await portal.signIn(
                found.identity, found.profile, newcomers: provider.settings.newcomers, from: request.peer)
            var answer = try await OAuthEndpoints.signedIn(person.name, journey.wanted, portal, context)
            answer.cookies.append(SignInPage.cookie("", request, seconds: 0, name: cookie))
            return answer
        } catch let error as ProviderFailure {
            return try await failed(error, journey.wanted, portal, context)
        } catch let error as PortalError where error.kind == .notAllowed {
            let next = try await portal.keepState(journey.wanted.text)
            return page.form(state: next, journey.wanted, message: error.message)
        }
    }

    /// The person sees the page again, and the operator why.
    private static func failed(
        _ error: ProviderFailure, _ wanted: AuthorizationRequest, _ portal: Portal, _ context: RouteContext
    ) async throws -> Answer {
        let label = context.server.provider?.settings.label ?? ""
        context.server.logger.warning("A sign-in by the provider failed", metadata: ["error": "\(error)"])
        try await portal.noteFailedSignIn("(sign-in provider)", error.description, from: context.request.peer)
        let words =
            switch error.kind {
            case .unavailable: "\(label) does not answer as it should. Try again later."
            case .refused: "\(label) has not signed you in."
            case .busy: "Too many people sign in at the moment. Try again."
            }
        let next = try await portal.keepState(wanted.text)
        return SignInPage(context).form(state: next, wanted, message: words)
    }
}
