import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes
import NIOCore

/// What an operation answers, before it is dressed as HTTP.
struct Answer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Pieces that the store makes while the client takes them.
        case stream(EncodedFeatures)
        /// A stream whose first pieces are at hand: there is more than these.
        case begun([UInt8], [UInt8], rest: EncodedFeatures)
        case file(FilePart)

        /// All bytes at once, for what is known to be short.
        func collected() async throws -> [UInt8] {
            var bytes: [UInt8] = []
            switch self {
            case .bytes(let whole): return whole
            case .stream(let pieces):
                for try await piece in pieces { bytes += piece }
            case .begun(let first, let second, let rest):
                bytes = first + second
                for try await piece in rest { bytes += piece }
            case .file(let part):
                var buffer = ByteBuffer()
                while buffer.readableBytes < part.range.count {
                    try part.read(from: part.range.lowerBound + Int64(buffer.readableBytes), into: &buffer)
                }
                bytes = Array(buffer.readableBytesView)
            }
            return bytes
        }
    }

    var status: HTTPResponse.Status = .ok
    var contentType: String
    var body: Body
    /// Names this state of the resource exactly; nil when that is not known cheaply.
    var entityTag: String?
    /// The code of the protocol's error that the body carries.
    var errorCode: Int?
    var isCompressible = true
    /// The bytes are compressed already. A client that doesn't take them so gets them expanded.
    var isGzipped = false
    /// The client has these bytes: it is told no more than that.
    var isUnchanged = false
    /// The bytes of a streamed body, where they are known.
    var contentLength: Int?
    /// Which part of a file this is.
    var contentRange: String?
    /// Set for files that came from anybody: how a browser treats them.
    var disposition: String?
    /// Pages carry a content policy.
    var isPage = false
    /// The content policy of a page that needs another than the directory's.
    var contentPolicy: String?
    /// Where a browser goes on.
    var location: String?
    /// Cookies that a browser is to keep, as `Set-Cookie` has them.
    var cookies: [String] = []
    /// Nothing between the server and the client may keep it.
    var isSecret = false

    static let jsonType = "application/json;charset=UTF-8"
    static let geoJSONType = "application/geo+json;charset=UTF-8"
    static let pbfType = "application/x-protobuf"

    static func pbf(_ bytes: [UInt8]) -> Answer { Answer(contentType: pbfType, body: .bytes(bytes)) }

    /// For a client whose condition names what it would get; known before that is made.
    static func unchanged(_ tag: String) -> Answer {
        var answer = pbf([])
        answer.entityTag = tag
        answer.isUnchanged = true
        return answer
    }

    static func json(_ value: JSONValue, format: AnswerFormat = .json) -> Answer {
        var bytes: [UInt8] = []
        if format == .prettyJSON { value.writePretty(to: &bytes) } else { value.write(to: &bytes) }
        return Answer(contentType: jsonType, body: .bytes(bytes))
    }

    /// Errors travel with HTTP status 200: clients report another status as a bare network error and lose the message. When it is
    /// not known whether something was done, a network error is just what it must look like: every client takes 200 for an
    /// answer.
    static func error(_ error: ServiceError, format: AnswerFormat = .json) -> Answer {
        var answer = json(error.json, format: format)
        answer.errorCode = error.code
        if error.code == ServiceError.noAnswerCode { answer.status = .gatewayTimeout }
        return answer
    }

    static func text(_ text: String, type: String = "text/plain;charset=utf-8", status: HTTPResponse.Status = .ok)
        -> Answer
    {
        Answer(status: status, contentType: type, body: .bytes(Array(text.utf8)))
    }

    /// Takes the first pieces of a stream, so that what goes wrong before the first byte can still be told, and an answer
    /// that fits two pieces is sent with its length.
    func begun() async throws -> Answer {
        guard case .stream(let pieces) = body else { return self }
        var begun = self
        var iterator = pieces.makeAsyncIterator()
        if let first = try await iterator.next() {
            if let second = try await iterator.next() {
                begun.body = .begun(first, second, rest: pieces)
            } else {
                begun.body = .bytes(first)
            }
        } else {
            begun.body = .bytes([])
        }
        return begun
    }

    /// The answer with a tag, where its bytes are at hand: they name it.
    func tagged() -> Answer {
        guard case .bytes(let bytes) = body else { return self }
        var tagged = self
        tagged.entityTag = EntityTag.ofBytes(bytes)
        return tagged
    }

    /// The answer as the argument of a function call; `/**/` keeps a reader from taking the script for something else.
    func wrapped(in callback: JSONPCallback) -> Answer {
        guard case .bytes(let bytes) = body, contentType == Self.jsonType else { return self }
        var wrapped = self
        var script = Array("/**/\(callback.name)(".utf8)
        script.append(contentsOf: bytes)
        script.append(contentsOf: ");".utf8)
        wrapped.body = .bytes(script)
        wrapped.contentType = "application/javascript;charset=UTF-8"
        return wrapped
    }
}
