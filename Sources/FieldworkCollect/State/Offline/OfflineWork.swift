import Fieldwork
import Foundation

/// The files of an offline area that are open, and their ways to the services.
struct OfflineWork: Sendable {
    /// A file that is open.
    struct Part: Sendable {
        let file: AreaFile
        let geodatabase: Geodatabase
    }

    let area: OfflineArea
    /// One a service, in the order of the area's services.
    let parts: [Part]
    /// Keeps a file of the user's from other programs of Fieldwork; nil for files in the app's own folder.
    let use: GeodatabaseUse?

    var geodatabases: [Geodatabase] { parts.map(\.geodatabase) }

    /// Opens an area's files: all of them, or none.
    static func open(_ area: OfflineArea, files: [AreaFile]) async throws -> OfflineWork {
        let use = try area.held.map { try GeodatabaseUse.begin($0.url) }
        let parts = files.map { Part(file: $0, geodatabase: Geodatabase(fileURL: $0.url)) }
        let work = OfflineWork(area: area, parts: parts, use: use)
        do {
            for geodatabase in work.geodatabases { try await geodatabase.load() }
            return work
        } catch {
            work.close()
            throw error
        }
    }

    /// Under this name the numbers of a service's layers in the map are kept. That of the first is as old as areas are.
    func key(of part: Part) -> String {
        part.file.service == area.service ? area.mapKey : part.file.service.absoluteString
    }

    /// Ends the work with the files.
    func close() {
        for geodatabase in geodatabases { geodatabase.close() }
        use?.end()
    }

    /// When the files and their services were brought together last; of several services the one that was reached the longest ago.
    var lastSync: Date? {
        geodatabases.compactMap { $0.featureTables.compactMap(\.lastSyncDate).max() }.min()
    }

    /// What waits to be sent. In a file that is no service's nothing does: an edit has arrived once it is in it.
    func unsentCount() async -> Int {
        guard area.isSynced else { return 0 }
        var sum = 0
        for geodatabase in geodatabases {
            let count = (try? await geodatabase.localEditsCount()) ?? 0
            // Where nobody writes down who edited, a photo leaves its feature as it was.
            sum += max(count, geodatabase.hasLocalEdits ? 1 : 0)
        }
        return sum
    }

    /// Syncs all files, one after the other. Throws when one of them was not synced; the others are.
    func syncAll() async throws {
        var failure: (any Error)?
        for part in parts {
            do {
                _ = try await Self.sync(part.geodatabase)
            } catch let error as CancellationError {
                throw error
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Sends the edits in a file of an area and takes over those of others.
    /// - Parameters:
    ///   - watch: told how far the sending has come.
    ///   - begun: called with the work as it begins; who cancels it loses nothing: the next sync goes on with it.
    /// - Returns: what the service refused; it stays in the file.
    static func sync(
        _ geodatabase: Geodatabase, watch: SendingWatch? = nil,
        begun: @Sendable (SyncGeodatabaseJob) async -> Void = { _ in }
    ) async throws -> [SyncLayerResult] {
        let task = GeodatabaseSyncTask(geodatabase: geodatabase)
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(geodatabase: geodatabase)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase, watch: watch)
        job.start()
        await begun(job)
        return try await withTaskCancellationHandler {
            try await job.output
        } onCancel: {
            job.pause()
        }
    }
}

extension OfflineWork {
    /// Tells the services of files that they needn't keep their replicas. Throws when one could not be reached; the others know.
    static func unregister(_ files: [AreaFile]) async throws {
        var unreached: ServiceError?
        for file in files where file.isHere {
            let geodatabase = Geodatabase(fileURL: file.url)
            do {
                try await GeodatabaseSyncTask(url: file.service).unregisterGeodatabase(geodatabase)
            } catch let error as ServiceError {
                // Any other answer says that the service has forgotten it by itself.
                if case .connectionFailed = error { unreached = error }
            } catch {}
            geodatabase.close()
        }
        if let unreached { throw unreached }
    }
}

extension MapContent {
    /// An offline area as a map: the layers of its files, shown as the web map shows them that it was taken from.
    static func area(_ area: OfflineArea, files: [AreaFile], webMap: Data?, folder: URL) async throws -> MapContent {
        let work = try await OfflineWork.open(area, files: files)
        do {
            return try await content(of: work, webMap: webMap, folder: folder)
        } catch {
            work.close()
            throw error
        }
    }

    private static func content(of work: OfflineWork, webMap: Data?, folder: URL) async throws -> MapContent {
        let area = work.area
        var content = MapContent(title: area.mapTitle, geodatabases: [])
        content.offline = work
        if let webMap, try await content.show(webMap, folder: folder) { return content }
        var numbers = try LayerNumbers(file: folder.appending(path: "layers.json"))
        for part in work.parts {
            for table in part.geodatabase.featureTables {
                let layer = Int(table.serviceLayerID)
                // A layer of the only service keeps its number, as it always did.
                let id =
                    work.parts.count == 1
                    ? layer : numbers.number(service: work.key(of: part), layer: layer, occurrence: 0)
                guard let loaded = try await MapLayer.load(table, id: id, isAuthored: false) else { continue }
                if loaded.geometry == nil {
                    content.tables.append(loaded)
                } else {
                    content.layers.insert(loaded, at: 0)
                }
            }
        }
        if work.parts.count > 1 { try numbers.save() }
        guard !content.layers.isEmpty || !content.tables.isEmpty else {
            throw CollectError(.notAFeatureService, "The area \(area.name) has no layers.")
        }
        return content
    }
}

extension OpenMap {
    /// What lies outside the area would never come back to this device with a sync.
    func checkArea(_ place: Place) throws {
        guard let offline, let area = offline.geodatabases.first?.generateGeodatabaseGeometry,
            let reference = area.spatialReference,
            let point = GeometryEngine.project(
                Point(x: place.x, y: place.y, spatialReference: .webMercator), into: reference)
        else { return }
        guard GeometryEngine.isGeometry(area, intersecting: point) else {
            throw CollectError(
                .badForm, "Feature geometry is outside the area \(offline.area.name).",
                nextStep: "Choose a place inside of it, or go online.")
        }
    }
}

extension MapLayer {
    /// Whether its features are in a file that belongs to no service.
    var isOfPlainFile: Bool { (table as? GeodatabaseFeatureTable).map { $0.geodatabase?.syncID == nil } ?? false }
}

// MARK: - Tables of services and of files

extension ArcGISFeatureTable {
    /// The features that parameters choose; a service sends only as much of each as is asked for.
    func features(_ parameters: QueryParameters, _ fields: QueryFeatureFields) async throws -> FeatureQueryResult {
        guard let service = self as? ServiceFeatureTable else { return try await queryFeatures(using: parameters) }
        return try await service.queryFeatures(using: parameters, queryFeatureFields: fields)
    }

    /// The features that were added or changed on this device and that the service doesn't have.
    func unsentFeatures() async throws -> [Feature] {
        switch self {
        // A file that is no service's.
        case let table as GeodatabaseFeatureTable where table.geodatabase?.syncID == nil: return []
        case let table as ServiceFeatureTable: return try await table.localEdits()
        case let table as GeodatabaseFeatureTable:
            return Array(try await table.queryAddedFeatures().features())
                + Array(try await table.queryUpdatedFeatures().features())
        default: return []
        }
    }
}
