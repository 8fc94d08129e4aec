import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Other programs show a layer by the extent that the file tells of it.
@Suite("The extent that a file tells of a layer")
struct ToldExtentTests {
    private let folder: TemporaryFolder
    private let file: GeoPackageFile

    init() async throws {
        folder = try TemporaryFolder()
        file = try await GeoPackageStore.createFile(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
    }

    private func told() throws -> [Double] {
        var extent: [Double] = []
        let sql =
            "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = 'Trees' AND min_x IS NOT NULL"
        try file.source.open(.readOnly).run(sql, row: { row in extent = (0..<4).map { row.double($0) } })
        return extent
    }

    private func holds(_ x: Double, _ y: Double) throws -> Bool {
        let extent = try told()
        return extent.count == 4 && extent[0] <= x && extent[1] <= y && x <= extent[2] && y <= extent[3]
    }

    @Test("Features that are added and moved are in it, also where several edits share a transaction")
    func edits() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 1...20 {
                group.addTask {
                    let place = Double(client) * (client.isMultiple(of: 2) ? 100 : -100)
                    let added = try await file.apply(Samples.batch(adds: [Samples.tree("Acer", x: place, y: -place)]))
                    #expect(!added.hasErrors)
                }
            }
            try await group.waitForAll()
        }
        for (x, y) in [(-1_900.0, 1_900.0), (2_000.0, -2_000.0)] { #expect(try holds(x, y)) }
        let moved = FeatureEdit(
            objectID: 1, attributes: [], geometry: .geometry(Point(x: 9_000, y: 9_000, spatialReference: .webMercator)))
        #expect(try await !file.apply(Samples.batch(updates: [moved])).hasErrors)
        #expect(try holds(9_000, 9_000))
        await file.close()
    }

    @Test("In a transaction of several batches it holds what was committed")
    func transaction() async throws {
        try file.writer.begin()
        for place in [10.0, 500] {
            #expect(try await !file.apply(Samples.batch(adds: [Samples.tree("Acer", x: place, y: place)])).hasErrors)
        }
        try file.writer.end(keeps: true)
        #expect(try holds(10, 10) && holds(500, 500))
        await file.close()
    }
}
