import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore

/// The one place that decides what a request may do. The router asks it for every route, and jobs for the person who began them;
/// the decision itself is `ItemRights`, by which `fieldwork rights` prints what a person may do.
struct Access: Sendable {
    /// nil: the server has no people, and never will.
    var portal: Portal?

    /// What the caller may do with a service.
    func rights(
        of principal: Principal, on service: ServiceName, as kind: ServiceItemKind = .feature
    ) async throws -> ItemRights {
        guard let portal, principal.kind != .everybody else { return Self.allRights }
        return ItemRights(of: principal, on: try await portal.facts(ofService: service.path, as: kind))
    }

    /// The item of a service in the portal, by which clients find one from the other; nil on a server without people.
    func itemID(of service: ServiceName, for principal: Principal) async throws -> String? {
        guard let portal, principal.kind != .everybody else { return nil }
        return try await portal.facts(ofService: service.path).id
    }

    private static let allRights = ItemRights(of: .everybody, on: ItemFacts(id: "", owner: "", sharing: Sharing()))

    /// Throws what the client is told when the right that a route needs is not there.
    func require(_ right: Right, _ rights: ItemRights, of principal: Principal) throws(ServiceError) {
        let isAllowed =
            switch right {
            case .nothing, .operate, .visit, .prove: true
            case .member: principal.kind != .nobody
            case .administer: rights.administers
            case .create, .update, .delete, .edit, .upload: rights.reads && rights.edits
            case .describe, .query, .sync, .extractChanges, .knowsName: rights.reads
            }
        guard isAllowed else { throw Self.refusal(of: principal) }
    }

    static func refusal(of principal: Principal) -> ServiceError {
        principal.isSignedIn ? .forbidden : .tokenRequired
    }

    /// A service as somebody may see and use it: without the features of others where each sees only the own ones, and without
    /// the capabilities to edit for who may not edit. Every operation looks at these capabilities, and so do clients, which offer
    /// no editing then.
    func seen(
        _ service: PublishedService, by editor: String?, _ rights: ItemRights
    ) -> PublishedService {
        var seen = service.seen(by: editor)
        guard !rights.edits else { return seen }
        let withheld: Set<Capability> = [.create, .update, .delete, .editing, .uploads]
        seen.withholdsEditing = !seen.definition.capabilities.isDisjoint(with: withheld)
        seen.definition.capabilities.subtract(withheld)
        for index in seen.definition.layers.indices {
            seen.definition.layers[index].capabilities.subtract(withheld)
        }
        return seen
    }

    /// A service for work that goes on without a request of the person, such as a job. Whoever lost the right loses it here as
    /// well.
    func seen(_ service: PublishedService, byPerson name: String?) async throws -> PublishedService {
        guard let portal, try await portal.hasPeople() else { return service.seen(by: name) }
        var principal = Principal.nobody
        if let name { principal = try await portal.principal(named: name) ?? .nobody }
        let rights = try await rights(of: principal, on: service.definition.name)
        guard rights.reads else { throw Self.refusal(of: principal) }
        return seen(service, by: name, rights)
    }
}

extension ServiceError {
    /// The client must sign in.
    static let tokenRequired = ServiceError(code: 499, message: "Token Required")
    /// The token is unknown, expired or revoked: the client gets another and tries again.
    static let invalidToken = ServiceError(code: 498, message: "Invalid token.")
    /// Whoever has signed in may not do it.
    static let forbidden: ServiceError = {
        var error = ServiceError(
            code: 403, message: "You do not have permissions to access this resource or perform this operation.")
        error.unknownMembers["messageCode"] = "GWM_0003"
        return error
    }()
}
