import FieldworkPostGIS
import FieldworkPublishing
import FieldworkREST
import FieldworkStore

/// Makes a service of a table of a database that stays where it is.
struct TablePublisher {
    let address: String
    let table: String
    let service: ServiceName
    let layerName: String

    static func isAddress(_ text: String) -> Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

    func publish(addsGlobalIDs: Bool) async throws -> Publication {
        let store = try await Database.open(address)
        let publication: PlacedPublication
        do {
            publication = try await store.publish(
                table: table, as: service, layerName: layerName, addsGlobalIDs: addsGlobalIDs)
            try await store.close()
        } catch {
            try? await store.close()
            throw error
        }
        let added = ["triggers that log its changes"] + publication.added
        Terminal.error("\(table) was given \(added.joined(separator: ", ")); fieldwork unpublish takes it away again")
        if !publication.leftOut.isEmpty {
            Terminal.error("Columns of other types are left alone: \(publication.leftOut.joined(separator: ", "))")
        }
        return Publication(featureCount: publication.featureCount, skippedCount: 0)
    }
}
