import FieldworkREST
package import Foundation

/// Looks whether a file of a service is whole, without writing anything to it or beside it.
package struct FileCheck: Sendable {
    let url: URL

    package init(_ url: URL) { self.url = url }

    /// What is wrong with the file, in words; empty when all is well. What can't be read is a finding as well.
    package func findings() async -> [String] {
        do {
            return try await OneTimeWorker().run { try look() }
        } catch let error as StoreError {
            return [error.message]
        } catch {
            return [error.localizedDescription]
        }
    }

    private func look() throws -> [String] {
        if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path),
            !FileManager.default.fileExists(atPath: url.path)
        {
            return ["It is a link to \(target), where there is no file."]
        }
        guard FileManager.default.fileExists(atPath: url.path) else { return ["There is no such file."] }
        let path = FilePlace.resolve(url)
        var findings: [String] = []
        var isAlone = !FileManager.default.fileExists(atPath: path + "-wal")
        if case .foreign = LogOwnership.look(path) {
            findings.append(
                "The log beside it (-wal) belongs to another file: a backup was put in its place. It is set aside when the file is opened next."
            )
            isAlone = true
        }
        let connection = try StoreConnection(path: path, mode: .look(isAlone: isAlone))
        defer { connection.forgetStatements() }
        guard try connection.hasTable("gpkg_contents") else { return findings + ["It is no GeoPackage."] }
        guard try ServiceCatalogue.exists(on: connection) else {
            return findings + ["It is a GeoPackage, but none of a service: fieldwork publish makes it one."]
        }
        let catalogue = try ServiceCatalogue.read(from: connection)
        let layers = catalogue.definition.layers.compactMap { catalogue.layers[$0.id] }
        return findings
            + (try IntegrityCheck(
                connection: connection, layers: layers, relationships: RelationshipRules(catalogue),
                // A client's file has notes, and takes over what its service has without logging it.
                tellsAll: !connection.hasTable(FileNotes.table)
            ).run())
    }
}
