import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Waits on this device for the browser that a portal sends back after a sign-in. It listens on the loopback address alone,
/// and takes no answer but that of the sign-in which began it.
final class LoopbackRedirect: Sendable {
    /// With the port that it listens at.
    let redirectURL: URL
    private let channel: any Channel
    private let answers: AsyncStream<URL>

    private init(redirectURL: URL, channel: any Channel, answers: AsyncStream<URL>) {
        self.redirectURL = redirectURL
        self.channel = channel
        self.answers = answers
    }

    /// nil for an address that is not of this device: the app catches those itself.
    static func listen(at url: URL, state: String) async throws -> LoopbackRedirect? {
        guard url.scheme?.lowercased() == "http", let host = url.host()?.lowercased(),
            ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        else { return nil }
        let (answers, continuation) = AsyncStream.makeStream(of: URL.self)
        let path = url.path(percentEncoded: true).isEmpty ? "/" : url.path(percentEncoded: true)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(
                        RedirectHandler(path: path, state: state, answers: continuation))
                }
            }
        let channel: any Channel
        do {
            channel = try await bootstrap.bind(
                host: host.contains(":") ? "::1" : "127.0.0.1", port: url.port ?? 0
            ).get()
        } catch {
            throw ArcGISAuthenticationError.oAuthFailure(
                details: "Nothing can listen at \(Redaction.address(url)): \(Redaction.reason(error)).")
        }
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.port = channel.localAddress?.port
        return LoopbackRedirect(redirectURL: components?.url ?? url, channel: channel, answers: answers)
    }

    /// The address that the browser came to.
    func redirect() async throws -> URL {
        for await url in answers { return url }
        throw CancellationError()
    }

    func stop() { channel.close(promise: nil) }
}

/// Answers the browser in one connection.
private final class RedirectHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let path: String
    private let state: String
    private let answers: AsyncStream<URL>.Continuation

    init(path: String, state: String, answers: AsyncStream<URL>.Continuation) {
        self.path = path
        self.state = state
        self.answers = answers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        let url = URL(string: "http://127.0.0.1\(head.uri)")
        let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems } ?? []
        let isOurs =
            head.method == .GET && head.uri.utf8.count <= Limits.redirectBytes
            && head.uri.prefix { $0 != "?" } == path && items.contains { $0.name == "state" && $0.value == state }
        guard isOurs, let url else {
            answer(context, .notFound, "This is not the answer that the app waits for.")
            return
        }
        let isRefused = items.contains { $0.name == "error" }
        // Whoever waits goes on when the page has been written: a process that ends right after the sign-in would cut it off.
        let written = context.eventLoop.makePromise(of: Void.self)
        let answers = answers
        written.futureResult.whenComplete { _ in answers.yield(url) }
        answer(
            context, .ok, isRefused ? "The sign-in was cancelled." : "You are signed in. You can close this window.",
            written)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(
        _ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ text: String,
        _ written: EventLoopPromise<Void>? = nil
    ) {
        let page = """
            <!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Sign-in</title>\
            <meta name="viewport" content="width=device-width"><body><main><p>\(text)</p></main></body></html>
            """
        var buffer = context.channel.allocator.buffer(capacity: page.utf8.count)
        buffer.writeString(page)
        let headers: HTTPHeaders = [
            "Content-Type": "text/html; charset=utf-8", "Content-Length": "\(page.utf8.count)",
            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": "default-src 'none'", "Connection": "close",
        ]
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}
