import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Every route, asked by everybody.
@Suite("Who may do what", .fewAtATime)
struct AccessMatrixTests {
    enum Caller: String, Sendable, CaseIterable {
        case nobody, viewer, editor, owner, administrator, wrongToken, expiredToken
    }

    /// What comes before an operation looks at its parameters.
    enum Outcome: Sendable, Hashable {
        /// It is let in: what it answers depends on its parameters.
        case admitted
        case refused(Int)
    }

    /// What each right means for each caller, where the service is shared with the organisation.
    static func expected(_ right: Right, _ caller: Caller) -> Outcome {
        switch right {
        case .nothing, .prove: return .admitted
        // Programs of this machine are the operator's.
        case .operate: return .admitted
        case .visit:
            return [.wrongToken, .expiredToken].contains(caller) ? .refused(498) : .admitted
        case .member, .describe, .query, .sync, .extractChanges, .knowsName:
            switch caller {
            case .nobody: return .refused(499)
            case .wrongToken, .expiredToken: return .refused(498)
            default: return .admitted
            }
        case .create, .update, .delete, .edit, .upload:
            switch caller {
            case .nobody: return .refused(499)
            case .wrongToken, .expiredToken: return .refused(498)
            case .viewer: return .refused(403)
            default: return .admitted
            }
        case .administer:
            switch caller {
            case .nobody: return .refused(499)
            case .wrongToken, .expiredToken: return .refused(498)
            case .viewer, .editor: return .refused(403)
            case .owner, .administrator: return .admitted
            }
        }
    }

    /// Rows that are about who asks, whatever they are in the table, and those that say nothing of a service.
    private static func exception(_ route: Route, _ caller: Caller) -> Outcome? {
        switch route.pattern {
        case "{instance}/rest/services", "{instance}/rest/services/{folder}", "{instance}/rest/services/*":
            // The catalogue shows what the caller may see.
            return [.wrongToken, .expiredToken].contains(caller) ? .refused(498) : .admitted
        case "{instance}/rest/admin/services/*":
            // No service, no owner.
            return caller == .owner || caller == .viewer || caller == .editor ? .refused(403) : nil
        default: return nil
        }
    }

    @Test(
        "Each route of the table admits and refuses each caller as its right says, for a service and for a view of one",
        arguments: ["Trees", "Shade"])
    func everyRoute(service: String) async throws {
        try await PeopleServer.with { people in
            try await ViewPortalTests.addShade(people)
            var tokens = try await people.tokens()
            var looked = 0
            for route in RouteTable(instance: "arcgis").routes {
                // Whoever signs out has no token any more.
                defer { if route.path == "oauth2/signout" { tokens = [:] } }
                if tokens.isEmpty { tokens = try await people.tokens() }
                for caller in Caller.allCases {
                    let expected = Self.exception(route, caller) ?? Self.expected(route.right, caller)
                    let answer = try await Self.send(route, of: service, token: tokens[caller] ?? nil, people)
                    looked += 1
                    // A wrong parameter or a missing feature is known only to who was let in.
                    switch expected {
                    case .refused(let code):
                        #expect(
                            Self.refusal(answer) == code, "\(route.pattern) by \(caller): \(answer.text.prefix(200))")
                        #expect(answer.status == 200, "\(route.pattern) by \(caller): clients read no other status")
                    case .admitted
                    where [.portal, .portalAdministration].contains(route.base) && route.right != .prove:
                        // The portal says by itself what the person may not do.
                        #expect(answer.errorCode != 498, "\(route.pattern) by \(caller): \(answer.text.prefix(200))")
                    case .admitted:
                        #expect(
                            ![403, 498, 499].contains(Self.refusal(answer) ?? 0),
                            "\(route.pattern) by \(caller): \(answer.text.prefix(200))")
                    }
                }
            }
            #expect(looked == RouteTable(instance: "arcgis").routes.count * Caller.allCases.count)
        }
    }

    /// The code of an error. The Web Map Service tells what went wrong in its own words.
    private static func refusal(_ answer: TestClient.Answer) -> Int? {
        let words = ["TokenRequired": 499, "InvalidToken": 498, "Forbidden": 403]
        return answer.errorCode ?? words.first { answer.text.contains("code=\"\($0.key)\"") }?.value
    }

    /// An address of a route, with something for each of its parameters.
    private static func address(of route: Route, of service: String) -> String {
        var path = "/" + route.pattern
        for (name, value) in [
            ("{instance}", "arcgis"), ("{service}", route.base == .geocodeServer ? "Trees" : service), ("{layer}", "0"),
            ("{objectId}", "999999"),
            ("{feature}", "999999"), ("{toGeneration}", "1"), ("{attachmentId}", "1"), ("{conflict}", "1"),
            ("{itemID}", "i1"), ("{id}", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"), ("{folder}", "Nowhere"),
            ("{name}", "nothing"), ("{username}", "zoe"), ("{item}", String(repeating: "0", count: 32)),
            ("{group}", String(repeating: "1", count: 32)), ("{prefix}", "p"), ("{level}", "1"),
            ("{row}", "0"), ("{column}", "1"), ("{width}", "8"), ("{height}", "8"), ("{font}", "Sans"),
            ("*", "nothing/at/all/here"),
        ] {
            path = path.replacing(name, with: value)
        }
        return path
    }

    @Test("The address that the matrix asks for is that of the route which it means, for every route")
    func addresses() throws {
        let table = RouteTable(instance: "arcgis")
        #expect(table.routes.count > 200)
        for route in table.routes {
            let path = Self.address(of: route, of: "Trees")
            #expect(
                !path.contains("{") && !path.contains("*"), "\(route.pattern): a parameter has no value in this test")
            let match = try table.match(RequestTarget(path))
            #expect(match?.route === route, "\(route.pattern): \(path) leads to \(match?.route.pattern ?? "nothing")")
        }
    }

    /// Nothing that a request asks for is there, or it lacks what it needs: no row changes what the next one finds.
    private static func send(
        _ route: Route, of service: String, token: String?, _ people: PeopleServer
    ) async throws -> TestClient.Answer {
        let path = address(of: route, of: service)
        let headers = token.map { [("X-Esri-Authorization", "Bearer \($0)")] } ?? []
        if route.method == .write { return try await people.client.post(path, ["f": "json"], headers: headers) }
        return try await people.client.get(path, ["f": "json"], headers: headers)
    }
}
