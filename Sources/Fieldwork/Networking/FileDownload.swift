import AsyncHTTPClient
import FieldworkGeometry
import FieldworkREST
import Foundation
import NIOCore
import NIOHTTP1

/// Fetches a file in pieces to disk. What arrived stays when the connection breaks: the next attempt asks for the rest.
protocol FileDownloading: Sendable {
    /// - Parameter progress: called with the bytes that are there and, where the service says, those of the whole.
    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws
}

extension HTTPServiceClient: FileDownloading {
    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        let session = ownSession ?? ArcGISEnvironment.backgroundURLSession
        var attempt = 0
        while true {
            attempt += 1
            let failure: ServiceError
            var retryAfter: Duration?
            do {
                return try await downloadRest(of: url, to: file, session, attempt: attempt, progress: progress)
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
        of url: URL, to file: URL, _ session: ArcGISURLSession, attempt: Int,
        progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        let there = Int64(try handle.seekToEnd())
        let outgoing = try await session.prepared(ServiceRequest(url))
        let watch = RequestWatch(outgoing, attempt: attempt, session: session, logger: logger)
        do {
            let (status, bytes) = try await receive(outgoing, into: handle, from: there, session, progress)
            await watch.finish(status: Int(status.code), bytes: bytes)
        } catch let error as ServiceError {
            throw error
        } catch let error as CommonError {
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
        _ outgoing: OutgoingRequest, into handle: FileHandle, from position: Int64, _ session: ArcGISURLSession,
        _ progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws -> (status: HTTPResponseStatus, bytes: Int) {
        var there = position
        let form = ServiceRequest(outgoing.url, outgoing.parameters).form
        var request = HTTPClientRequest(url: outgoing.address(with: form))
        request.headers.add(name: "Accept-Encoding", value: "identity")
        request.add(outgoing.headers)
        if there > 0 { request.headers.replaceOrAdd(name: "Range", value: "bytes=\(there)-") }
        let http = ConnectionPools.shared.http(session.settings.way(to: outgoing.url.host() ?? ""))
        let response = try await http.execute(request, timeout: .seconds(Limits.transferSeconds))
        switch response.status {
        case .partialContent: break
        case .rangeNotSatisfiable where there > 0: return (response.status, 0)
        case .ok:
            // The service does not know pieces: from the start.
            try handle.truncate(atOffset: 0)
            there = 0
        case let status where RetryPolicy.busyStatuses.contains(status.code):
            let pause = RetryPolicy.retryAfter(response.headers.first(name: "Retry-After"), now: Date.now)
            throw Busy(status: status.code, retryAfter: pause)
        case let status:
            throw ServiceError.serverFailure(
                details: "The download was refused with status \(status.code).", code: Int(status.code))
        }
        let rest = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
        let whole = rest.map { $0 + there }
        let begin = there
        for try await piece in response.body {
            try Self.keep(Data(piece.readableBytesView), in: handle)
            there += Int64(piece.readableBytes)
            progress(there, whole)
        }
        try handle.synchronize()
        if let whole, there < whole {
            throw ServiceError.connectionFailed(details: "The download ended early.")
        }
        // A file that has a name of its own is a file, whatever is in it.
        if response.status == .ok, response.headers.first(name: "Content-Disposition") == nil {
            try Self.refuseError(in: handle, size: there)
        }
        return (response.status, Int(there - begin))
    }

    /// The protocol sends its errors with status 200: an answer that is one is not the file. What was written of it is
    /// removed, so that a later attempt doesn't go on behind it.
    private static func refuseError(in handle: FileHandle, size: Int64) throws {
        guard size > 1, size <= Limits.errorAnswerBytes else { return }
        try handle.seek(toOffset: 0)
        guard let data = try handle.readToEnd(), data.first == UInt8(ascii: "{"),
            let json = try? JSONParser.parse(Array(data)), json.objectValue?["error"]?.objectValue != nil,
            let error = FieldworkREST.ServiceError(answer: json)
        else { return }
        try handle.truncate(atOffset: 0)
        throw ServiceError(error)
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
