import FieldworkGeometry
import Foundation

extension AuthenticationManager {
    /// Sends a request so that its service knows who asks, and again with a new token or a new sign-in when it refuses. A
    /// service that refuses a request has done nothing of it, so that writes may go again too.
    ///
    /// Throws what the request throws, `ArcGISChallengeCancellationError`, and what the app's handler throws.
    func exchange<Answer: Sendable>(
        _ url: URL, _ send: (Authorization?) async throws -> Reply<Answer>
    ) async throws -> Answer {
        let start = ContinuousClock.now
        var used = try await authorization(for: url, since: start)
        var renewed: Set<ObjectIdentifier> = []
        for _ in 0..<Limits.signInRounds {
            let reply = try await send(used)
            switch reply.refusal {
            case nil: return try reply.result.get()
            case .network(let kind):
                guard try await isAnswered(kind, url) else { return try reply.result.get() }
            case .token(_, let error):
                guard let next = try await next(after: used, url, error, &renewed, since: start) else {
                    return try reply.result.get()
                }
                used = next
            }
        }
        return try await send(used).result.get()
    }

    // MARK: Tokens

    /// What is known for an address before the service has said anything.
    private func authorization(for url: URL, since start: ContinuousClock.Instant) async throws -> Authorization? {
        do {
            return try await known(for: url, besides: nil)
        } catch let error as ArcGISAuthenticationError {
            // The sign-in has ended: whoever asks anonymously may get another answer than the one they want.
            return try await challenged(url, error, besides: credential(for: url), since: start)
        }
    }

    /// The credential that holds for an address, also for a server that belongs to a portal.
    private func credential(for url: URL) -> ArcGISCredential? {
        arcGISCredentialStore.credential(for: url) ?? ServerRoot(url).flatMap(derived)?.credential
    }

    /// The token of the store, or the one made for a server of its portal.
    /// - Parameter refused: a token that the service has just refused.
    private func known(for url: URL, besides refused: String?) async throws -> Authorization? {
        guard let root = ServerRoot(url) else { return nil }
        if let credential = arcGISCredentialStore.credential(for: url) {
            return try await authorization(credential, root, besides: refused)
        }
        if let derived = derived(for: root) {
            guard arcGISCredentialStore.credentials.contains(where: { $0 === derived.credential }) else {
                forgetDerived(for: root)
                return nil
            }
            var authorization = try await authorization(derived.holder, root, besides: refused)
            authorization?.credential = derived.credential
            return authorization
        }
        if root.isOnline, let key = ArcGISEnvironment.apiKey { return Authorization(token: key.rawValue) }
        return nil
    }

    private func authorization(
        _ credential: ArcGISCredential, _ root: ServerRoot, besides refused: String?
    ) async throws -> Authorization? {
        let token = try await credential.token(besides: refused)
        if token.accessToken == refused {
            throw ArcGISAuthenticationError.invalidToken(details: "The service does not accept the token.")
        }
        // A token that may travel over HTTPS alone stays here, unless it came without it.
        if token.isSSLRequired, !root.isSecure, credential.root?.isSecure != false { return nil }
        return Authorization(token: token.accessToken, referer: credential.referer, credential: credential)
    }

    /// What a request is sent with after the service has refused it; nil when there is nothing else.
    private func next(
        after used: Authorization?, _ url: URL, _ error: ServiceError, _ renewed: inout Set<ObjectIdentifier>,
        since start: ContinuousClock.Instant
    ) async throws -> Authorization? {
        var reason: any Error = error
        // Somebody may have signed in, or renewed the token, while the request was under way.
        if let now = arcGISCredentialStore.credential(for: url), now !== used?.credential,
            let next = try? await known(for: url, besides: used?.token)
        {
            return next
        }
        if let credential = used?.credential {
            if renewed.insert(ObjectIdentifier(credential)).inserted {
                do {
                    if let next = try await known(for: url, besides: used?.token) { return next }
                } catch let error as ArcGISAuthenticationError {
                    reason = error
                }
            }
        } else if let next = try await federated(url) {
            return next
        }
        return try await challenged(url, reason, besides: used?.credential, since: start)
    }

    // MARK: Servers of a portal

    /// The token for a server whose portal a credential is known for; nil for other servers.
    private func federated(_ url: URL) async throws -> Authorization? {
        guard let root = ServerRoot(url), !arcGISCredentialStore.credentials.isEmpty,
            let portal = try await portal(of: root), let address = portal.url("sharing/rest"),
            let credential = arcGISCredentialStore.credential(for: address)
        else { return nil }
        // A server may say that it belongs to any portal. What decides is whether the portal gives a token for it; the
        // portal's own token goes to no other host.
        let isOneHouse = portal.sharesOrigin(with: root) || (portal.isOnline && root.isOnline)
        do {
            let service = isOneHouse ? nil : try await TokenService.find(for: address)
            let token = try await DerivedCredential.token(of: credential, service, root)
            let holder = DerivedCredential(portal: credential, service: service, server: root, token: token)
            keep(DerivedToken(credential: credential, holder: holder), for: root)
            return try await known(for: url, besides: nil)
        } catch is ArcGISAuthenticationError {
            return nil
        }
    }

    // MARK: Challenges

    /// Has the app's handler asked, once for all requests that wait for the same sign-in. nil when the request is to go on
    /// without a credential, or there is no handler.
    /// - Parameter refused: the credential that did not help.
    private func challenged(
        _ url: URL, _ error: any Error, besides refused: ArcGISCredential?, since start: ContinuousClock.Instant
    ) async throws -> Authorization? {
        guard let root = ServerRoot(url), let handler = arcGISAuthenticationChallengeHandler else { return nil }
        let portal = try? await portal(of: root)
        let challenge = ArcGISAuthenticationChallenge(
            requestURL: url, kind: portal == nil ? .token : .oAuthOrToken, error: error, signInRoot: portal ?? root)
        let key = (portal ?? root).text
        let ending = try await challenges.value(of: key) { [self] in
            // Signed in by a challenge that ended a moment ago.
            if let now = arcGISCredentialStore.credential(for: (portal ?? root).url("sharing/rest") ?? url),
                now !== refused
            {
                return .credential(now)
            }
            // Looked at in here: outside, another challenge could be cancelled between the look and the asking.
            if wasRefused(key, after: start) { return .refusedBefore }
            switch try await handler.handleArcGISAuthenticationChallenge(challenge) {
            case .continueWithCredential(let credential):
                arcGISCredentialStore.add(credential)
                return .credential(credential)
            case .continueWithoutCredential: return .without
            case .cancel:
                noteRefusal(key)
                return .cancelled(challenge)
            }
        }
        switch ending {
        case .cancelled(let challenge): throw ArcGISChallengeCancellationError(challenge: challenge)
        case .refusedBefore:
            if wasRefused(key, after: start) { throw ArcGISChallengeCancellationError(challenge: challenge) }
            // This request began later than the one whose ending it shares.
            return try await challenged(url, error, besides: refused, since: start)
        case .without: return nil
        case .credential(let credential):
            if let known = try await known(for: url, besides: nil) { return known }
            if let federated = try await federated(url) { return federated }
            // The app gave it for this very request.
            arcGISCredentialStore.add(credential, specificTo: root.url(""))
            return try await known(for: url, besides: nil)
        }
    }

    /// Makes sure that a portal knows who asks: by what is known, or by asking the handler. Throws
    /// `ArcGISAuthenticationError.tokenRequired` when neither gives a credential.
    func requireCredential(for url: URL) async throws {
        let start = ContinuousClock.now
        let error = ArcGISAuthenticationError.tokenRequired(
            details: "\(url.host() ?? "The portal") wants a sign-in, and no credential is known for it.")
        if try await authorization(for: url, since: start) != nil { return }
        guard try await challenged(url, error, besides: nil, since: start) != nil else { throw error }
    }

    // MARK: Names and passwords of hosts

    /// The header for a host; nil for none.
    func networkHeader(for url: URL) -> String? {
        url.host().flatMap { networkStore.credentials(forHost: $0).first?.header }
    }

    /// Whether there is a credential for a host now that was not sent before.
    private func isAnswered(_ kind: NetworkAuthenticationChallenge.Kind, _ url: URL) async throws -> Bool {
        guard let host = url.host(), let handler = networkAuthenticationChallengeHandler else { return false }
        let challenge = NetworkAuthenticationChallenge(host: host, kind: kind)
        let disposition = try await networkChallenges.value(of: host.lowercased()) {
            await handler.handleNetworkAuthenticationChallenge(challenge)
        }
        switch disposition {
        case .continueWithCredential(let credential):
            networkStore.add(credential, forHost: host)
            // Only names and passwords can be sent.
            return credential.header != nil && kind == .basic
        case .continueWithoutCredential, .rejectProtectionSpace: return false
        case .cancel: throw NetworkChallengeCancellationError(challenge: challenge)
        }
    }
}
