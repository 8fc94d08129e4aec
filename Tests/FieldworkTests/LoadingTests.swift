import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Loading", .fewAtATime)
struct LoadingTests {
    private struct Failure: Error {}

    private final class Counter: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock { $0 } }
        func count() { number.withLock { $0 += 1 } }
    }

    private static func makeLoader() -> (LoadOnce, Streamed<LoadStatus>) {
        let status = Streamed(wrappedValue: LoadStatus.notLoaded)
        return (LoadOnce(status: status), status)
    }

    @Test("Many callers at once share one load, and later ones return at once")
    func singleFlight() async throws {
        let (loader, status) = Self.makeLoader()
        let runs = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await loader.load {
                        runs.count()
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        try await loader.load { runs.count() }
        #expect(runs.value == 1)
        #expect(status.wrappedValue == .loaded)
    }

    @Test("A failure is thrown again until a retry, which may succeed")
    func failure() async throws {
        let (loader, status) = Self.makeLoader()
        await #expect(throws: Failure.self) { try await loader.load { throw Failure() } }
        #expect(status.wrappedValue == .failed)
        #expect(loader.error is Failure)
        await #expect(throws: Failure.self) { try await loader.load {} }
        try await loader.load(retries: true) {}
        #expect(status.wrappedValue == .loaded)
        #expect(loader.error == nil)
    }

    @Test("A cancelled caller stops waiting and the load goes on for the others")
    func cancelledCaller() async throws {
        let (loader, status) = Self.makeLoader()
        let (release, released) = AsyncStream.makeStream(of: Void.self)
        let impatient = Task { try await loader.load { for await _ in release {} } }
        for await value in status.projectedValue where value == .loading { break }
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        #expect(status.wrappedValue == .loading)
        released.finish()
        try await loader.load {}
        #expect(status.wrappedValue == .loaded)
    }

    @Test("cancelLoad makes a load that is under way fail with a cancellation")
    func cancelledLoad() async throws {
        let (loader, status) = Self.makeLoader()
        let waiting = Task { try await loader.load { try await Task.sleep(for: .seconds(3_600)) } }
        for await value in status.projectedValue where value == .loading { break }
        loader.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(loader.error is CancellationError)
    }

    @Test("A watched property gives its present value first and then the later ones")
    func streamed() async throws {
        let property = Streamed(wrappedValue: 1)
        var values = property.projectedValue.makeAsyncIterator()
        property.wrappedValue = 2
        property.wrappedValue = 3
        #expect(await values.next() == 1)
        #expect(await values.next() == 2)
        #expect(await values.next() == 3)
    }

    @Test("A service's error, an answer that is none, and no answer are told apart")
    func errors() async throws {
        try await TestService.with { service in
            let unknown = service.url.deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "Nothing/FeatureServer")
            let missing = ServiceGeodatabase(url: unknown, environment: service.environment())
            do {
                try await missing.load()
                Issue.record("A service that does not exist was loaded.")
            } catch let error as Fieldwork.ServiceError {
                guard case .serverFailure(let details, let code) = error else {
                    Issue.record("Unexpected error \(error)")
                    return
                }
                #expect(details.contains("404") && code == 404)
                #expect(error.localizedDescription == details)
            }
            #expect(missing.loadStatus == .failed)
            service.interceptor.isOffline = true
            let unreachable = ServiceGeodatabase(url: service.url, environment: service.environment())
            await #expect(throws: Fieldwork.ServiceError.self) { try await unreachable.load() }
            service.interceptor.isOffline = false
            await #expect(throws: Fieldwork.ServiceError.self) { try await unreachable.load() }
            try await unreachable.retryLoad()
            #expect(unreachable.loadStatus == .loaded)
            let table = try #require(unreachable.table(withLayerID: 0))
            let parameters = QueryParameters()
            parameters.whereClause = "nothing = 1"
            await #expect(throws: Fieldwork.ServiceError.self) { try await table.queryFeatures(using: parameters) }
        }
    }

    @Test("A read is tried again when the connection breaks; a write is not")
    func retries() async throws {
        try await TestService.with(damages: 1) { service in
            let closed = try #require(URL(string: "http://127.0.0.1:1/none"))
            let pauses = Counter()
            let client = HTTPServiceClient(pause: { _ in pauses.count() })
            await #expect(throws: Fieldwork.ServiceError.self) {
                try await client.answer(to: ServiceRequest(closed, [("f", "json")]))
            }
            #expect(pauses.value == 2)
            await #expect(throws: Fieldwork.ServiceError.self) {
                try await client.answer(to: ServiceRequest(closed, [("f", "json")], isRead: false))
            }
            #expect(pauses.value == 2)
        }
    }

    @Test("A query whose task was cancelled throws a cancellation")
    func cancelledQuery() async throws {
        try await TestService.with(damages: 1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await table.queryFeatureCount(using: QueryParameters())
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}
