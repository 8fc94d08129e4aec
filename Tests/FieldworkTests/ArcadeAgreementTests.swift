import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork
@testable import FieldworkStore

/// The service reads rows, the device reads features of its tables: both give the same to a script.
@Suite("Service and device agree on expressions", .fewAtATime)
struct ArcadeAgreementTests {
    private static let layer = LayerDefinition(
        id: 0, name: "Wells", geometryType: .point, spatialReference: .webMercator,
        fields: [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "GlobalID", type: .globalID, isEditable: false),
            FieldDefinition(name: "depth", type: .double), FieldDefinition(name: "rings", type: .smallInteger),
            FieldDefinition(name: "people", type: .bigInteger),
            FieldDefinition(name: "owner", type: .string, length: 40),
            FieldDefinition(name: "dug", type: .date), FieldDefinition(name: "seen", type: .dateOnly),
            FieldDefinition(name: "opens", type: .timeOnly), FieldDefinition(name: "pump", type: .guid, length: 38),
            FieldDefinition(name: "empty", type: .double),
        ], globalIDField: "GlobalID")

    /// Makes expressions by chance: the same seed makes the same ones.
    private struct Maker {
        var state: UInt64

        mutating func number(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }

        mutating func pick(_ words: [String]) -> String { words[number(below: words.count)] }

        mutating func expression(_ depth: Int) -> String {
            if depth == 0 || number(below: 5) == 0 {
                let fields = ArcadeAgreementTests.layer.fields.map { "$feature.\($0.name)" }
                return pick(fields + ["7", "-2.5", "'north 3'", "null", "true", "PI", "Geometry($feature).x", "Now()"])
            }
            let one = expression(depth - 1)
            switch number(below: 9) {
            case 0: return "(\(one) \(pick(["+", "-", "*", "/", "%"])) \(expression(depth - 1)))"
            case 1: return "(\(one) \(pick(["==", "!=", "<", ">="])) \(expression(depth - 1)))"
            case 2: return "IIf(\(one) == \(expression(depth - 1)), \(expression(depth - 1)), 'else')"
            case 3:
                return pick(["Text", "Number", "Upper", "Abs", "Round", "Sqrt", "Count", "IsEmpty", "TypeOf", "Trim"])
                    + "(\(one))"
            case 4: return pick(["Year", "Month", "Weekday", "Hour", "DateOnly", "Date", "Time"]) + "(\(one))"
            case 5: return "[\(one), \(expression(depth - 1))]"
            case 6: return "{a: \(one), 'b': \(expression(depth - 1))}"
            case 7: return "DefaultValue(\(one), \(expression(depth - 1)))"
            default: return "Left(\(one), \(number(below: 6))) + `${\(expression(depth - 1))}`"
            }
        }
    }

    @Test("Ten thousand expressions give the same value or the same error on both sides")
    func agreement() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-wells-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "wells.gpkg")
        let file = try await GeoPackageStore.createFile(
            at: url, definition: ServiceDefinition(name: ServiceName(name: "wells"), layers: [Self.layer]))
        let well = FeatureEdit(
            attributes: [
                ("depth", .real(12.75)), ("rings", .integer(9)), ("people", .integer(1_234_567_890_123)),
                ("owner", .text("Åse & Søn")), ("dug", .integer(1_577_923_445_678)), ("seen", .text("2024-02-29")),
                ("opens", .text("08:30:00")), ("pump", .text("{0A0B0C0D-1111-4222-8333-444455556666}")),
            ], geometry: .geometry(Point(x: 1_234.5, y: 2, spatialReference: .webMercator)))
        let batch = EditBatch(
            layers: [LayerEdits(layerID: 0, adds: [well])], moment: Date(timeIntervalSince1970: 1_700_000_000))
        #expect(try await file.apply(batch).layers[0].adds[0].isSuccess)
        let record = try #require(try await file.records(FeatureQuery(), in: 0).first)
        let arcade = ArcadeLayer(Self.layer)
        let served = AttributeRuleRun.feature(
            Self.layer.fields.map { record.attributes[$0.name] ?? .null }, try file.layer(0), record.geometry, arcade)
        await file.close()

        let geodatabase = Geodatabase(fileURL: url)
        try await geodatabase.load()
        let table = try #require(geodatabase.featureTable(named: "Wells"))
        let feature = try #require(
            try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
        let held = try #require(ArcadeSnapshot(feature, table, timeZone: .gmt).context.feature)

        var maker = Maker(state: 11)
        var values = 0
        for _ in 0..<10_000 {
            let text = maker.expression(4)
            let script = ArcadeScript(text, profile: .popup)
            func result(_ feature: ArcadeFeature) -> String {
                var context = ArcadeContext(profile: .popup, now: 1_700_000_000_000, seed: 5, feature: feature)
                context.spatialReference = .webMercator
                do throws(ArcadeError) {
                    let value = try script.value(context)
                    // NaN is not equal to itself: values are compared as they are written.
                    return "\(value.json.text) \(value.text)"
                } catch {
                    return "error: \(error)"
                }
            }
            let (one, other) = (result(served), result(held))
            #expect(one == other, "\(text)")
            if !one.hasPrefix("error") { values += 1 }
        }
        // Else this would only compare messages.
        #expect(values > 5_000)
        geodatabase.close()
    }

    private static let measured = ProcessInfo.processInfo.environment["FIELDWORK_ARCADE_COUNT"].flatMap(Int.init)

    /// Prints how long a count of filtered features takes beside the same SQL alone; `FIELDWORK_ARCADE_COUNT` names the rows.
    @Test(
        "Counting filtered features is one statement of the database",
        .enabled(if: measured != nil, "FIELDWORK_ARCADE_COUNT names no number of rows"))
    func counting() async throws {
        let rows = try #require(Self.measured)
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-wells-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "wells.gpkg")
        let file = try await GeoPackageStore.createFile(
            at: url, definition: ServiceDefinition(name: ServiceName(name: "wells"), layers: [Self.layer]))
        for start in stride(from: 0, to: rows, by: 10_000) {
            let wells = (start..<min(start + 10_000, rows)).map { index in
                FeatureEdit(
                    attributes: [("depth", .real(Double(index % 1_000))), ("rings", .integer(Int64(index % 7)))],
                    geometry: .geometry(Point(x: Double(index), y: 2, spatialReference: .webMercator)))
            }
            _ = try await file.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, adds: wells)], moment: Date.now, origin: .load))
        }
        let stored = try file.layer(0)
        await file.close()
        let geodatabase = Geodatabase(fileURL: url)
        try await geodatabase.load()
        let table = try #require(geodatabase.featureTable(named: "Wells"))
        let evaluator = ArcadeEvaluator(
            expression: ArcadeExpression(expression: "Count(Filter($layer, 'depth > 250 AND rings = 3'))"),
            profile: .popup)
        let connection = try StoreConnection(path: url.path, mode: .readOnly)
        let sql = "SELECT count(*) FROM \(quoted(stored.tableName)) WHERE depth > 250 AND rings = 3"
        var (plain, scripted): ([Duration], [Duration]) = ([], [])
        var counts: Set<Int> = []
        let clock = ContinuousClock()
        for _ in 0..<15 {
            plain.append(try clock.measure { counts.insert(Int(try connection.integer(sql) ?? -1)) })
            let start = clock.now
            let result = try await evaluator.evaluate(withProfileVariables: ["$layer": table])
            scripted.append(clock.now - start)
            counts.insert(Int(result.result(as: .double) as? Double ?? -2))
        }
        #expect(counts.count == 1)
        print("Count(Filter()) of \(rows) rows: least \(scripted.min() ?? .zero), median \(scripted.sorted()[7])")
        print("the same SQL alone: least \(plain.min() ?? .zero), median \(plain.sorted()[7])")
        geodatabase.close()
    }
}
