import Hummingbird

/// Notes which events had been told when a request came. What happens while its page is made and before its window listens is
/// told to that window when it does: a page never stays behind for good.
struct RequestMoment: RouterMiddleware {
    typealias Context = CollectContext

    /// The revision of the last event before the request that is answered now; nil outside of one.
    @TaskLocal static var revision: UInt64?

    let hub: EventHub

    func handle(
        _ request: Request, context: CollectContext, next: (Request, CollectContext) async throws -> Response
    ) async throws -> Response {
        try await Self.$revision.withValue(hub.revision) { try await next(request, context) }
    }
}
