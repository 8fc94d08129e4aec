import FieldworkREST
import Foundation
import HTTPTypes

/// Decides who may speak to the server. Programs may that know it by one of its names; pages in a browser if they are its
/// own, or of a site that the rules allow. Another name for its address (DNS rebinding) opens nothing.
struct AccessPolicy: Sendable {
    private let rules: AccessRules
    private let hosts: Set<String>
    /// Whether other machines reach the server: then they may call it by any of its addresses.
    private let answersAddresses: Bool
    private let routes: RouteTable
    /// What the server itself speaks.
    private let scheme: String
    /// The names under which programs have reached the server: the same few in nearly all requests.
    private let known = KnownHosts()

    /// - Parameter host: what the server listens on.
    init(_ rules: AccessRules, host: String, routes: RouteTable, scheme: String = "http") {
        self.scheme = scheme
        self.rules = rules
        self.routes = routes
        let listened = HostName(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)
        answersAddresses = listened?.isLoopback != true
        var hosts = Set(rules.hosts.map(\.name))
        if let listened { hosts.insert(listened.name) }
        if let name = rules.publicAddress?.origin.host.name { hosts.insert(name) }
        if answersAddresses { hosts.formUnion(HostName.ofThisMachine) }
        self.hosts = hosts
    }

    /// - Parameter client: the other end of the connection.
    func admit(_ request: HTTPRequest, from client: NetworkAddress?) throws(Refusal) -> Visit {
        guard Self.methods.contains(request.method) else { throw .method }
        let isPassedOn = rules.isProxy(client)
        if !isPassedOn, Self.isPlain(request), let authority = request.authority, let host = known[authority] {
            var visit = Visit(address: host.address)
            visit.isOfThisMachine = client?.isLoopback == true && host.isLoopback
            return visit
        }
        let host = try host(of: request, isPassedOn: isPassedOn)
        let seenScheme = isPassedOn ? Self.forwarded(.forwardedProto, request)?.lowercased() ?? scheme : scheme
        guard let seen = SiteOrigin(scheme: seenScheme, host: host) else { throw .malformed("X-Forwarded-Proto") }
        var visit = Visit(address: rules.publicAddress?.text ?? seen.text)
        visit.client = isPassedOn ? lastClient(request) : nil
        visit.isOfThisMachine =
            client?.isLoopback == true && host.isLoopback && !isPassedOn && !Self.isForwarded(request)
        guard let other = otherSite(request, seen) else {
            if !isPassedOn, let authority = request.authority {
                known.note(authority, KnownHosts.Host(address: visit.address, isLoopback: host.isLoopback))
            }
            return visit
        }
        guard let site = other.site else {
            // The site can't be named by an origin: only what is open to all is open to it.
            guard rules.isReadByAll else { throw .otherSite(other.name) }
            visit.site = .other(mayEdit: false)
            visit.allowedOrigin = request.field(.origin)
            try requireRead(request, name: other.name, visit)
            return visit
        }
        let mayEdit = rules.editors.contains(site)
        guard mayEdit || rules.isReadByAll || rules.readers.contains(site) else { throw .otherSite(other.name) }
        visit.site = .other(mayEdit: mayEdit)
        visit.allowedOrigin = request.field(.origin)
        if !mayEdit { try requireRead(request, name: other.name, visit) }
        return visit
    }

    static let methods: [HTTPRequest.Method] = [.get, .head, .post, .options]

    /// Whether it has none of the fields that tell of a page or of who stands between: only its host decides then.
    private static func isPlain(_ request: HTTPRequest) -> Bool {
        request.headerFields.allSatisfy { !telling.contains($0.name) }
    }

    private static let telling: Set<HTTPField.Name> = [
        .origin, .secFetchSite, .hostField, .forwardedFor, .forwardedHost, .forwardedProto, .forwarded,
    ]

    // MARK: Names

    private func host(of request: HTTPRequest, isPassedOn: Bool) throws(Refusal) -> HostName {
        guard let authority = request.authority, !authority.isEmpty else { throw .noHost }
        guard request.field(.hostField) == nil else { throw .manyHosts }
        let text = (isPassedOn ? Self.forwarded(.forwardedHost, request) : nil) ?? authority
        guard let host = HostName(text) else { throw .malformed("Host") }
        guard host.isLoopback || hosts.contains(host.name) || (answersAddresses && host.address != nil) else {
            throw .wrongHost(host.name)
        }
        return host
    }

    /// The address that the outermost trusted proxy has seen. What stands before it the client may have written itself.
    private func lastClient(_ request: HTTPRequest) -> String? {
        let values = request.headerFields[values: .forwardedFor].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        for value in values.reversed() {
            guard let address = NetworkAddress(value) else { return nil }
            if !rules.isProxy(address) { return value }
        }
        return nil
    }

    /// What the first of several proxies has written.
    private static func forwarded(_ name: HTTPField.Name, _ request: HTTPRequest) -> String? {
        guard let field = request.headerFields[values: name].first else { return nil }
        let value = field.prefix { $0 != "," }.drop { $0 == " " }
        return value.isEmpty ? nil : String(value.prefix { $0 != " " })
    }

    private static func isForwarded(_ request: HTTPRequest) -> Bool {
        [HTTPField.Name.forwardedFor, .forwardedHost, .forwardedProto, .forwarded].contains {
            request.headerFields[$0] != nil
        }
    }

    // MARK: Sites

    /// The site whose page made a browser send the request; nil when none did. Programs send none of these fields.
    private func otherSite(_ request: HTTPRequest, _ seen: SiteOrigin) -> (site: SiteOrigin?, name: String)? {
        let origin = request.field(.origin)
        let relation = request.field(.secFetchSite)
        if let origin {
            let site = SiteOrigin(origin)
            if let site, isOwn(site, seen), relation != "cross-site" { return nil }
            return (site, origin)
        }
        switch relation {
        case nil, "same-origin", "none": return nil
        default: break
        }
        // A link from elsewhere opens a page or a document for the person who follows it; the linking page sees nothing.
        let isRead = request.method == .get || request.method == .head
        let isFollowedLink =
            request.field(.secFetchMode) == "navigate" && request.field(.secFetchDest) == "document"
        if isRead, isFollowedLink { return nil }
        // What pages embed (scripts, images) comes without an origin.
        let site = request.field(.referer).flatMap { SiteOrigin(address: $0) }
        return (site, site?.text ?? "a page that does not say its address")
    }

    /// What stands before the server may speak TLS without saying so.
    private func isOwn(_ site: SiteOrigin, _ seen: SiteOrigin) -> Bool {
        if site == seen || site == rules.publicAddress?.origin { return true }
        return site.host.name == seen.host.name && site.host.port == seen.host.port
    }

    /// A preflight asks for what would follow it.
    private func requireRead(_ request: HTTPRequest, name: String, _ visit: Visit) throws(Refusal) {
        if request.method == .options {
            guard request.field(.accessControlRequestMethod) != "POST" || !changes(request) else {
                throw .otherSiteEdits(name, visit)
            }
        } else if changes(request) {
            throw .otherSiteEdits(name, visit)
        }
    }

    private func changes(_ request: HTTPRequest) -> Bool {
        guard let target = try? RequestTarget(request.path ?? "/") else { return true }
        return routes.match(target)?.route.changes ?? false
    }
}
