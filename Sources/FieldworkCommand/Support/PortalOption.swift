import ArgumentParser
import FieldworkLocator
import FieldworkPortal
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation

/// Where the people of a server are kept: beside the services of a folder, or in their database.
struct PortalOption: ParsableArguments {
    @OptionGroup var data: DataOption
    @OptionGroup var database: StoreOption

    /// Runs something that needs the portal of a folder or of a database.
    /// - Parameter makesFolder: people may come before the first service.
    func withPortal<Result>(makesFolder: Bool = false, _ body: (Portal) async throws -> Result) async throws -> Result {
        PrivateFiles.begin()
        if let address = database.store {
            let store = try await Database.open(address)
            do {
                let result = try await use(store.openRecords(), body)
                try await store.close()
                return result
            } catch {
                try? await store.close()
                throw error
            }
        }
        if makesFolder { try FileManager.default.createDirectory(at: data.url, withIntermediateDirectories: true) }
        guard FileManager.default.fileExists(atPath: data.url.path) else {
            throw CommandFailure(
                .noInput, "\(data.url.path) is not there. fieldwork publish or fieldwork demo makes it.")
        }
        return try await use(try RecordDatabase(file: Portal.file(in: data.url)), body)
    }

    private func use<Result>(
        _ records: RecordDatabase, _ body: (Portal) async throws -> Result
    ) async throws -> Result {
        let portal = try await Portal(records)
        do {
            let result = try await body(portal)
            await portal.close()
            return result
        } catch {
            await portal.close()
            throw error
        }
    }

    /// The keys of all that has an item because a server of the folder serves it.
    func serviceKeys() async throws -> Set<String> {
        var keys = Set(try await servicePaths().map(ServiceItemKind.feature.key))
        for name in BasemapFolder(data: data.url).names() {
            keys.formUnion([ServiceItemKind.vectorTiles, .tiles].map { $0.key(name) })
        }
        let files = FileManager.default.enumerator(atPath: data.url.path)
        while let file = files?.nextObject() as? String {
            let path = file.split(separator: ".")
            guard path.count == 2, path[1] == LocatorFile.pathExtension else { continue }
            keys.insert(ServiceItemKind.geocoding.key(String(path[0])))
        }
        return keys
    }

    /// The paths of the services.
    func servicePaths() async throws -> [String] {
        try await withServices { try await $0.serviceNames().map(\.path) }
    }

    /// Runs something that needs the services of a folder or of a database.
    func withServices<Result>(_ body: (any FeatureStore) async throws -> Result) async throws -> Result {
        let store: any FeatureStore
        if let address = database.store {
            store = try await Database.open(address)
        } else {
            store = try await GeoPackageStore.open(at: data.url)
        }
        do {
            let result = try await body(store)
            try await store.close()
            return result
        } catch {
            try? await store.close()
            throw error
        }
    }
}
