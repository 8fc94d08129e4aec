import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Turns errors into pages that say what happened, what is safe and what to do.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = CollectContext

    let pages: PageRenderer

    func handle(
        _ request: Request, context: CollectContext, next: (Request, CollectContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as CollectError {
            context.logger.notice("request failed", metadata: ["code": "\(error.code.rawValue)"])
            return try await page(for: error, request: request)
        } catch let error as HTTPError where error.status == .notFound {
            return try await page(for: CollectError(.notFound, "There is no such page."), request: request)
        } catch let error as any HTTPResponseError {
            return Response(status: error.status)
        } catch let error as CancellationError {
            throw error
        } catch let error as ArcGISChallengeCancellationError {
            return try await signIn(error, request: request)
        } catch let error as ServiceError where error.code == 403 {
            return try await notForPerson(request: request)
        } catch {
            context.logger.warning("request failed", metadata: ["error": "\(type(of: error))"])
            await pages.workspace.noteReachable(false)
            return try await unanswered(error, request: request)
        }
    }

    private func page(for error: CollectError, request: Request) async throws -> Response {
        if error.code == .noMapOpen { return PageRenderer.redirect("/start") }
        if error.code == .fileNotOpened, let path = await pages.workspace.fileOfStart {
            return PageRenderer.redirect("/start/file?path=\(ChooseRoutes.escaped(path))")
        }
        let status: HTTPResponse.Status =
            switch error.code {
            case .notFound: .notFound
            case .notAllowed: .conflict
            case .badForm: .badRequest
            default: .badGateway
            }
        return try await problem(
            status: status, heading: error.code == .notFound ? "Page not found" : "Not possible here", tone: "wn",
            what: error.message,
            safe: "Nothing was changed.", next: error.nextStep ?? "", again: nil, request: request)
    }

    /// The page that needs a sign-in leads there; what the page's script asked for is told that there is none.
    private func signIn(_ error: ArcGISChallengeCancellationError, request: Request) async throws -> Response {
        guard request.method == .get, !request.uri.path.hasPrefix("/data/") else {
            return try await problem(
                status: .forbidden, heading: "A sign-in is needed", tone: "wn", what: error.details,
                safe: "Your edits are on this device.", next: "", again: nil, request: request)
        }
        let server = (error.challenge.signInURL ?? error.challenge.requestURL).absoluteString
        let query = "server=\(ChooseRoutes.escaped(server))&back=\(ChooseRoutes.escaped(request.uri.string))"
        return PageRenderer.redirect("/account/sign-in?\(query)")
    }

    private func notForPerson(request: Request) async throws -> Response {
        let name = pages.seat.accounts.current?.shown
        return try await problem(
            status: .forbidden, heading: "Not shared with you", tone: "wn",
            what: name.map { "The server does not let \($0) do this." } ?? "The server does not let you do this.",
            safe: "Your edits are on this device.", next: "Ask the owner to share it with you.", again: nil,
            request: request)
    }

    private func unanswered(_ error: any Error, request: Request) async throws -> Response {
        let details = (error as? any ArcGISError)?.details ?? ""
        return try await problem(
            status: .badGateway, heading: "No answer from the server", tone: "wn",
            what: details.isEmpty ? "The server didn't answer." : "The server didn't answer: \(details).",
            safe: "Your edits are on this device.", next: "Fieldwork tries again by itself.",
            again: request.method == .get ? request.uri.string : nil, request: request)
    }

    private func problem(
        status: HTTPResponse.Status, heading: String, tone: String, what: String, safe: String, next: String,
        again: String?, request: Request
    ) async throws -> Response {
        // Data for the map's script: the status is all it needs.
        if request.uri.path.hasPrefix("/data/") || request.uri.path == "/events" {
            return Response(
                status: status, headers: [.contentType: "text/plain; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: what)))
        }
        guard let map = try? await pages.workspace.map() else {
            return pages.closed(status: status, heading: heading, text: "\(what) \(safe) \(next)", asksForKey: false)
        }
        let panel = PageRenderer.Panel(
            ProblemPanel(heading: heading, tone: tone, what: what, safe: safe, next: next, again: again), kind: "side",
            tab: "map", title: heading, status: status)
        return try await pages.respond(panel, to: request, map: map)
    }
}
