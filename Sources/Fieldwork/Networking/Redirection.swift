import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Follows redirections as browsers do, but takes what tells who asks to no other host: a service that was taken over could
/// otherwise collect tokens.
enum Redirection {
    private static let statuses: Set<UInt> = [301, 302, 303, 307, 308]

    static func execute(_ first: HTTPClientRequest, _ settings: NetworkSettings) async throws -> HTTPClientResponse {
        var request = first
        for _ in 0..<Limits.redirections {
            let response = try await send(request, settings)
            guard let next = next(after: request, response) else { return response }
            request = next
        }
        return try await send(request, settings)
    }

    private static func send(_ request: HTTPClientRequest, _ settings: NetworkSettings) async throws
        -> HTTPClientResponse
    {
        let host = URL(string: request.url)?.host() ?? ""
        return try await ConnectionPools.shared.http(settings.way(to: host)).execute(
            request, timeout: .seconds(Limits.transferSeconds))
    }

    /// nil for an answer that sends nowhere else.
    private static func next(after request: HTTPClientRequest, _ response: HTTPClientResponse) -> HTTPClientRequest? {
        guard statuses.contains(response.status.code), let place = response.headers.first(name: "Location"),
            let old = URL(string: request.url), let url = URL(string: place, relativeTo: old)?.absoluteURL,
            let from = ServerRoot(old), let to = ServerRoot(url)
        else { return nil }
        var next = request
        next.url = url.absoluteString
        if !from.sharesOrigin(with: to) {
            for name in Authorization.secretHeaders { next.headers.remove(name: name) }
        }
        // What was posted is not posted again, unless the service says so.
        if request.method == .POST, [301, 302, 303].contains(response.status.code) {
            next.method = .GET
            next.body = nil
            for name in ["Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding"] {
                next.headers.remove(name: name)
            }
        }
        return next
    }
}
