import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Makes a service of a GeoPackage that stays where it is: the folder of the services gets a link to it.
struct InPlacePublisher {
    let publisher: Publisher
    /// The name of the layer, where the file has one; its table's by default.
    var layerName: String?

    func publish(_ url: URL) async throws -> Publication {
        guard url.pathExtension.lowercased() == "gpkg" else {
            throw CommandFailure(.badData, "Only a GeoPackage (.gpkg) can be published in place.")
        }
        guard FileManager.default.isWritableFile(atPath: url.path) else {
            throw CommandFailure(.noInput, "\(url.path) is not there, or can't be written.")
        }
        let place = try publisher.place()
        let target = url.resolvingSymlinksInPath().standardizedFileURL
        try refuseSecondName(of: target)
        try await GeoPackageFile.prepare(at: target, as: publisher.service, layerName: layerName)
        for table in try await GeoPackageFile.tablesWithoutLayer(in: target) {
            Terminal.error("Left out \(table): it has no key of whole numbers, or no points, lines or polygons")
        }
        let file = try await GeoPackageStore.openFile(at: target)
        var count = 0
        do {
            for layer in file.definition.layers { count += try await file.count(FeatureQuery(), in: layer.id) }
        } catch {
            await file.close()
            throw error
        }
        await file.close()
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        do {
            try FileManager.default.createSymbolicLink(at: place, withDestinationURL: target)
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw CommandFailure(.cannotCreate, "There is a service \(publisher.service.path) already.")
        }
        return Publication(featureCount: count, skippedCount: 0)
    }

    /// Two services in one file would be one: an edit of the definition of one of them changes the other.
    private func refuseSecondName(of target: URL) throws {
        guard FileManager.default.fileExists(atPath: publisher.folder.path) else { return }
        for name in try GeoPackageStore.names(in: publisher.folder) {
            let place = try GeoPackageStore.place(of: name, in: publisher.folder)
            guard place.resolvingSymlinksInPath().standardizedFileURL.path == target.path else { continue }
            throw CommandFailure(.cannotCreate, "\(target.path) is published already, as \(name.path).")
        }
    }
}
