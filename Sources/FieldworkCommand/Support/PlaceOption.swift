import ArgumentParser
import FieldworkPostGIS
import FieldworkStore
import Foundation

/// Where the services lie that a verb reads or edits without a server: in a folder, or in a database.
struct PlaceOption: ParsableArguments {
    @OptionGroup var data: DataOption
    @OptionGroup var database: StoreOption

    func validate() throws {
        guard data.data == nil || database.store == nil else {
            throw ValidationError("Give --data or --store, not both: one of them would be ignored.")
        }
    }

    var place: ServicePlace { ServicePlace(folder: data.url, database: database.store) }
}

/// A folder of services, or a database of them.
struct ServicePlace: Sendable {
    var folder: URL
    /// The address of the database, which takes the place of the folder.
    var database: String?

    /// For messages.
    var text: String { database == nil ? folder.path : "the database" }

    /// Opens it. A folder that is not there is not made.
    func open() async throws -> any ServiceStore {
        if let database { return try await Database.open(database) }
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder)
        guard isThere else {
            throw CommandFailure(
                .noInput, "\(folder.path) is not there. fieldwork publish or fieldwork demo makes it.")
        }
        guard isFolder.boolValue else {
            throw CommandFailure(.noInput, "\(folder.path) is a file, not a folder of services.")
        }
        return try await GeoPackageStore.open(at: folder)
    }
}
