import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Reads requests within their limits: the address, and for POST the body in any of the forms that clients use. Parameters
/// of both are merged; the body wins.
struct RequestReader: Sendable {
    let routes: RouteTable
    let maximumBodyBytes: Int
    let budget: BodyBudget
    /// Where files are received; nil: no operation takes files.
    var uploads: (any UploadKeeper)?
    /// Tells from a request who asks.
    var identify: @Sendable (HTTPRequest) -> String? = { _ in nil }
    var authenticator = Authenticator()

    /// - Throws: `ServiceError` for what the client is told; anything else means that the connection is broken.
    func read(_ request: Request, _ visit: Visit, lease: inout BodyLease) async throws -> ServiceRequest {
        let address = request.head.path ?? "/"
        let target = try RequestTarget(address)
        let match = routes.match(target)
        var parameters = RequestParameters(try FormURLEncoded.fields(target.query.utf8))
        var files: [String: ReceivedFile] = [:]
        var hasStretch = false
        if request.method == .post {
            let contentType = request.head.field(.contentType) ?? ""
            let mediaType = Self.mediaType(contentType)
            if let match, match.route.body == .uploadBytes, let id = match.values.text,
                mediaType == "application/octet-stream"
            {
                let token = parameters["token"] ?? Authenticator.bearer(request.head)
                let principal = try await authenticator.principal(token: token, request.head, visit).get()
                try await receive(
                    request, of: id, at: try parameters.integer("offset"),
                    from: principal.name ?? identify(request.head))
                hasStretch = true
            } else if mediaType == "multipart/form-data" {
                if let encoding = request.head.field(.contentEncoding), encoding.lowercased() != "identity" {
                    throw ServiceError(code: 415, message: "A form with files can't be encoded.")
                }
                let form = try await form(
                    of: request, contentType, takesFiles: match?.route.body == .files, lease: &lease)
                parameters.merge(form.fields)
                files = form.files
            } else {
                let bytes = try await body(of: request, lease: &lease)
                if !bytes.isEmpty { parameters.merge(try Self.fields(of: bytes, mediaType)) }
            }
        }
        let token = parameters["token"] ?? Authenticator.bearer(request.head)
        let kept = parameters.names("token") ? Authenticator.withoutToken(address) : address
        parameters.remove("token")
        let known = try await authenticator.principal(token: token, request.head, visit)
        var read = ServiceRequest(
            method: request.method, address: kept, match: match, parameters: parameters, files: files,
            hasStretch: hasStretch,
            accept: request.head.field(.accept), origin: visit.address, range: request.head.field(.range),
            editor: identify(request.head), keepsAnswers: Self.keepsAnswers(request.head),
            ifNoneMatch: request.head.field(.ifNoneMatch),
            isFromOtherSite: visit.isFromOtherSite, isFromThisMachine: visit.isOfThisMachine,
            token: token, embedsSilently: Self.embedsSilently(request.head))
        read.peer = visit.peer
        read.session = Authenticator.session(request.head)
        read.providerTicket = Authenticator.cookie(ProviderEndpoints.cookie, request.head)
        switch known {
        case .success(let principal):
            read.principal = principal
            read.editor = principal.name ?? read.editor
        case .failure(let error):
            read.principal = .nobody
            read.tokenError = error
        }
        return read
    }

    /// Receives more of an upload. What has arrived counts, also when the connection breaks.
    private func receive(_ request: Request, of id: String, at offset: Int?, from editor: String?) async throws {
        guard let uploads, let item = try await uploads.item(id, now: Date()), item.editor == editor
        else {
            throw ServiceError.notFound("There is no upload '\(id.prefix(64))' (any more).")
        }
        guard let offset, offset >= 0, item.content == nil else {
            throw ServiceError.invalidParameter("'offset' must say where an incomplete upload goes on.")
        }
        let stretch = try await uploads.beginStretch(of: item, at: offset)
        do {
            for try await piece in request.body { try await stretch.write(Array(piece.readableBytesView)) }
        } catch {
            try? await stretch.finish()
            throw error
        }
        try await stretch.finish()
    }

    /// The type without its parameters, in lowercase.
    private static func mediaType(_ contentType: String) -> String {
        let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        return Substring(type).lowercased()
    }

    /// The fields of a form: texts, and files on the disk for the operations that take them.
    private func form(
        of request: Request, _ contentType: String, takesFiles: Bool, lease: inout BodyLease
    ) async throws -> (fields: [(name: String, value: String)], files: [String: ReceivedFile]) {
        let takesFile = takesFiles && uploads != nil
        let announced = request.head.field(.contentLength).flatMap { Int($0) }
        if let announced, !takesFile, announced > maximumBodyBytes { throw ServiceError.tooLarge(maximumBodyBytes) }
        var form = try FormReception(
            contentType: contentType, folder: takesFile ? uploads?.incoming : nil, maximumTextBytes: maximumBodyBytes)
        for try await piece in request.body {
            try lease.extend(by: try form.read(piece.readableBytesView))
        }
        return try form.finish()
    }

    /// Whether a browser sent it that does not say which site's page made it: an old one, or one that reached the server
    /// without TLS under another name than this machine's. Scripts come so from everywhere.
    private static func embedsSilently(_ request: HTTPRequest) -> Bool {
        guard request.field(.secFetchSite) == nil, request.field(.origin) == nil else { return false }
        return request.field(.userAgent)?.hasPrefix("Mozilla/") == true
    }

    private static func keepsAnswers(_ request: HTTPRequest) -> Bool {
        if request.field(.ifNoneMatch) != nil { return true }
        guard let agent = request.field(.userAgent) else { return false }
        return agent.hasPrefix("Mozilla/") && !agent.contains("QGIS/")
    }

    /// The whole body. A longer one than allowed is refused as soon as that is known, and never kept.
    private func body(of request: Request, lease: inout BodyLease) async throws -> [UInt8] {
        let announced = request.head.field(.contentLength).flatMap { Int($0) }
        if let announced, announced > maximumBodyBytes { throw ServiceError.tooLarge(maximumBodyBytes) }
        switch request.head.field(.contentEncoding)?.lowercased() {
        case "gzip", "x-gzip": return try await expandedBody(of: request, lease: &lease)
        case "", "identity", nil: break
        case .some(let encoding):
            throw ServiceError(code: 415, message: "A body encoded as '\(encoding.prefix(64))' is not understood.")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(announced ?? 0, Self.reservedBytesMax))
        for try await piece in request.body {
            guard bytes.count + piece.readableBytes <= maximumBodyBytes else {
                throw ServiceError.tooLarge(maximumBodyBytes)
            }
            try lease.extend(by: piece.readableBytes)
            bytes.append(contentsOf: piece.readableBytesView)
        }
        return bytes
    }

    /// A compressed body; what it stands for is held to the same limit as one that is not.
    private func expandedBody(of request: Request, lease: inout BodyLease) async throws -> [UInt8] {
        do {
            var reader = try GzipReader(maximum: maximumBodyBytes)
            var bytes: [UInt8] = []
            for try await piece in request.body {
                let before = bytes.count
                try reader.read(Array(piece.readableBytesView), into: &bytes)
                try lease.extend(by: bytes.count - before)
            }
            try reader.finish()
            return bytes
        } catch let failure as GzipReader.Failure {
            switch failure {
            case .tooLarge: throw ServiceError.tooLarge(maximumBodyBytes)
            case .malformed: throw ServiceError.invalidParameter("The body is not valid gzip.")
            }
        }
    }

    /// What is reserved because a client announces it: a lie costs no more than this.
    private static let reservedBytesMax = 1_024 * 1_024

    private static func fields(
        of body: [UInt8], _ mediaType: String
    ) throws(ServiceError) -> [(name: String, value: String)] {
        switch mediaType {
        case "application/x-www-form-urlencoded", "text/plain", "": return try FormURLEncoded.fields(body)
        case "application/json": return try members(of: body)
        default:
            throw .invalidParameter("A body of the type '\(mediaType.prefix(64))' is not understood.")
        }
    }

    /// A JSON object whose members are parameters: not part of the protocol, but what a program sends that has not read it.
    private static func members(of body: [UInt8]) throws(ServiceError) -> [(name: String, value: String)] {
        guard let text = String(validating: body, as: UTF8.self) else {
            throw .invalidParameter("The body is not UTF-8 text.")
        }
        let members: [(String, JSONText)]?
        do {
            members = try JSONText(text).memberList()
        } catch {
            throw ServiceError(error, in: "The body")
        }
        guard let members else {
            throw .invalidParameter("The body must be a JSON object whose members are parameters.")
        }
        return members.map { ($0.0, $0.1.isNull ? "" : $0.1.parameter) }
    }
}
