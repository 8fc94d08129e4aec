import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// Batches of several clients that are committed together.
@Suite("Batches that share a transaction", .fewAtATime)
struct SharedTransactionTests {
    @Test("Beside a batch that takes too long and ends the transaction, and one that fails, the others are taken")
    func tooLong() async throws {
        let folder = try TemporaryFolder()
        let file = try await GeoPackageStore.createFile(
            at: folder.url.appending(path: "Trees.gpkg"), definition: Samples.service)
        // An insert that SQLite is still at when its time is up: it then undoes the whole transaction.
        try file.source.open(.readWrite).execute(
            """
            CREATE TRIGGER long AFTER INSERT ON Trees WHEN NEW.species LIKE 'long%' BEGIN
                SELECT count(*) FROM fieldwork_state AS a, (SELECT 1 FROM (
                    WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000000) SELECT x FROM c));
            END
            """)
        let taken = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<24 {
                group.addTask {
                    let name = "\(["other", "fails", "long"][number % 3]) \(number)"
                    var adds = [Samples.tree(name)]
                    if number % 3 == 1 { adds.append(Samples.tree("refused", [("condition", .text("unheard of"))])) }
                    let allowance = number % 3 == 2 ? WorkAllowance(time: .milliseconds(20)) : nil
                    return try await WorkAllowance.$current.withValue(allowance) {
                        do {
                            return try await file.apply(Samples.batch(adds: adds)).hasErrors ? nil : name
                        } catch is StoreError {
                            return nil
                        }
                    }
                }
            }
            return try await group.reduce(into: [String]()) { names, name in name.map { names.append($0) } }
        }
        #expect(taken.sorted() == stride(from: 0, to: 24, by: 3).map { "other \($0)" }.sorted())
        #expect(try await file.count(FeatureQuery(), in: 0) == 8)
        await file.close()
    }
}
