import FieldworkREST
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("What the log does not show", .fewAtATime)
struct RedactionTests {
    /// Keeps the lines of a log.
    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        var all: [String] { state.withLock { $0 } }
        func note(_ line: String) { state.withLock { $0.append(line) } }

        var logger: Logger {
            var logger = Logger(label: "test") { _ in Handler(lines: self) }
            logger.logLevel = .trace
            return logger
        }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.note("\(event.message) \(event.metadata.map { "\($0)" } ?? "")")
        }
    }

    private struct Dresser: RequestInterceptor {
        var change: @Sendable (inout OutgoingRequest) -> Void
        func willSend(_ request: inout OutgoingRequest) async throws { change(&request) }
    }

    /// The ways in which a request carries a secret.
    private enum Shape: CaseIterable {
        case parameter, unknownParameter, addressParameter, bareQuery, encoded, mixedCase, nested, user, password
        case fragment, header, basicHeader, body, condition, parameterName, protocolParameter

        static let names = [
            "token", "access_token", "refresh_token", "password", "client_secret", "code", "apiKey", "key", "sig",
            "Signature", "X-Amz-Signature", "X-Amz-Credential", "Expires", "Policy", "se", "sv", "auth", "jwt",
        ]

        func address(_ port: UInt16, _ secret: String, _ name: String) -> String {
            let root = "127.0.0.1:\(port)/rest/services/T"
            return switch self {
            case .addressParameter: "http://\(root)?f=json&\(name)=\(secret)"
            case .bareQuery: "http://\(root)?\(secret)"
            case .encoded: "http://\(root)?\(name)=" + secret.utf8.map { "%" + String($0, radix: 16) }.joined()
            case .mixedCase: "http://\(root)?\(name.uppercased())=\(secret)"
            case .nested: "http://\(root)?url=http%3A%2F%2Fother%2F%3F\(name)%3D\(secret)"
            case .user: "http://\(secret)@\(root)"
            case .password: "http://crew:\(secret)@\(root)"
            case .fragment: "http://\(root)#\(name)=\(secret)"
            default: "http://\(root)"
            }
        }

        func apply(_ secret: String, _ name: String, to request: inout OutgoingRequest) {
            switch self {
            case .parameter: request.parameters.append((name, secret))
            case .unknownParameter: request.parameters.append(("x-\(name)-y", secret))
            case .condition: request.parameters.append(("where", "name = '\(secret)'"))
            // What is no such value as the protocol has is not shown under its name either.
            case .protocolParameter: request.parameters.append(("f", "json&\(name)=\(secret)"))
            case .parameterName: request.parameters.append(("\(secret)=", "1"))
            case .header: request.headers.append(("X-Api-Key", secret))
            case .basicHeader: request.headers.append(("Authorization", "Basic \(secret)"))
            default: break
            }
        }
    }

    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test("No log line, record or error shows a secret, in whatever shape the request carries it, answered or not")
    func shapes() async throws {
        let action: @Sendable (LoopbackServer.Request) -> LoopbackServer.Action = { request in
            request.path.hasSuffix("broken") ? .breakOff : .json("{}")
        }
        try await LoopbackServer.with(action) { server in
            var numbers = Numbers(state: 17)
            for shape in Shape.allCases {
                for round in 0..<12 {
                    let letters = (0..<Int.random(in: 8...60, using: &numbers)).map { _ in
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".randomElement(using: &numbers)
                            ?? "a"
                    }
                    // A beginning that no other text has.
                    let secret = "S3cr3t" + String(letters)
                    let name = Shape.names.randomElement(using: &numbers) ?? "token"
                    let lines = Lines()
                    let dresser = Dresser { shape.apply(secret, name, to: &$0) }
                    let port = round.isMultiple(of: 3) ? 1 : server.port
                    var url = try #require(URL(string: shape.address(port, secret, name)))
                    if round % 3 == 1 { url.append(path: "broken") }
                    let isRead = shape != .body
                    let client = HTTPServiceClient(
                        pause: { _ in }, ownSession: ArcGISURLSession(interceptors: [dresser]), logger: lines.logger)
                    var parameters = [("f", "json")]
                    if shape == .body { parameters.append((name, secret)) }
                    do {
                        _ = try await client.answer(to: ServiceRequest(url, parameters, isRead: isRead))
                    } catch {
                        lines.note("\(error) \(error.localizedDescription)")
                    }
                    #expect(!lines.all.isEmpty)
                    let shown = lines.all.joined(separator: "\n").lowercased()
                    #expect(!shown.contains("s3cr3t"), "\(shape): \(shown)")
                }
            }
        }
    }

    @Test("The log tells what was asked for: the address, the protocol's parameters and the names of others")
    func address() throws {
        let url = try #require(URL(string: "https://me:pass@host:8443/rest/services?Token=abc&f=json#part"))
        let shown = Redaction.address(url, [("where", "a=1"), ("outFields", "a,b"), ("resultOffset", "200")])
        #expect(
            shown == "https://host:8443/rest/services?Token=***&f=json&where=***&outFields=a,b&resultOffset=200")
    }

    @Test("The session of the process is described without the password of its proxy")
    func sessionDescription() {
        var settings = NetworkSettings()
        settings.proxy = .init(host: "proxy", port: 8_080, username: "crew", password: "s3cret")
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!"\(settings) \(settings.way(to: "host")) \(dumped)".contains("s3cret"))
        #expect("\(settings)".contains("proxy:8080"))
    }
}
