import Hummingbird

/// Counts the requests that are under way, so that the person who works changes between them and not within one. Streams of
/// events and files of the page have nothing of a person's; the pages of the account change it themselves.
struct GateMiddleware: RouterMiddleware {
    typealias Context = CollectContext

    let gate: RequestGate

    func handle(
        _ request: Request, context: CollectContext, next: (Request, CollectContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        guard path != "/events", !path.hasPrefix("/assets/"), !path.hasPrefix("/account") else {
            return try await next(request, context)
        }
        await gate.enter()
        do {
            let response = try await next(request, context)
            await gate.leave()
            return response
        } catch {
            await gate.leave()
            throw error
        }
    }
}
