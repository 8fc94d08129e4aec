import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Sends answers. A streamed one is sent piece by piece as the client takes it; when it can't be finished after its
/// first byte has left, the connection is closed, so that no client takes half an answer for a whole one.
struct AnswerWriter: Sendable {
    let date = HTTPDate()
    let stalledWriteTime: Duration

    /// - Returns: the bytes of the body that were sent.
    /// - Throws: what keeps the answer from being sent whole; the caller lets the connection be closed.
    func send(
        _ answer: Answer, to request: HTTPRequest, _ visit: Visit?, by writer: consuming ResponseWriter,
        channel: any Channel, allowance: WorkAllowance = WorkAllowance(time: .seconds(Limits.requestSeconds))
    ) async throws -> Int {
        var headers = fields(of: answer, for: request, visit)
        let encoding = encoding(of: answer, for: request)
        if let tag = answer.entityTag.map({ EntityTag.encoded($0, encoding) }) {
            headers[.eTag] = tag
            let condition = request.field(.ifNoneMatch)
            if answer.isUnchanged || condition.map({ EntityTag.matches($0, tag) }) == true {
                try await writer.writeResponse(HTTPResponse(status: .notModified, headerFields: headers))
                return 0
            }
        }
        headers[.contentType] = answer.contentType
        if encoding == .gzip { headers[.contentEncoding] = "gzip" }
        let isHead = request.method == .head
        switch answer.body {
        case .bytes(let bytes):
            let body = try answer.isGzipped ? Self.ready(bytes, encoding) : Self.buffer(bytes, encoding)
            headers[.contentLength] = String(body.readableBytes)
            let head = HTTPResponse(status: answer.status, headerFields: headers)
            try await writer.write(response: head, body: isHead ? ResponseBody() : ResponseBody(byteBuffer: body))
            return isHead ? 0 : body.readableBytes
        case .begun, .file:
            if encoding == .identity, let length = answer.contentLength { headers[.contentLength] = String(length) }
            let head = HTTPResponse(status: answer.status, headerFields: headers)
            guard !isHead else {
                try await writer.writeResponse(head)
                return 0
            }
            // Without a length the library would put one before each piece.
            var sender: FileSender?
            if case .file = answer.body, headers[.contentLength] != nil {
                sender = try? await channel.pipeline.handler(type: FileSender.self).get()
            }
            var body = try await writer.writeHead(head)
            // A long answer, and its compression, leave the thread of the event loop to the other connections.
            let sent = try await withTaskExecutorPreference(globalConcurrentExecutor) {
                var sink = try PieceSink(
                    encoding: encoding, stalledWriteTime: stalledWriteTime, channel: channel, allowance: allowance)
                if case .file(let part) = answer.body { try await sink.write(part, by: sender, to: &body) }
                if case .begun(let first, let second, let rest) = answer.body {
                    try await sink.write(first, to: &body)
                    try await sink.write(second, to: &body)
                    var iterator = rest.makeAsyncIterator()
                    while let piece = try await WorkAllowance.$current.withValue(
                        allowance,
                        operation: {
                            try await iterator.next()
                        })
                    {
                        try await sink.write(piece, to: &body)
                    }
                }
                try await sink.end(&body)
                return sink.bytesSent
            }
            try await body.finish(nil)
            return sent
        case .stream:
            return try await send(
                answer.begun(), to: request, visit, by: writer, channel: channel, allowance: allowance)
        }
    }

    private func fields(of answer: Answer, for request: HTTPRequest, _ visit: Visit?) -> HTTPFields {
        var headers = HTTPFields()
        headers.reserveCapacity(10)
        headers[.date] = date.now
        headers[.cacheControl] = answer.isSecret ? "no-store" : Self.cacheControl(for: request)
        headers[.vary] = "Accept-Encoding, Origin"
        headers[.xContentTypeOptions] = "nosniff"
        if let id = visit?.requestID { headers[.xRequestID] = id }
        if answer.contentLength != nil { headers[.acceptRanges] = "bytes" }
        if let range = answer.contentRange { headers[.contentRange] = range }
        if answer.errorCode == ServiceError.busyCode { headers[.retryAfter] = String(Limits.retryAfterSeconds) }
        if answer.isPage {
            headers[.contentSecurityPolicy] = answer.contentPolicy ?? ServicesDirectory.contentPolicy
            // With no-referrer browsers would say of a form that it comes from nowhere, and be refused.
            headers[.referrerPolicy] = "same-origin"
        }
        if let location = answer.location { headers[.location] = location }
        for cookie in answer.cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        if let disposition = answer.disposition {
            headers[.contentDisposition] = disposition
            headers[.contentSecurityPolicy] = Self.foreignContentPolicy
        }
        if answer.status == .methodNotAllowed { headers[.allow] = CrossOrigin.allowed }
        CrossOrigin.allow(visit, in: &headers)
        return headers
    }

    /// What came from anybody is shown without script, without forms and as if it came from nowhere.
    private static let foreignContentPolicy =
        "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox"

    /// Caches may keep an answer but ask before they use it. QGIS 3.22 does not ask: it must not keep anything.
    private static func cacheControl(for request: HTTPRequest) -> String {
        request.field(.userAgent)?.contains("QGIS/") == true ? "no-store" : "private, no-cache"
    }

    private func encoding(of answer: Answer, for request: HTTPRequest) -> AnswerEncoding {
        guard answer.isCompressible else { return .identity }
        if answer.isGzipped || answer.status == .notFound && answer.entityTag != nil {
            return AnswerEncoding(accepted: request.field(.acceptEncoding))
        }
        if case .bytes(let bytes) = answer.body, bytes.count < Limits.compressionThreshold { return .identity }
        return AnswerEncoding(accepted: request.field(.acceptEncoding))
    }

    /// Bytes that are compressed already.
    private static func ready(_ bytes: [UInt8], _ encoding: AnswerEncoding) throws -> ByteBuffer {
        if encoding == .gzip { return ByteBuffer(bytes: bytes) }
        return ByteBuffer(bytes: try GzipReader.expanded(bytes, maximum: Limits.expandedAnswerBytes))
    }

    private static func buffer(_ bytes: [UInt8], _ encoding: AnswerEncoding) throws -> ByteBuffer {
        ByteBuffer(bytes: encoding == .gzip ? try GzipStream.compressed(bytes) : bytes)
    }
}

/// Passes the pieces of one answer to the connection, compressed if asked. Each write waits until the connection has
/// taken what came before; a client that takes nothing for too long loses the connection, since the store's cursor waits.
struct PieceSink: ~Copyable {
    private var gzip: GzipStream?
    private var buffer = ByteBuffer()
    private let stalledWriteTime: TimeAmount
    private let channel: any Channel
    private let allowance: WorkAllowance
    private(set) var bytesSent = 0

    init(
        encoding: AnswerEncoding, stalledWriteTime: Duration, channel: any Channel, allowance: WorkAllowance
    ) throws {
        gzip = encoding == .gzip ? try GzipStream() : nil
        self.stalledWriteTime = TimeAmount(stalledWriteTime)
        self.channel = channel
        self.allowance = allowance
    }

    mutating func write(_ piece: [UInt8], to body: inout some ResponseBodyWriter) async throws {
        buffer.clear()
        if gzip != nil {
            try gzip?.compress(piece, into: &buffer)
        } else {
            buffer.writeBytes(piece)
        }
        try await send(to: &body)
    }

    /// - Parameter sender: sends an answer that has its length and no encoding; nil where the connection has none.
    mutating func write(_ part: FilePart, by sender: FileSender?, to body: inout some ResponseBodyWriter) async throws {
        var offset = part.range.lowerBound
        while let sender, offset < part.range.upperBound {
            let stretch = try part.stretch(from: offset)
            let count = stretch.region.readableBytes
            offset += Int64(count)
            bytesSent += count
            sender.expect(stretch)
            try await send(sender.mark, to: &body)
        }
        while offset < part.range.upperBound {
            var read = ByteBuffer()
            if gzip == nil { swap(&read, &buffer) }
            read.clear()
            try part.read(from: offset, into: &read)
            offset += Int64(read.readableBytes)
            if gzip == nil {
                swap(&read, &buffer)
                try await send(to: &body)
            } else {
                try await write(Array(read.readableBytesView), to: &body)
            }
        }
    }

    mutating func end(_ body: inout some ResponseBodyWriter) async throws {
        guard gzip != nil else { return }
        buffer.clear()
        try gzip?.finish(into: &buffer)
        try await send(to: &body)
    }

    private mutating func send(to body: inout some ResponseBodyWriter) async throws {
        guard buffer.readableBytes > 0 else { return }
        bytesSent += buffer.readableBytes
        try await send(buffer, to: &body)
    }

    private func send(_ buffer: ByteBuffer, to body: inout some ResponseBodyWriter) async throws {
        let channel = channel
        let stall = channel.eventLoop.scheduleTask(in: stalledWriteTime) { channel.close(promise: nil) }
        defer { stall.cancel() }
        // A slow client uses up none of the time.
        try await allowance.waiting { try await body.write(buffer) }
    }
}
