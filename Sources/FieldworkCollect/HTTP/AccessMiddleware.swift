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
        switch policy.decide(request.head, path: request.uri.path) {
        case .allow:
            response = try await next(request, context)
        case .welcome:
            response = try await next(request, context)
            response.headers[.setCookie] = policy.cookie
        case .refuse(let reason):
            context.logger.notice("request refused", metadata: ["reason": "\(reason.rawValue)"])
            response = refusal(reason, request: request)
        }
        SecurityHeaders.apply(to: &response)
        return response
    }

    private func refusal(_ reason: AccessPolicy.Reason, request: Request) -> Response {
        // Style sheets are no secret, and the page that explains the refusal needs them.
        let text =
            switch reason {
            case .noKey: "This window belongs to an earlier start of Fieldwork, or was opened from elsewhere."
            case .crossSite, .wrongOrigin: "Another site asked for this page. Type its address yourself to open it."
            case .wrongHost: "Fieldwork answers only to the address it printed when it started."
            case .notReady: "Fieldwork is starting."
            }
        return pages.closed(
            status: reason == .notReady ? .serviceUnavailable : .forbidden,
            heading: "This page is closed", text: text, link: reason == .noKey)
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
        response.headers[.permissionsPolicy] = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    }
}
