import AsyncHTTPClient
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
        var attempt = 0
        while true {
            do {
                return try await downloadRest(of: url, to: file, progress: progress)
            } catch let error as ServiceError {
                guard case .connectionFailed = error, attempt < Limits.downloadAttempts else { throw error }
                attempt += 1
                try await pause(min(attempt, 6))
            }
        }
    }

    private func downloadRest(
        of url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        var there = Int64(try handle.seekToEnd())
        var request = HTTPClientRequest(url: url.absoluteString)
        request.headers.add(name: "User-Agent", value: "Fieldwork")
        request.headers.add(name: "Accept-Encoding", value: "identity")
        if there > 0 { request.headers.add(name: "Range", value: "bytes=\(there)-") }
        do {
            let response = try await Self.http.execute(request, timeout: .hours(24))
            switch response.status {
            case .partialContent: break
            case .rangeNotSatisfiable where there > 0: return
            case .ok:
                // The service does not know pieces: from the start.
                try handle.truncate(atOffset: 0)
                there = 0
            case let status:
                throw ServiceError.serverFailure(details: "The download was refused with status \(status.code).")
            }
            let rest = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
            let whole = rest.map { $0 + there }
            for try await piece in response.body {
                try Self.keep(Data(piece.readableBytesView), in: handle)
                there += Int64(piece.readableBytes)
                progress(there, whole)
            }
            try handle.synchronize()
            if let whole, there < whole {
                throw ServiceError.connectionFailed(details: "The download ended early.")
            }
        } catch let error as ServiceError {
            throw error
        } catch let error as CommonError {
            throw error
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            throw ServiceError.connectionFailed(details: "The download broke off: \(error)")
        }
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
