import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation

/// Makes packages of parts of basemaps: one after the other, on a thread of its own, so that requests go on.
actor TileExporter {
    private nonisolated let executor = QueueExecutor(label: "fieldwork.tiles.export")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let library: BasemapLibrary

    init(library: BasemapLibrary) { self.library = library }

    /// The part of a basemap that a request names. One that is too large is refused here, before any work is done.
    static func export(_ basemap: Basemap, _ parameters: RequestParameters) throws(ServiceError) -> TileExport {
        let request = try TileExportRequest(
            parameters, polygonName: basemap.isVector ? "polygon" : "areaOfInterest")
        let export = TileExport(
            of: basemap.package, title: basemap.title, coverage: request.coverage, levels: request.levels)
        guard export.places(most: Limits.exportedTiles) != nil else {
            throw .invalidParameter(
                "The area has more than \(Limits.exportedTiles) tiles at these levels. Ask for a smaller area or for fewer levels."
            )
        }
        return export
    }

    private func export(_ job: ServiceJob) throws -> TileExport {
        let name = job.service.name
        do {
            guard let basemap = try library.basemap(name) else {
                throw ServiceError.notFound("The basemap \(name) is gone.")
            }
            return try Self.export(basemap, RequestParameters(job.parameters))
        } catch let error as TileError {
            throw Self.told(error, name)
        }
    }

    private static func told(_ error: TileError, _ name: String) -> any Error {
        switch error.code {
        case .unwritable: StoreError.noRoom()
        case .unsupported: ServiceError.invalidParameter(error.message)
        default:
            ServiceError(code: 500, message: "The basemap \(name) can't be read.", details: [error.message])
        }
    }

    /// Counts the tiles of a part, and weighs some.
    func estimate(_ job: ServiceJob) throws -> TileExport.Estimate {
        do {
            return try export(job).estimate { try WorkAllowance.check() }
        } catch let error as TileError {
            throw Self.told(error, job.service.name)
        }
    }

    /// The ending of the name of a job's package.
    func fileExtension(_ job: ServiceJob) throws -> String { try export(job).fileExtension }

    /// Writes the package of a part.
    /// - Returns: how many tiles it has.
    func write(_ job: ServiceJob, to file: URL) throws -> Int {
        do {
            let export = try export(job)
            guard try export.estimate(step: { try WorkAllowance.check() }).bytes <= Limits.exportedBytes else {
                throw ServiceError.invalidParameter(
                    "The package would have more than \(Limits.exportedBytes >> 20) MB. Ask for a smaller area or for fewer levels."
                )
            }
            return try export.write(to: file) { _ in try WorkAllowance.check() }
        } catch let error as TileError {
            throw Self.told(error, job.service.name)
        }
    }
}
