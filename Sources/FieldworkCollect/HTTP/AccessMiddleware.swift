import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Stands before every route: asks the access policy, and puts the security headers on every answer.
struct AccessMiddleware: RouterMiddleware {
    typealias Context = CollectContext

    let policy: AccessPolicy
    let pages: PageRenderer

    func handle(
        _ request: Request, context: CollectContext, next: (Request, CollectContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        let offered = request.uri.queryParameters["key"].map(String.init)
        switch policy.decide(request.head, path: request.uri.path, offered: offered) {
        case .allow:
            response = try await next(request, context)
        case .welcome:
            // The key stays neither in the address bar nor in the history.
            response = PageRenderer.redirect("/")
            response.headers[.setCookie] = policy.cookie
        case .refuse(let reason):
            context.logger.notice("request refused", metadata: ["reason": "\(reason.rawValue)"])
            response = refusal(reason, request: request)
        }
        SecurityHeaders.apply(to: &response)
        return response
    }

    private func refusal(_ reason: AccessPolicy.Reason, request: Request) -> Response {
        let text =
            switch reason {
            case .noKey: "It opens with the address that Fieldwork printed when it started, which holds a key."
            case .wrongKey: "The key in this address is not the one of this app."
            case .crossSite, .wrongOrigin: "Another site asked for this page. Type its address yourself to open it."
            case .wrongHost: "Fieldwork answers only to the address it printed when it started."
            case .notReady: "Fieldwork is starting."
            }
        return pages.closed(
            status: reason == .notReady ? .serviceUnavailable : .forbidden,
            heading: "This page is closed", text: text, asksForKey: reason == .noKey || reason == .wrongKey)
    }
}

/// What every answer says to the browser: nothing from elsewhere, nothing inline, in nobody's frame.
enum SecurityHeaders {
    static let contentPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:",
        "connect-src 'self'", "worker-src 'self' blob:", "font-src 'self'", "form-action 'self'", "base-uri 'none'",
        "frame-ancestors 'none'", "manifest-src 'self'",
    ].joined(separator: "; ")

    static func apply(to response: inout Response) {
        response.headers[.contentSecurityPolicy] = contentPolicy
        response.headers[.xContentTypeOptions] = "nosniff"
        // Not `no-referrer`: with it browsers send `Origin: null` with a plain form, and its origin couldn't be checked.
        response.headers[.referrerPolicy] = "same-origin"
        response.headers[.frameOptions] = "DENY"
        response.headers[.openerPolicy] = "same-origin"
        response.headers[.resourcePolicy] = "same-origin"
        response.headers[.permissionsPolicy] = "camera=(), microphone=(), geolocation=(self), payment=(), usb=()"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    }
}
