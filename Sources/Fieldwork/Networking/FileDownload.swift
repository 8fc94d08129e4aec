import AsyncHTTPClient
import FieldworkGeometry
import FieldworkREST
import Foundation
import NIOCore
import NIOHTTP1

/// Fetches a file in pieces to disk. What arrived stays when the connection breaks: the next attempt asks for the rest.
protocol FileDownloading: Sendable {
    /// How many files are fetched at the same time.
    var filesAtOnce: Int { get }
    /// - Parameter progress: called with the bytes that are there and, where the service says, those of the whole.
    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws
}

extension FileDownloading {
    var filesAtOnce: Int { Limits.parallelRequests }
}

extension HTTPServiceClient: FileDownloading {
    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        guard let authentication else {
            do {
                return try await attempts(url, to: file, [], progress: progress)
            } catch let refused as Refused {
                throw refused.error
            }
        }
        try await authentication.exchange(url) { authorization -> Reply<Void> in
            do {
                try await attempts(
                    url, to: file, authentication.headers(authorization, for: url), progress: progress)
                return Reply(result: .success(()))
            } catch let refused as Refused {
                let refusal = Reply<Void>.Refusal(
                    refused.bytes, status: refused.status, authenticate: refused.authenticate,
                    isAnonymous: authorization == nil)
                return Reply(result: .failure(refused.error), refusal: refusal)
            }
        }
    }

    /// An answer that is no file.
    private struct Refused: Error {
        var error: ServiceError
        var bytes: Data
        var status: Int
        var authenticate: String?
    }

    private func attempts(
        _ url: URL, to file: URL, _ secrets: [(name: String, value: String)],
        progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        let session = ownSession ?? ArcGISEnvironment.backgroundURLSession
        var attempt = 0
        while true {
            attempt += 1
            let failure: ServiceError
            var retryAfter: Duration?
            do {
                return try await downloadRest(
                    of: url, to: file, secrets, session, attempt: attempt, progress: progress)
            } catch let busy as Busy {
                failure = .connectionFailed(details: "The service is not available (status \(busy.status)).")
                retryAfter = busy.retryAfter
            } catch let error as ServiceError {
                guard case .connectionFailed = error else { throw error }
                failure = error
            }
            guard attempt <= Limits.downloadAttempts,
                let pause = RetryPolicy.pause(after: attempt, retryAfter: retryAfter)
            else { throw failure }
            try await self.pause(pause)
        }
    }

    /// The service does not want to be asked now.
    private struct Busy: Error {
        var status: UInt
        var retryAfter: Duration?
    }

    private func downloadRest(
        of url: URL, to file: URL, _ secrets: [(name: String, value: String)], _ session: ArcGISURLSession,
        attempt: Int,
        progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        let there = Int64(try handle.seekToEnd())
        let outgoing = try await session.prepared(ServiceRequest(url))
        let watch = RequestWatch(outgoing, attempt: attempt, session: session, logger: logger)
        do {
            let (status, bytes) = try await receive(
                outgoing, secrets, into: handle, from: there, session, progress)
            await watch.finish(status: Int(status.code), bytes: bytes)
        } catch let error as ServiceError {
            throw error
        } catch let error as CommonError {
            throw error
        } catch let error as Refused {
            await watch.finish(status: error.status)
            throw error
        } catch let error as Busy {
            await watch.finish(status: Int(error.status))
            throw error
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            let reason = Redaction.reason(error)
            await watch.finish(failure: reason)
            throw ServiceError.connectionFailed(details: "The download broke off: \(reason)")
        }
    }

    private func receive(
        _ outgoing: OutgoingRequest, _ secrets: [(name: String, value: String)], into handle: FileHandle,
        from start: Int64, _ session: ArcGISURLSession,
        _ progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws -> (status: HTTPResponseStatus, bytes: Int) {
        var position = start
        let form = ServiceRequest(outgoing.url, outgoing.parameters).form
        var request = HTTPClientRequest(url: outgoing.address(with: form))
        request.headers.add(name: "Accept-Encoding", value: "identity")
        request.add(outgoing.headers)
        request.addSecrets(secrets)
        if start > 0 { request.headers.replaceOrAdd(name: "Range", value: "bytes=\(start)-") }
        let response = try await Redirection.execute(request, session.settings)
        switch response.status {
        case .partialContent: break
        case .rangeNotSatisfiable where start > 0: return (response.status, 0)
        case .ok: position = 0
        case let status where RetryPolicy.busyStatuses.contains(status.code):
            let pause = RetryPolicy.retryAfter(response.headers.first(name: "Retry-After"), now: Date.now)
            throw Busy(status: status.code, retryAfter: pause)
        case let status:
            let bytes = (try? await response.body.collect(upTo: Int(Limits.errorAnswerBytes))) ?? ByteBuffer()
            throw Refused(
                error: .serverFailure(
                    details: "The download was refused with status \(status.code).", code: Int(status.code)),
                bytes: Data(bytes.readableBytesView), status: Int(status.code),
                authenticate: response.headers.first(name: "WWW-Authenticate"))
        }
        let rest = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
        let there = try await keep(response, in: handle, from: position, whole: rest.map { $0 + position }, progress)
        try handle.synchronize()
        if let rest, there < rest + position {
            throw ServiceError.connectionFailed(details: "The download ended early.")
        }
        return (response.status, Int(there - position))
    }

    /// Writes what comes behind what is there, or in its place. The protocol sends its errors with status 200: an answer
    /// that is one is not the file, and what is there stays for a later attempt. A file that has a name of its own is a file,
    /// whatever is in it.
    /// - Returns: how many bytes are there then.
    private func keep(
        _ response: HTTPClientResponse, in handle: FileHandle, from position: Int64, whole: Int64?,
        _ progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws -> Int64 {
        var there = position
        var mayBeError = response.status == .ok && response.headers.first(name: "Content-Disposition") == nil
        // The service may not know pieces: then it is the file from its start.
        var isBegun = response.status != .ok
        var held = Data()
        func write(_ data: Data) throws {
            if !isBegun { try handle.truncate(atOffset: 0) }
            isBegun = true
            try Self.keep(data, in: handle)
            there += Int64(data.count)
            progress(there, whole)
        }
        for try await piece in response.body {
            held += Data(piece.readableBytesView)
            mayBeError =
                mayBeError && held.first == UInt8(ascii: "{") && held.count <= Int(Limits.errorAnswerBytes)
            if mayBeError { continue }
            try write(held)
            held = Data()
        }
        if mayBeError, let error = Self.error(in: held) {
            throw Refused(error: error, bytes: held, status: Int(response.status.code))
        }
        if !held.isEmpty || !isBegun { try write(held) }
        return there
    }

    private static func error(in data: Data) -> ServiceError? {
        guard let json = try? JSONParser.parse(Array(data)), json.objectValue?["error"]?.objectValue != nil else {
            return nil
        }
        return FieldworkREST.ServiceError(answer: json).map { ServiceError($0) }
    }

    /// A device without room is no broken connection: trying again would not help.
    private static func keep(_ piece: Data, in handle: FileHandle) throws {
        do {
            try handle.write(contentsOf: piece)
        } catch {
            throw CommonError.io(
                details: "The download could not be kept on this device: \(error.localizedDescription)")
        }
    }
}
