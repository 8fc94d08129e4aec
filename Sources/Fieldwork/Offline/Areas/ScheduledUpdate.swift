import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Brings a file of a prepared area to the state of the area's newest files. The service makes a package of changes, once for all
/// crews that are equally far, and keeps no replica for any of them.
struct ScheduledUpdate: Sendable {
    /// A package of changes that the service has ready.
    struct Package: Sendable {
        var url: URL
        var size: Int64
    }

    let geodatabase: Geodatabase
    /// The file in the area as its author has prepared it now.
    let newest: OfflineMapPart
    let environment: ServiceEnvironment

    private var name: String { geodatabase.fileURL.lastPathComponent }

    /// Where the package lies until it is taken over.
    private var target: URL { geodatabase.fileURL.appendingPathExtension("changes") }

    /// Whether the author has prepared the area anew since the file was brought up to date.
    func isDue() async throws -> Bool { try await record().replica.replicaID != newest.reference }

    /// Asks the service for the package, which it makes for the first who asks. Throws `ServiceError`, `CommonError.illegalState` where the area has other
    /// layers by now.
    func package() async throws -> Package {
        let record = try await record()
        guard case .geodatabase(let parameters) = newest.content, let reference = newest.reference else {
            throw CommonError.invalidArgument(details: "The area has no features for \(name).")
        }
        let here = Set(try geodatabase.openSession().file.definition.layers.map(\.id))
        guard here == Set(parameters.layerOptions.map(\.layerID)) else {
            throw CommonError.illegalState(
                details:
                    "The area has other layers than when \(name) was downloaded. Delete it here and download it anew.")
        }
        let client = ReplicaClient(root: newest.source, client: environment.client)
        return try await client.changes(
            to: reference, since: record.replica, layers: here.sorted(),
            whole: record.scope != PreparedFileRecord.scope(parameters.values))
    }

    /// Downloads a package and takes it over. What another program has edited in the file stays as it is. A package that was taken
    /// over in part, because the process ended, is taken over again: the file is the same then.
    /// - Parameter progress: called with the part that is done, 0 to 1.
    func take(_ package: Package, progress: @escaping @Sendable (Double) -> Void) async throws {
        // A part of an older package must not be continued with a newer one.
        try? FileManager.default.removeItem(at: target)
        defer { try? FileManager.default.removeItem(at: target) }
        try await environment.downloads.download(package.url, to: target) { there, whole in
            let size = max(whole ?? package.size, 1)
            progress(min(1, Double(there) / Double(size)) / 2)
        }
        let answer: JSONValue
        do {
            answer = try JSONParser.parse(Data(contentsOf: target, options: .mappedIfSafe))
        } catch {
            throw ServiceError.unknown(details: "The package of changes for \(name) can't be read.")
        }
        try await take(answer)
        progress(1)
    }

    /// Fetches attachments that an earlier package told of and that could not be had then.
    func takeAwaited() async throws {
        guard try await !record().replica.awaitedAttachments.isEmpty else { return }
        try await take([:])
    }

    private func take(_ answer: JSONValue) async throws {
        let session = try geodatabase.openSession()
        try await session.syncing {
            var record = try await record()
            let parameters = SyncGeodatabaseParameters()
            parameters.geodatabaseSyncDirection = .download
            let incoming = ReplicaDownload(
                session: session, sent: [], sentAttachments: [], parameters: parameters,
                downloads: environment.downloads)
            let outcome = try await incoming.takeOver(answer, into: &record.replica)
            guard outcome.behind.isEmpty else {
                throw CommonError.illegalState(
                    details:
                        "\(name) was not updated: another program has deleted features in it that have changed since. Delete it here and download it anew."
                )
            }
            if let reference = newest.reference { record.replica.replicaID = reference }
            if case .geodatabase(let parameters) = newest.content {
                record.scope = PreparedFileRecord.scope(parameters.values)
            }
            record.replica.lastSync = DeviceClock.now()
            try await session.keep(record)
            if record.replica.awaitedAttachments.isEmpty { incoming.discardContents() }
            try await session.lookForEdits()
            if let failure = outcome.failure { throw failure }
        }
    }

    private func record() async throws -> PreparedFileRecord {
        try await geodatabase.load()
        guard let record = try await geodatabase.openSession().preparedRecord() else {
            throw CommonError.illegalState(
                details: "\(name) was downloaded without scheduled updates. Delete it here and download it anew.")
        }
        return record
    }
}

extension ReplicaClient {
    /// Has the changes made that lead from a state to that of a prepared replica; the service makes them once for all who ask.
    /// - Parameters:
    ///   - known: what is there.
    ///   - layers: the layers that are there.
    ///   - whole: whether all rows are wanted: those that are there are of another area or condition.
    func changes(
        to reference: UUID, since known: ReplicaRecord, layers: [Int], whole: Bool
    ) async throws -> ScheduledUpdate.Package {
        let direction = whole ? "snapshot" : "download"
        let parts = layers.map { id -> JSONValue in
            [
                "id": .integer(Int64(id)),
                "serverGen": .integer(known.layerGenerations[id] ?? known.serverGeneration),
                "syncDirection": .string(direction),
            ]
        }
        // A replica that counts as a whole has one generation, one that counts by layer one for each.
        let oldest = known.layerGenerations.values.min() ?? known.serverGeneration
        let json = try await synchronize(
            [
                ("replicaID", reference.uuidString), ("syncLayers", JSONValue.array(parts).text),
                ("replicaServerGen", String(oldest)), ("syncDirection", direction), ("dataFormat", "json"),
                ("async", "false"), ("transportType", "esriTransportTypeUrl"), ("returnAttachmentsDataByUrl", "true"),
            ], isCompressed: false)
        guard let address = json["resultUrl"]?.stringValue, let url = URL(string: address, relativeTo: root) else {
            throw ServiceError.unknown(details: "The service does not say where the changes are.")
        }
        return ScheduledUpdate.Package(url: url.absoluteURL, size: json["fileSize"]?.integerValue ?? 0)
    }
}

extension OfflineContent {
    /// The updates of the map's files. Throws what `PreplannedMapArea.load()` throws, `CommonError.illegalState` where the area has lost
    /// a service.
    /// - Parameter area: the address of the area's item.
    func scheduledUpdates(of area: URL, _ environment: ServiceEnvironment) async throws -> [ScheduledUpdate] {
        guard let item = PortalItem(url: area, environment: environment) else {
            throw CommonError.invalidArgument(details: "\(area.absoluteString) is not the address of an item.")
        }
        let package = try await PreplannedMapArea(portalItem: item).readPackage()
        var updates: [ScheduledUpdate] = []
        for geodatabase in geodatabases {
            guard let record = try await geodatabase.openSession().preparedRecord() else { continue }
            guard
                let part = package.parts.first(where: {
                    $0.reference != nil && $0.source == record.replica.serviceURL
                })
            else {
                throw CommonError.illegalState(
                    details:
                        "The area \(item.title) has no features of \(record.replica.serviceURL.absoluteString) any more. Delete it here and download it anew."
                )
            }
            updates.append(ScheduledUpdate(geodatabase: geodatabase, newest: part, environment: environment))
        }
        return updates
    }
}
