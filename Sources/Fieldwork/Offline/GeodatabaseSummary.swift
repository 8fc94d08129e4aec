import FieldworkREST
import FieldworkStore
package import Foundation

/// What a geodatabase's file holds, told without opening it: opening one that another program made changes it. Not part of
/// the vendor's API.
package struct GeodatabaseSummary: Sendable, Hashable {
    /// Why a file can't be looked at.
    package enum Failure: Error, Sendable, Hashable {
        /// There is no such file.
        case notThere
        /// It is something else.
        case notAGeoPackage
        /// Another program keeps it to itself just now.
        case inUse
        /// It is a GeoPackage that can't be read: damaged, or of a newer Fieldwork.
        case unreadable(reason: String)
    }

    /// The names of the layers and tables.
    package let layers: [String]
    /// Whether it is ready for edits; else opening it adds what it lacks: ids, change log, history.
    package let isPrepared: Bool
    /// The service that it was taken from; nil for a file that is no replica.
    package let serviceURL: URL?
    /// The replica's id at the service; nil for a file that is no replica.
    package let syncID: UUID?
    /// The area that was taken, WGS 84; nil where it has none.
    package let extent: Envelope?

    /// Looks at a file.
    package static func read(_ url: URL) async throws(Failure) -> GeodatabaseSummary {
        do {
            let summary = try await FileSummary.read(url, note: ReplicaRecord.note)
            let replica = try summary.note.map { try ReplicaRecord(json: JSONParser.parse($0)) }
            return GeodatabaseSummary(
                layers: summary.layers, isPrepared: summary.isPrepared, serviceURL: replica?.serviceURL,
                syncID: replica?.replicaID,
                extent: replica?.area.flatMap { GeometryEngine.project($0.extent, into: .wgs84) }?.extent)
        } catch let error as StoreError {
            switch error.code {
            case .serviceNotFound: throw .notThere
            case .notAGeoPackage: throw .notAGeoPackage
            case .busy: throw .inUse
            default: throw .unreadable(reason: error.message)
            }
        } catch {
            throw .unreadable(reason: "What it says of its service can't be read.")
        }
    }
}
