import Fieldwork
import Foundation

/// Sends the edits of one map: at once after each edit, then again and again with growing waits until the server has
/// answered. One sending at a time; edits made meanwhile go with the next.
actor Outbox {
    enum Phase: Sendable, Equatable {
        case idle
        case sending
        /// The last try failed; the next one comes at this time.
        case waiting(until: Date, reason: String)
        /// The last try failed; the next one comes when the user asks for it.
        case failed(reason: String)
        /// The server does not let whoever is signed in send them; trying again changes nothing until that changes.
        case refused(reason: String)
    }

    struct Report: Sendable, Equatable {
        var phase: Phase
        var unsent: Int
        var lastSent: Date?
        /// How far the sending has come that is under way.
        var sending: SendingProgress?
        /// Whether it can be stopped.
        var canStop = false
    }

    nonisolated let geodatabases: [ServiceGeodatabase]
    /// The map's own numbers of the layers of a service or of an area's file: a layer may be in a map more than once.
    private let numbers: [TableKey: [Int]]
    private let journal: EditJournal
    /// The files of an offline area, which are synced when the user asks for it, or by itself where that is switched on; nil for a map of
    /// a server, whose edits are sent at once.
    private let offline: OfflineWork?
    private var phase = Phase.idle
    private var lastSent: Date?
    private var unsentCount = 0
    private var isWanted = false
    private var watch: SendingWatch?
    private var syncJob: SyncGeodatabaseJob?
    private var sleeper: CheckedContinuation<Void, Never>?
    private var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]
    private var listener: (@Sendable (Change) async -> Void)?
    private var syncsByItself: @Sendable () -> Bool = { false }
    private var companion: (@Sendable () async -> Void)?

    /// What listeners are told.
    enum Change: Sendable {
        /// The phase or the count.
        case report
        /// How far the sending has come.
        case progress
        /// Features of these layers changed on the server.
        case sent(Set<Int>)
    }

    private struct TableKey: Hashable {
        let geodatabase: ObjectIdentifier
        let layerID: Int

        init(_ geodatabase: AnyObject, _ layerID: Int) {
            self.geodatabase = ObjectIdentifier(geodatabase)
            self.layerID = layerID
        }

        /// nil for a table that sends nothing.
        init?(_ table: ArcGISFeatureTable) {
            switch table {
            case let table as ServiceFeatureTable:
                guard let geodatabase = table.serviceGeodatabase else { return nil }
                self.init(geodatabase, table.layerID)
            case let table as GeodatabaseFeatureTable:
                guard let geodatabase = table.geodatabase else { return nil }
                self.init(geodatabase, Int(table.serviceLayerID))
            default: return nil
            }
        }
    }

    init(geodatabases: [ServiceGeodatabase], layers: [MapLayer], journal: EditJournal, offline: OfflineWork? = nil) {
        self.geodatabases = geodatabases
        self.offline = offline
        numbers = Dictionary(
            layers.compactMap { layer in TableKey(layer.table).map { ($0, [layer.id]) } }, uniquingKeysWith: +)
        self.journal = journal
    }

    private var hasLocalEdits: Bool { geodatabases.contains(where: \.hasLocalEdits) }

    var report: Report {
        Report(
            phase: phase, unsent: unsentCount, lastSent: lastSent ?? offline?.lastSync,
            sending: phase == .sending ? watch?.progress : nil, canStop: syncJob != nil)
    }

    func listen(_ listener: @escaping @Sendable (Change) async -> Void) { self.listener = listener }

    /// - Parameter body: runs beside each sync of an offline area: it looks for conflicts, and fetches again what is out of date.
    func accompanySync(_ body: @escaping @Sendable () async -> Void) { companion = body }

    /// - Parameter isOn: whether an area's edits are sent, and those of others fetched, as soon as its service answers.
    func syncByItself(_ isOn: @escaping @Sendable () -> Bool) { syncsByItself = isOn }

    /// Looks again whether there is something to do.
    func look() { wake() }

    /// Runs until the task is cancelled.
    func run() async {
        await count()
        if offline == nil {
            if hasLocalEdits { isWanted = true } else { settleJournal() }
        } else if offline?.area.isSynced == false, journal.openTransaction == nil {
            settleJournal()
        }
        var wait = Limits.retryFirstMilliseconds
        while !Task.isCancelled {
            await sleep(milliseconds: waitsForService ? wait : nil)
            let isAsked = isWanted
            isWanted = false
            if Task.isCancelled { break }
            guard let offline else {
                await sendUntilDone()
                continue
            }
            if isAsked {
                await sync(offline)
            } else if waitsForService, !(await syncQuietly(offline)) {
                wait = min(wait * 2, Limits.retryMostMilliseconds)
                continue
            }
            wait = Limits.retryFirstMilliseconds
        }
        releaseAll()
    }

    /// Whether edits of an area are to be sent as soon as that can be. Those that were refused wait for the user.
    private var waitsForService: Bool {
        guard let offline, offline.area.isSynced, syncsByItself(), journal.openTransaction == nil else { return false }
        return journal.entries.contains { $0.progress == .onDevice }
    }

    /// Syncs an area if a service answers that is to get edits of it. A service that does not answer is no error here, since the user has not asked for a sync.
    /// - Returns: whether it was synced.
    private func syncQuietly(_ work: OfflineWork) async -> Bool {
        do {
            // Of several services one that is to get something.
            let waiting = work.parts.first { $0.geodatabase.hasLocalEdits }?.file.service ?? work.area.service
            let address = waiting.appending(queryItems: [URLQueryItem(name: "f", value: "json")])
            _ = try await ArcGISEnvironment.urlSession.data(from: address)
        } catch let error where Self.isRefusal(error) {
            await setPhase(.refused(reason: Self.reason(error)))
            return false
        } catch {
            return false
        }
        await sync(work)
        return phase == .idle
    }

    /// Something is to be sent, or the user wants to try now.
    func nudge() {
        isWanted = true
        sleeper?.resume()
        sleeper = nil
    }

    /// Sends, and returns when there is an answer or the patience is over, whichever comes first.
    /// - Parameter isAsked: whether the user wants it; the edits of an offline area wait for that.
    func send(patience: Duration, isAsked: Bool = false) async {
        await count()
        // What is saved in a file that is no service's has arrived.
        guard offline?.area.isSynced ?? true else { return await settleFile() }
        guard offline == nil || isAsked else { return wake() }
        let id = UUID()
        let timer = Task { [weak self] in
            try? await Task.sleep(for: patience)
            await self?.release(id)
        }
        await withCheckedContinuation { continuation in
            waiters[id] = continuation
            nudge()
        }
        timer.cancel()
    }

    private func began(_ job: SyncGeodatabaseJob) async {
        syncJob = job
        await listener?(.progress)
    }

    /// Stops the sync of an area that is under way. What the service has of it already isn't sent a second time.
    func stop() async {
        await syncJob?.cancel()
    }

    /// Runs a sending, and tells listeners now and then how far it has come: one that is soon done needs no word.
    private func watched<Result>(_ body: (SendingWatch) async throws -> Result) async throws -> Result {
        let (steps, step) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = SendingWatch { step.yield() }
        self.watch = watch
        let telling = Task { [weak self] in
            for await _ in steps {
                try? await Task.sleep(for: .milliseconds(Limits.sendingLookMilliseconds))
                if Task.isCancelled { return }
                await self?.listener?(.progress)
            }
        }
        defer {
            telling.cancel()
            self.watch = nil
        }
        return try await body(watch)
    }

    private func release(_ id: UUID) {
        waiters.removeValue(forKey: id)?.resume()
    }

    private func releaseAll() {
        let all = waiters.values
        waiters = [:]
        for waiter in all { waiter.resume() }
    }

    private func sendUntilDone() async {
        var wait = Limits.retryFirstMilliseconds
        var end = Phase.idle
        while hasLocalEdits, !Task.isCancelled {
            // Those that are on the device now; what is added while the request is under way goes with the next.
            let ids = Set(journal.entries.filter { $0.progress == .onDevice }.map(\.id))
            await setPhase(.sending)
            do {
                let refused = try await watched { try await sendAll(ids, $0) }
                // Refused rows stay local; sending them again unchanged would be refused again.
                if refused { break }
                wait = Limits.retryFirstMilliseconds
            } catch is CancellationError {
                break
            } catch let error where Self.isRefusal(error) {
                end = .refused(reason: Self.reason(error))
                break
            } catch {
                let until = Date().addingTimeInterval(Double(wait) / 1_000)
                await setPhase(.waiting(until: until, reason: Self.reason(error)))
                await count()
                releaseAll()
                await sleep(milliseconds: wait)
                isWanted = false
                wait = min(wait * 2, Limits.retryMostMilliseconds)
            }
        }
        await count()
        await setPhase(end)
        releaseAll()
    }

    /// Waits until someone nudges, the time is over or the task is cancelled.
    private func sleep(milliseconds: Int?) async {
        guard !isWanted, !Task.isCancelled else { return }
        let timer = milliseconds.map { milliseconds in
            Task { [weak self] in
                try? await Task.sleep(for: .milliseconds(milliseconds))
                if !Task.isCancelled { await self?.wake() }
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if isWanted || Task.isCancelled { continuation.resume() } else { sleeper = continuation }
            }
        } onCancel: {
            Task { await self.wake() }
        }
        timer?.cancel()
    }

    private func wake() {
        sleeper?.resume()
        sleeper = nil
    }

    /// Sends to one service after the other: one that doesn't answer keeps the others from nothing.
    /// - Returns: whether a server refused something.
    private func sendAll(_ ids: Set<UUID>, _ watch: SendingWatch) async throws -> Bool {
        var refused = false
        var failure: (any Error)?
        for geodatabase in geodatabases where geodatabase.hasLocalEdits {
            do {
                let results = try await geodatabase.applyEdits(watch: watch)
                await settle(results, of: geodatabase, sent: ids)
                refused = refused || results.contains { $0.editResults.contains { Self.error($0) != nil } }
            } catch let error as CancellationError {
                throw error
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return refused
    }

    /// Brings an offline area and its services together, once: without a network it is of no use to try again and again. A service
    /// that doesn't answer keeps the others from nothing.
    private func sync(_ work: OfflineWork) async {
        let ids = Set(
            journal.entries.filter { entry in
                if case .onServer = entry.progress { false } else { true }
            }.map(\.id))
        await setPhase(.sending)
        // What was decided goes first, so that what it brings back comes with the sync.
        await companion?()
        var failure: Phase?
        var isStopped = false
        var synced: Set<Int> = []
        for part in work.parts where !isStopped {
            do {
                synced.formUnion(try await sync(part, of: work, sent: ids))
            } catch is CancellationError {
                isStopped = true
            } catch {
                var reason = Self.reason(error)
                if work.parts.count > 1 { reason = "\(part.file.title): \(reason)" }
                failure = failure ?? (Self.isRefusal(error) ? .refused(reason: reason) : .failed(reason: reason))
            }
            syncJob = nil
        }
        await count()
        // What is said of the edits is true before conflicts are asked for, which on a bad line takes its time.
        if !synced.isEmpty { await listener?(.sent(synced)) }
        if !synced.isEmpty, !isStopped { await companion?() }
        await setPhase(isStopped ? .idle : failure ?? .idle)
        if !synced.isEmpty { await listener?(.sent(synced)) }
        releaseAll()
    }

    /// Brings a file of an area and its service together, and writes down what became of the edits in it.
    /// - Returns: the map's numbers of its layers.
    private func sync(_ part: OfflineWork.Part, of work: OfflineWork, sent ids: Set<UUID>) async throws -> Set<Int> {
        let results = try await watched { watch in
            try await OfflineWork.sync(part.geodatabase, watch: watch) { await self.began($0) }
        }
        var refusals: [FeatureReference: String] = [:]
        for result in results {
            for layer in numbers[TableKey(part.geodatabase, result.layerID)] ?? [] {
                for edit in result.editResults { note(edit, Self.reason(edit.error), layer, in: &refusals) }
            }
        }
        let isOwn = { (key: TableKey) in key.geodatabase == ObjectIdentifier(part.geodatabase) }
        // What was edited in a layer that the map has no more goes with what it was edited beside.
        let others = Set(numbers.filter { !isOwn($0.key) }.values.joined())
        settle(journal.entries.filter { ids.contains($0.id) && !others.contains($0.feature.layer) }, refusals)
        return Set(numbers.filter { isOwn($0.key) }.values.joined())
    }

    private func settle(
        _ results: [FeatureTableEditResult], of geodatabase: ServiceGeodatabase, sent ids: Set<UUID>
    ) async {
        var refusals: [FeatureReference: String] = [:]
        var layers: Set<Int> = []
        for result in results {
            guard let table = result.featureTable else { continue }
            for layer in numbers[TableKey(geodatabase, table.layerID)] ?? [] {
                for edit in result.editResults {
                    if let error = Self.error(edit) {
                        note(edit, Self.reason(error), layer, in: &refusals)
                    } else {
                        layers.insert(layer)
                    }
                }
            }
        }
        let own = Set(numbers.filter { $0.key.geodatabase == ObjectIdentifier(geodatabase) }.flatMap(\.value))
        let entries = journal.entries.filter { ids.contains($0.id) && own.contains($0.feature.layer) }
        settle(entries, refusals)
        await count()
        await listener?(.sent(layers))
    }

    /// Notes a refused edit of a layer of the map under each name that the journal may have for its feature.
    private func note(
        _ edit: FeatureEditResult, _ reason: String, _ layer: Int, in refusals: inout [FeatureReference: String]
    ) {
        if let id = edit.globalID { refusals[FeatureReference(layer: layer, key: .global(id))] = reason }
        refusals[FeatureReference(layer: layer, key: .object(edit.objectID))] = reason
    }

    /// Writes down what became of edits that were sent.
    private func settle(_ entries: [EditEntry], _ refusals: [FeatureReference: String]) {
        try? journal.settle(entries, refusals: refusals)
        lastSent = Date()
    }

    /// Nothing is local: what the journal still calls unsent was sent just before the process ended.
    private func settleJournal() {
        try? journal.settle(journal.entries.filter { $0.progress == .onDevice })
    }

    /// An edit of a file that is no service's is where it belongs as soon as it is in it, and out of a transaction.
    private func settleFile() async {
        if journal.openTransaction == nil { settleJournal() }
        await listener?(.sent(Set(journal.entries.suffix(Limits.listedChanges).map(\.feature.layer))))
    }

    /// Counts anew what isn't sent, and tells the windows.
    func count() async {
        var count = 0
        count += await offline?.unsentCount() ?? 0
        for table in geodatabases.flatMap(\.connectedTables) {
            count += (try? await table.addedFeaturesCount()) ?? 0
            count += (try? await table.updatedFeaturesCount()) ?? 0
            count += (try? await table.deletedFeaturesCount()) ?? 0
        }
        guard count != unsentCount else { return }
        unsentCount = count
        await listener?(.report)
    }

    private func setPhase(_ new: Phase) async {
        guard phase != new else { return }
        phase = new
        await listener?(.report)
    }

    /// Why the feature or one of its photos was refused.
    private static func error(_ edit: FeatureEditResult) -> (any Error)? {
        edit.error ?? edit.attachmentResults.lazy.compactMap(\.error).first
    }

    /// Whether the server wants a sign-in, or does not give the right to who has signed in.
    private static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case is ArcGISChallengeCancellationError, is ArcGISAuthenticationError: true
        case let error as ServiceError: [403, 498, 499].contains(error.code)
        default: false
        }
    }

    private static func reason(_ error: (any Error)?) -> String {
        switch error {
        case let error as any ArcGISError: error.details
        case .some(let error): "\(error)"
        case nil: "No reason given."
        }
    }
}
