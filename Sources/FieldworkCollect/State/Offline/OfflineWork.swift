import Fieldwork
import Foundation

/// The file of an offline area that is open, and its way to the service.
struct OfflineWork: Sendable {
    let area: OfflineArea
    let geodatabase: Geodatabase
    /// Keeps a file of the user's from other programs of Fieldwork; nil for a file in the app's own folder.
    var use: GeodatabaseUse?

    /// Ends the work with the file.
    func close() {
        geodatabase.close()
        use?.end()
    }

    /// When the file and its service were brought together last.
    var lastSync: Date? { geodatabase.featureTables.compactMap(\.lastSyncDate).max() }

    /// What waits to be sent. In a file that is no service's nothing does: an edit has arrived once it is in it.
    func unsentCount() async -> Int {
        guard area.isSynced else { return 0 }
        let count = (try? await geodatabase.localEditsCount()) ?? 0
        // Where nobody writes down who edited, a photo leaves its feature as it was.
        return max(count, geodatabase.hasLocalEdits ? 1 : 0)
    }

    /// Sends the edits of the area and takes over those of others.
    /// - Parameters:
    ///   - watch: told how far the sending has come.
    ///   - begun: called with the work as it begins; who cancels it loses nothing: the next sync goes on with it.
    /// - Returns: what the service refused; it stays in the file.
    func sync(
        watch: SendingWatch? = nil, begun: @Sendable (SyncGeodatabaseJob) async -> Void = { _ in }
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

extension MapContent {
    /// An offline area as a map: the layers of its file, shown as the web map shows them that it was taken from.
    static func area(_ area: OfflineArea, file: URL, webMap: Data?, folder: URL) async throws -> MapContent {
        let work = OfflineWork(
            area: area, geodatabase: Geodatabase(fileURL: file),
            use: area.held == nil ? nil : try GeodatabaseUse.begin(file))
        do {
            return try await content(of: work, webMap: webMap, folder: folder)
        } catch {
            work.close()
            throw error
        }
    }

    private static func content(of work: OfflineWork, webMap: Data?, folder: URL) async throws -> MapContent {
        let (area, geodatabase) = (work.area, work.geodatabase)
        try await geodatabase.load()
        var content = MapContent(title: area.mapTitle, geodatabases: [])
        content.offline = work
        if let webMap, try await content.show(webMap, folder: folder) { return content }
        for table in geodatabase.featureTables {
            guard let loaded = try await MapLayer.load(table, id: Int(table.serviceLayerID), isAuthored: false) else {
                continue
            }
            if loaded.geometry == nil {
                content.tables.append(loaded)
            } else {
                content.layers.insert(loaded, at: 0)
            }
        }
        guard !content.layers.isEmpty || !content.tables.isEmpty else {
            throw CollectError(.notAFeatureService, "The area \(area.name) has no layers.")
        }
        return content
    }
}

extension OpenMap {
    /// What lies outside the area would never come back to this device with a sync.
    func checkArea(_ place: Place) throws {
        guard let offline, let area = offline.geodatabase.generateGeodatabaseGeometry,
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
