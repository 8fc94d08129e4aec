import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A map of a feature service over a basemap of the same server, both of which can be taken offline.
struct OfflineMapService {
    let service: TestService

    static func with(_ test: (OfflineMapService) async throws -> Void) async throws {
        try await OfflineService.with { service in
            let basemaps = BasemapFolder(data: service.folder.appending(path: "services"))
            try FileManager.default.createDirectory(at: basemaps.url, withIntermediateDirectories: true)
            let writer = try MBTilesWriter(path: basemaps.file("Streets").path, format: .vector)
            let area = OfflineService.area
            let box = PlaneBox(xMin: area.xMin, yMin: area.yMin, xMax: area.xMax, yMax: area.yMax)
            for level in 10...14 {
                try TileCoverage(box: box.grown(by: 20_000)).forEach(level: level) { tile in
                    try writer.add(GzipStream.compressed(BasemapServer.vectorTile()), at: tile)
                    return true
                }
            }
            try writer.finish(
                TileSetDescription(
                    name: "Streets", attribution: "© Streets", format: .vector, levels: 10...14,
                    box: box.grown(by: 20_000), vectorLayers: [["id": "roads"]]))
            try await test(OfflineMapService(service: service))
        }
    }

    var folder: URL { service.folder.appending(path: "package") }
    var root: String { "\(service.running.servicesAddress)" }

    func document(_ settings: String = "") -> Data {
        Data(
            """
            {"operationalLayers":[
              {"id":"damage","title":"Damage","layerType":"ArcGISFeatureLayer","url":"\(service.url.absoluteString)",
               "layerDefinition":{"definitionExpression":"numoccup < 5"},"popupInfo":{"title":"{primcause}"}},
              {"id":"weather","title":"Weather","layerType":"WebTiledLayer","templateUrl":"http://127.0.0.1:9/{level}/{col}/{row}.png"}],
             "baseMap":{"title":"Streets","baseMapLayers":[
              {"id":"streets","title":"Streets","layerType":"VectorTileLayer",
               "styleUrl":"\(root)/Streets/VectorTileServer/resources/styles/root.json"}]}\(settings),
             "version":"2.31"}
            """.utf8)
    }

    func task(_ settings: String = "", device: String = "device") throws -> OfflineMapTask {
        let environment = service.environment(device: device)
        let map = try Map.fromJSON(document(settings), environment: environment)
        return OfflineMapTask(map: map, item: nil, environment: environment)
    }

    func take(_ name: String, _ change: (GenerateOfflineMapParameters) -> Void = { _ in }) async throws
        -> GenerateOfflineMapResult
    {
        // The device keeps its own files in a folder of its name.
        let task = try task(device: "device of \(name)")
        let parameters = try await task.makeDefaultGenerateOfflineMapParameters(areaOfInterest: OfflineService.area)
        change(parameters)
        let job = task.makeGenerateOfflineMapJob(
            parameters: parameters, downloadDirectory: service.folder.appending(path: name))
        job.start()
        return try await job.output
    }

    func files(_ folder: URL) throws -> [String] {
        // A geodatabase that is open has its log beside it.
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
    }
}

extension Map {
    func damages() throws -> GeodatabaseFeatureTable {
        let layer = try #require(operationalLayers.first as? FeatureLayer)
        return try #require(layer.featureTable as? GeodatabaseFeatureTable)
    }
}

@Suite("Maps that are taken offline", .fewAtATime)
struct OfflineMapTests {
    @Test("A map comes along whole, and works when the server is gone: features, pop-ups, basemap and style")
    func whole() async throws {
        try await OfflineMapService.with { online in
            let result = try await online.take("package")
            #expect(result.hasErrors)
            #expect(result.layerErrors.keys.map(\.name) == ["Weather"])
            #expect(try online.files(online.folder) == ["basemap.vtpk", "data.gpkg", "map.json", "package.json"])
            result.mobileMapPackage.close()
            try await online.service.running.stop()

            let package = MobileMapPackage(fileURL: online.folder)
            try await package.load()
            defer { package.close() }
            #expect(package.size > 10_000 && package.version == "1" && !package.hasLocalEdits)
            let map = try #require(package.maps.first)
            try await map.load()
            #expect(map.mobileMapPackage === package)
            #expect(map.operationalLayers.map(\.name) == ["Damage"])
            let table = try map.damages()
            #expect(table.popupDefinition != nil)
            // Ten are in the area; the layer's condition lets five of them come along.
            #expect(try await package.geodatabases[0].damages.queryFeatureCount(using: QueryParameters()) == 5)
            let streets = try #require(map.basemap?.baseLayers.first as? ArcGISVectorTiledLayer)
            try await streets.load()
            #expect(streets.attribution == "© Streets")
            let area = OfflineService.area
            let tile = PlaneBox(xMin: area.xMin, yMin: area.yMin, xMax: area.xMin, yMax: area.yMin).tiles(level: 14)
            let key = TileKey(level: 14, row: tile.rows.lowerBound, column: tile.columns.lowerBound)
            #expect(try await streets.tile(at: key) == Data(BasemapServer.vectorTile()))
            #expect(try await streets.style() != nil)
            try await table.add(
                table.makeFeature(attributes: ["primcause": "Offline"], geometry: OfflineService.place(3)))
            #expect(package.hasLocalEdits)
            #expect(try MobileMapPackage.damage(fileURL: online.folder).isEmpty)
        }
    }

    @Test("What can't come along is told before, each layer with its reason")
    func capabilities() async throws {
        try await OfflineMapService.with { online in
            let task = try online.task()
            let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
                areaOfInterest: OfflineService.area)
            let capabilities = try await task.offlineMapCapabilities(parameters: parameters)
            #expect(capabilities.hasErrors && capabilities.layerCapabilities.count == 3)
            for (layer, capability) in capabilities.layerCapabilities {
                #expect(capability.supportsOffline == (layer.name != "Weather"), "\(layer.name)")
                if let error = capability.error as? CommonError { #expect(error.details.contains("Weather")) }
            }
            parameters.continuesOnErrors = false
            let job = task.makeGenerateOfflineMapJob(parameters: parameters, downloadDirectory: online.folder)
            job.start()
            await #expect(throws: CommonError.self) { _ = try await job.output }
            #expect(!FileManager.default.fileExists(atPath: online.folder.path))
        }
    }

    @Test(
        "A job that was broken off goes on in another process, and its package is the same as that of one that was not")
    func resumed() async throws {
        try await OfflineMapService.with { online in
            let whole = try await online.take("whole")
            whole.mobileMapPackage.close()
            let task = try online.task()
            let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
                areaOfInterest: OfflineService.area)
            let job = task.makeGenerateOfflineMapJob(parameters: parameters, downloadDirectory: online.folder)
            let state = job.toJSON()
            job.start()
            let making = URL(filePath: online.folder.path + ".making")
            while !FileManager.default.fileExists(atPath: making.appending(path: "data.gpkg").path),
                job.status == .started
            { try await Task.sleep(for: .milliseconds(2)) }
            job.pause()
            let replicas = try await online.service.store.replicas(of: online.service.name).count
            let again = try #require(try Job.fromJSON(state) as? GenerateOfflineMapJob)
            #expect(again.status == .paused)
            again.start()
            let result = try await again.output
            result.mobileMapPackage.close()
            #expect(try await online.service.store.replicas(of: online.service.name).count == replicas)
            #expect(!FileManager.default.fileExists(atPath: making.path))
            #expect(try online.files(online.folder) == online.files(online.service.folder.appending(path: "whole")))
            for name in ["basemap.vtpk", "map.json"] {
                let one = try Data(contentsOf: online.folder.appending(path: name))
                #expect(try one == Data(contentsOf: online.service.folder.appending(path: "whole/\(name)")), "\(name)")
            }
        }
    }

    @Test("Edits of two offline maps come together by their syncs, with a result for each layer")
    func sync() async throws {
        try await OfflineMapService.with { online in
            let (one, two) = (try await online.take("one"), try await online.take("two"))
            func sync(_ result: GenerateOfflineMapResult) async throws -> OfflineMapSyncResult {
                let task = OfflineMapSyncTask(map: result.offlineMap, environment: online.service.environment())
                let job = task.makeSyncOfflineMapJob(
                    parameters: try await task.makeDefaultOfflineMapSyncParameters())
                job.start()
                return try await job.output
            }
            try await one.mobileMapPackage.geodatabases[0].addDamage(
                "From one", at: 2, ["numoccup": Int16(1)])
            let task = OfflineMapSyncTask(map: one.offlineMap, environment: online.service.environment())
            #expect(try await task.checkForUpdates().uploadAvailability == .available)
            #expect(task.updateCapabilities?.supportsSyncWithFeatureServices == true)
            let sent = try await sync(one)
            #expect(!sent.hasErrors && sent.layerResults.count == 1 && !sent.mobileMapPackageReopenIsRequired)
            #expect(try await online.service.served("primcause")["From one"] != nil)
            #expect(!one.mobileMapPackage.hasLocalEdits)
            _ = try await sync(two)
            #expect(try await two.mobileMapPackage.geodatabases[0].damage("From one") != nil)
            for result in [one, two] { result.mobileMapPackage.close() }
        }
    }

    @Test("A sync without a server fails with the reason, and the edits stay")
    func failedSync() async throws {
        try await OfflineMapService.with { online in
            let result = try await online.take("package")
            try await result.mobileMapPackage.geodatabases[0].addDamage("Waiting", at: 2)
            try await online.service.running.stop()
            let task = OfflineMapSyncTask(map: result.offlineMap)
            let job = task.makeSyncOfflineMapJob(parameters: try await task.makeDefaultOfflineMapSyncParameters())
            job.start()
            await #expect(throws: Fieldwork.ServiceError.self) { _ = try await job.output }
            #expect(result.mobileMapPackage.hasLocalEdits)
            #expect(try await result.mobileMapPackage.geodatabases[0].damage("Waiting") != nil)
            result.mobileMapPackage.close()
        }
    }

    @Test("A package that is damaged is not opened, and what is damaged is named")
    func damaged() async throws {
        try await OfflineMapService.with { online in
            let result = try await online.take("package")
            result.mobileMapPackage.close()
            let tiles = online.folder.appending(path: "basemap.vtpk")
            let bytes = try Data(contentsOf: tiles)
            var changed = bytes
            changed[changed.count / 2] ^= 1
            try changed.write(to: tiles)
            #expect(try MobileMapPackage.damage(fileURL: online.folder).map { $0.prefix(12) } == ["basemap.vtpk"])
            try bytes.dropLast().write(to: tiles)
            do {
                try await MobileMapPackage(fileURL: online.folder).load()
                Issue.record("A damaged package was opened.")
            } catch let error as CommonError {
                #expect(error.details.contains("basemap.vtpk"), "\(error.details)")
            }
            try FileManager.default.removeItem(at: online.folder.appending(path: "data.gpkg"))
            #expect(try MobileMapPackage.damage(fileURL: online.folder).contains("data.gpkg is missing."))
        }
    }

    @Test("The vendor's packages and other files are refused in clear words")
    func foreign() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-mmpk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "city.mmpk")
        try Data("PK".utf8).write(to: file)
        for (url, words) in [
            (file, "closed"), (folder, "package.json"), (folder.appending(path: "none"), "no map package"),
        ] {
            do {
                try await MobileMapPackage(fileURL: url).load()
                Issue.record("\(url.lastPathComponent) was opened.")
            } catch let error as CommonError {
                #expect(error.details.contains(words), "\(error.details)")
            }
        }
        await #expect(throws: CommonError.self) {
            _ = try await MobileMapPackage.isDirectReadSupported(fileURL: file)
        }
    }

    @Test("A cancelled job leaves nothing on the device and no replica at the service; a folder in use is not touched")
    func cancelled() async throws {
        try await OfflineMapService.with { online in
            let task = try online.task()
            let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
                areaOfInterest: OfflineService.area)
            let job = task.makeGenerateOfflineMapJob(parameters: parameters, downloadDirectory: online.folder)
            job.start()
            let making = URL(filePath: online.folder.path + ".making")
            while !FileManager.default.fileExists(atPath: making.appending(path: "data.gpkg").path),
                job.status == .started
            { try await Task.sleep(for: .milliseconds(2)) }
            if await job.cancel() {
                #expect(!FileManager.default.fileExists(atPath: making.path))
                #expect(!FileManager.default.fileExists(atPath: online.folder.path))
                let left = try await online.service.store.replicas(of: online.service.name)
                #expect(left.filter { $0.state != .retired }.isEmpty)
            }
            let mine = online.service.folder.appending(path: "mine")
            try FileManager.default.createDirectory(at: mine, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: mine.appending(path: "note.txt"))
            let other = task.makeGenerateOfflineMapJob(parameters: parameters, downloadDirectory: mine)
            other.start()
            await #expect(throws: CommonError.self) { _ = try await other.output }
            #expect(try online.files(mine) == ["note.txt"])
        }
    }

    @Test("The author's settings decide whose attachments come along and which way they go")
    func settings() async throws {
        try await OfflineMapService.with { online in
            let settings = """
                ,"applicationProperties":{"offline":{"editableLayers":{"download":"features","sync":"syncFeaturesUploadAttachments"},
                "readonlyLayers":{"downloadAttachments":false},"offlinebasemap":{"referenceBasemapName":"city.vtpk"}}}
                """
            let task = try online.task(settings)
            let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
                areaOfInterest: OfflineService.area)
            #expect(parameters.returnLayerAttachmentOption == .none)
            #expect(parameters.attachmentSyncDirection == .upload)
            #expect(parameters.referenceBasemapFilename == "city.vtpk")
            #expect(task.onlineMap?.offlineSettings?.readOnlyLayersDownloadAttachments == false)
            let plain = try await online.task().makeDefaultGenerateOfflineMapParameters(
                areaOfInterest: OfflineService.area)
            #expect(plain.returnLayerAttachmentOption == .allLayers && plain.referenceBasemapFilename.isEmpty)
        }
    }

    @Test("Overrides change what is asked of a service, and what is removed stays away")
    func overrides() async throws {
        try await OfflineMapService.with { online in
            let task = try online.task()
            let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
                areaOfInterest: OfflineService.area)
            let overrides = try await task.makeGenerateOfflineMapParameterOverrides(parameters: parameters)
            let layers = try #require(task.onlineMap?.offlineLayers)
            let damage = try #require(layers.first.flatMap { OfflineMapParametersKey(layer: $0) })
            let streets = try #require(
                layers.first { $0.name == "Streets" }.flatMap { OfflineMapParametersKey(layer: $0) })
            overrides.generateGeodatabaseParameters[damage]?.layerOptions.first?.whereClause = "numoccup = 1"
            #expect(overrides.exportVectorTilesParameters[streets]?.maxLevel == 14)
            overrides.removeParameters(for: streets)
            // What a job that nobody goes on with has left is no part of this one's package.
            let making = URL(filePath: online.folder.path + ".making")
            try FileManager.default.createDirectory(at: making, withIntermediateDirectories: true)
            try Data("old".utf8).write(to: making.appending(path: "data-2.gpkg"))
            #expect(overrides.exportVectorTilesParameters.isEmpty)
            let job = task.makeGenerateOfflineMapJob(
                parameters: parameters, downloadDirectory: online.folder, overrides: overrides)
            job.start()
            let result = try await job.output
            defer { result.mobileMapPackage.close() }
            #expect(try online.files(online.folder) == ["data.gpkg", "map.json", "package.json"])
            let table = try result.mobileMapPackage.geodatabases[0].damages
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
            #expect(result.layerErrors.keys.contains { $0.name == "Streets" })
        }
    }

    @Test(
        "A map without updates has no replica at its service, and a file of tiles on the device takes the basemap's place"
    )
    func noUpdates() async throws {
        try await OfflineMapService.with { online in
            let tiles = BasemapFolder(data: online.service.folder.appending(path: "services")).file("Streets")
            let result = try await online.take("package") { parameters in
                parameters.updateMode = .noUpdates
                parameters.referenceBasemapDirectoryURL = tiles.deletingLastPathComponent()
                parameters.referenceBasemapFilename = tiles.lastPathComponent
            }
            defer { result.mobileMapPackage.close() }
            #expect(try online.files(online.folder) == ["basemap.tiles", "data.gpkg", "map.json", "package.json"])
            #expect(result.mobileMapPackage.geodatabases.map(\.syncID) == [nil])
            // What came along is no edit; what is made in it is known as one, though no service will get it.
            let geodatabase = result.mobileMapPackage.geodatabases[0]
            #expect(try await geodatabase.differences().isEmpty)
            #expect(!geodatabase.hasLocalEdits)
            try await geodatabase.addDamage("Only here", at: 2, ["numoccup": Int16(1)])
            #expect(try await geodatabase.differences().count == 1)
            let left = try await online.service.store.replicas(of: online.service.name)
            #expect(left.filter { $0.state != .retired }.isEmpty)
            let basemap = try #require(result.offlineMap.basemap?.baseLayers.first as? ArcGISVectorTiledLayer)
            try await basemap.load()
            #expect(basemap.attribution == "© Streets")
            let task = OfflineMapSyncTask(map: result.offlineMap)
            #expect(try await task.checkForUpdates().uploadAvailability == .noneAvailable)
            #expect(try await task.makeDefaultOfflineMapSyncParameters().syncDirection == .none)
        }
    }
}
