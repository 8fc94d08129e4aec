import Foundation
import Synchronization

@testable import Fieldwork

/// The network between device and server, with the faults that a test asks for.
final class Interceptor: ServiceClient {
    enum Fault: Sendable {
        /// The request does not arrive.
        case unreachable
        /// The service answers with an error.
        case refused
        /// The request is done, and its answer is lost on the way back.
        case losesAnswer
        /// The request is done, and the service answers that it does not know.
        case unconfirmed
        /// Nobody waits for the request any more when it arrives, which is when the test delivers it.
        case delayed
        /// The request is done, and once more when the test delivers it.
        case echoed
        /// The request is done, and something happens before its answer is read.
        case answersAfter(@Sendable () async throws -> Void)
    }

    private struct State {
        var faults: [(matches: String, skips: Int, fault: Fault)] = []
        var isOffline = false
        var sent: [String] = []
        var requests: [ServiceRequest] = []
        var held: [ServiceRequest] = []
        var downloads: [URL] = []
    }

    private let state = Mutex(State())
    private let client = HTTPServiceClient(pause: { _ in })

    /// The next request whose address holds a text meets a fault, or a later one.
    func fail(_ text: String, _ fault: Fault, after skips: Int = 0) {
        state.withLock { $0.faults.append((text, skips, fault)) }
    }

    /// Nothing is to fail any more.
    func mend() { state.withLock { $0.faults = [] } }

    var isOffline: Bool {
        get { state.withLock { $0.isOffline } }
        set { state.withLock { $0.isOffline = newValue } }
    }

    /// The last parts of the addresses that were asked.
    var sent: [String] { state.withLock { $0.sent } }

    /// The addresses whose contents were asked for as files.
    var downloads: [URL] { state.withLock { $0.downloads } }

    /// The parameters of the requests whose addresses end with a word.
    func parameters(of word: String) -> [[String: String]] {
        state.withLock { $0.requests }.filter { $0.url.lastPathComponent == word }.map { request in
            Dictionary(request.parameters.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        }
    }

    private func fault(at url: URL) -> Fault? {
        state.withLock { state -> Fault? in
            state.sent.append(url.lastPathComponent)
            if state.isOffline { return .unreachable }
            guard let index = state.faults.firstIndex(where: { url.absoluteString.contains($0.matches) }) else {
                return nil
            }
            if state.faults[index].skips > 0 {
                state.faults[index].skips -= 1
                return nil
            }
            return state.faults.remove(at: index).fault
        }
    }

    /// Lets arrive what was delayed, in its order, and gives the answers that nobody waited for.
    func deliver() async throws -> [String] {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        var answers: [String] = []
        for request in held {
            answers.append(String(decoding: try await client.answer(to: request).bytes, as: UTF8.self))
        }
        return answers
    }

    /// Nobody else needs the line meanwhile.
    func wait(beforeAttempt attempt: Int) async throws { await Task.yield() }

    func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
        state.withLock { $0.requests.append(request) }
        switch fault(at: request.url) {
        case .unreachable: throw ServiceError.connectionFailed(details: "unreachable in this test")
        case .refused: throw ServiceError.serverFailure(details: "refused in this test")
        case .losesAnswer:
            _ = try await client.answer(to: request)
            throw ServiceError.connectionFailed(details: "answer lost in this test")
        case .unconfirmed:
            _ = try await client.answer(to: request)
            let error = #"{"error":{"code":504,"message":"not known in this test","details":[]}}"#
            return ServiceAnswer(bytes: Array(error.utf8), contentType: "application/json", status: 504)
        case .delayed:
            state.withLock { $0.held.append(request) }
            throw ServiceError.connectionFailed(details: "delayed in this test")
        case .echoed:
            state.withLock { $0.held.append(request) }
            return try await client.answer(to: request)
        case .answersAfter(let event):
            let answer = try await client.answer(to: request)
            try await event()
            return answer
        case nil: return try await client.answer(to: request)
        }
    }
}

extension Interceptor: FileDownloading {
    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        state.withLock { $0.downloads.append(url) }
        switch fault(at: url) {
        case .unreachable, .delayed: throw ServiceError.connectionFailed(details: "unreachable in this test")
        case .refused: throw ServiceError.serverFailure(details: "refused in this test")
        case .losesAnswer, .unconfirmed:
            try await client.download(url, to: file, progress: progress)
            try FileManager.default.removeItem(at: file)
            throw ServiceError.connectionFailed(details: "answer lost in this test")
        case .answersAfter(let event):
            try await client.download(url, to: file, progress: progress)
            try await event()
        case .echoed, nil: try await client.download(url, to: file, progress: progress)
        }
    }
}
