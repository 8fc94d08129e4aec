import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

/// The operations of the portal, `/sharing/rest`: each reads its parameters, asks `Portal`, which checks the rights, and writes
/// the answer.
struct PortalOperations: Sendable {
    let portal: Portal
    let context: RouteContext
    let answers: PortalAnswers

    var request: ServiceRequest { context.request }
    var principal: Principal { request.principal }
    var values: RouteValues { context.values }
    var author: Author { Author(name: principal.name ?? "", address: request.peer) }

    /// Runs an operation and writes what it gives.
    static func answer(
        _ context: RouteContext, _ body: (PortalOperations) async throws -> JSONValue
    ) async throws -> Answer {
        let operations = try await PortalOperations(context)
        let format = try context.request.format()
        return .json(try await body(operations), format: format == .html ? .prettyJSON : format)
    }

    init(_ context: RouteContext) async throws {
        guard let portal = context.server.access.portal else {
            throw ServiceError(
                code: 400, message: "Requested operation is not supported by this service.",
                details: ["This server was started without a portal."])
        }
        self.portal = portal
        self.context = context
        answers = try await PortalAnswers(portal, context.request, instance: context.server.instance)
    }

    // MARK: Parameters

    var person: String {
        get throws {
            guard let name = values.person else { throw ServiceError.internalFailure }
            return name
        }
    }

    var itemID: String {
        get throws {
            guard let id = values.item else { throw ServiceError.internalFailure }
            return id.lowercased()
        }
    }

    var groupID: String {
        get throws {
            guard let id = values.group else { throw ServiceError.internalFailure }
            return id.lowercased()
        }
    }

    func required(_ name: String) throws(ServiceError) -> String {
        guard let text = request.parameters[name] else { throw .invalidParameter("'\(name)' is missing.") }
        return text
    }

    /// Words between commas.
    func list(_ name: String) throws(ServiceError) -> [String] {
        try request.parameters.words(name)?.filter { !$0.allSatisfy(\.isWhitespace) } ?? []
    }

    /// `start` of the protocol counts from 1.
    func page(standard: Int = 10) throws(ServiceError) -> (start: Int, count: Int) {
        let start = try request.parameters.integer("start") ?? 1
        let count = try request.parameters.integer("num") ?? standard
        return (min(max(1, start), 1_000_000_000) - 1, min(max(0, count), FieldworkPortal.Limits.resultsPerPage))
    }

    /// The members that every page of results has.
    func envelope(_ page: (start: Int, count: Int), total: Int) -> JSONObject {
        let next = page.start + page.count
        return JSONObject([
            "total": JSONValue(total), "start": JSONValue(page.start + 1), "num": JSONValue(page.count),
            "nextStart": JSONValue(next < total && page.count > 0 ? next + 1 : -1),
        ])
    }

    static let success: JSONValue = ["success": true]
}
