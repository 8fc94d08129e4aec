import Foundation
import Testing

/// What the house has too much of, counted. A number here may become smaller, never greater: whoever takes something away lowers
/// the number with it, and whoever needs more finds another way.
@Suite("Counts that only shrink")
struct RatchetTests {
    /// Compares what there is with what there may be.
    private static func compare(_ found: [String: Int], _ allowed: [String: Int], _ what: String) {
        for (name, count) in found.sorted(by: { $0.key < $1.key }) where count > allowed[name, default: 0] {
            Issue.record("\(name): \(count) \(what), of which \(allowed[name, default: 0]) may be")
        }
        for (name, count) in allowed.sorted(by: { $0.key < $1.key }) where count > found[name, default: 0] {
            Issue.record("\(name) has only \(found[name, default: 0]) \(what): lower the number in RatchetTests")
        }
    }

    private static func counts(_ files: [Source], _ count: (Source) -> Int) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: files.map { ($0.path, count($0)) }.filter { $0.1 > 0 })
    }

    /// Places that ask which database it is, where the dialect or the session should answer.
    private static let questions: [String: Int] = [
        "Sources/FieldworkStore/Attachments/AttachmentTables.swift": 2,
        "Sources/FieldworkStore/Attachments/BlobHandle.swift": 1,
        "Sources/FieldworkStore/Copying/CopiedFormerLayers.swift": 6,
        "Sources/FieldworkStore/Copying/FormerLayers.swift": 1,
        "Sources/FieldworkStore/Copying/ServiceCopier.swift": 3,
        "Sources/FieldworkStore/Copying/TableSuspension.swift": 3,
        "Sources/FieldworkStore/Definition/DeclaredIndexes.swift": 3,
        "Sources/FieldworkStore/Definition/DefinitionUpdate.swift": 2,
        "Sources/FieldworkStore/Definition/FieldChange.swift": 3,
        "Sources/FieldworkStore/Definition/LayerRemoval.swift": 1,
        "Sources/FieldworkStore/Edit/EditApplier.swift": 1,
        "Sources/FieldworkStore/Edit/LayerWriter+Adding.swift": 1,
        "Sources/FieldworkStore/GeoPackage/RelationshipViews.swift": 1,
        "Sources/FieldworkStore/GeoPackage/ServiceCatalogue.swift": 1,
        "Sources/FieldworkStore/PostgreSQL/PlacedLayer.swift": 1,
        "Sources/FieldworkStore/PostgreSQL/SQLDialect+Postgres.swift": 1,
        "Sources/FieldworkStore/Query/ExpressionCompiler.swift": 1,
        "Sources/FieldworkStore/Query/ExtentReader.swift": 1,
        "Sources/FieldworkStore/Query/QueryCompiler.swift": 2,
        "Sources/FieldworkStore/Query/RelatedCompiler.swift": 1,
        "Sources/FieldworkStore/Query/SQLDialect+Arrays.swift": 2,
        "Sources/FieldworkStore/Query/SQLDialect.swift": 1,
        "Sources/FieldworkStore/Query/StatisticsCompiler.swift": 3,
        "Sources/FieldworkStore/Records/RecordDatabase.swift": 3,
        "Sources/FieldworkStore/SQLite/ConnectionSource.swift": 1,
        "Sources/FieldworkStore/SQLite/StoreConnection.swift": 2,
    ]

    @Test("No further place asks whether the database is SQLite")
    func questions() throws {
        let files = try Source.files(under: "Sources")
        try #require(files.count > 500)
        let found = Self.counts(files) { file in
            file.lines.reduce(0) { $0 + $1.components(separatedBy: "isSQLite").count - 1 }
        }
        Self.compare(found, Self.questions, "mentions of isSQLite")
    }

    /// Files of the store, outside of the folder of PostgreSQL, that name its types or its catalogue.
    private static let postgres: [String: Int] = [
        "Sources/FieldworkStore/Attachments/AttachmentTables.swift": 1,
        "Sources/FieldworkStore/Copying/CopiedFormerLayers.swift": 6,
        "Sources/FieldworkStore/Copying/ServiceCopier.swift": 1,
        "Sources/FieldworkStore/Copying/TableSuspension.swift": 6,
        "Sources/FieldworkStore/Definition/DeclaredIndexes.swift": 3,
        "Sources/FieldworkStore/Definition/DefinitionUpdate.swift": 2,
        "Sources/FieldworkStore/Definition/FieldChange.swift": 3,
        "Sources/FieldworkStore/Definition/LayerRemoval.swift": 1,
        "Sources/FieldworkStore/Edit/LayerWriter+Adding.swift": 3,
        "Sources/FieldworkStore/GeoPackage/RelationshipViews.swift": 1,
        "Sources/FieldworkStore/Query/QueryCompiler.swift": 1,
        "Sources/FieldworkStore/Query/StatisticsCompiler.swift": 1,
        "Sources/FieldworkStore/Records/RecordDatabase.swift": 2,
        "Sources/FieldworkStore/ServiceStore+Attachments.swift": 1,
    ]

    @Test("PostgreSQL is named nowhere else in the store than it was")
    func postgres() throws {
        let files = try Source.files(under: "Sources/FieldworkStore").filter { $0.folder != "PostgreSQL" }
        try #require(files.count > 100)
        let found = Self.counts(files) { file in
            file.code.reduce(0) { sum, line in
                sum + line.components(separatedBy: "Postgres").count - 1
                    + line.components(separatedBy: "pg_catalog").count - 1
            }
        }
        Self.compare(found, Self.postgres, "mentions of PostgreSQL")
    }

    /// Declarations of the SDK that only this package's own programs can use, which an author can't.
    private static let packaged: [String: Int] = [
        "Sources/Fieldwork/ArcGISEnvironment.swift": 1,
        "Sources/Fieldwork/Authentication/ArcGISCredentialStore.swift": 2,
        "Sources/Fieldwork/Authentication/AuthenticationManager.swift": 1,
        "Sources/Fieldwork/Editing/ServiceGeodatabase+Directory.swift": 1,
        "Sources/Fieldwork/Editing/ServiceGeodatabase.swift": 1,
        "Sources/Fieldwork/Expressions/ExpressionEvaluator.swift": 10,
        "Sources/Fieldwork/Geocoding/GeocodeResult.swift": 2,
        "Sources/Fieldwork/Geocoding/LocatorDirectory.swift": 5,
        "Sources/Fieldwork/Jobs/GeodatabaseSyncTask.swift": 1,
        "Sources/Fieldwork/Jobs/SyncGeodatabaseJob.swift": 1,
        "Sources/Fieldwork/Jobs/SyncReport.swift": 12,
        "Sources/Fieldwork/Mapping/WebMap/WebMapDocument.swift": 7,
        "Sources/Fieldwork/Networking/ArcGISURLSession.swift": 1,
        "Sources/Fieldwork/Networking/Deadline.swift": 2,
        "Sources/Fieldwork/Networking/FeatureServiceDirectory.swift": 5,
        "Sources/Fieldwork/Networking/SendingProgress.swift": 15,
        "Sources/Fieldwork/Offline/FeatureDifference.swift": 15,
        "Sources/Fieldwork/Offline/GeodatabaseSummary.swift": 8,
        "Sources/Fieldwork/Offline/GeodatabaseUse.swift": 3,
        "Sources/Fieldwork/Tables/FeatureTable.swift": 1,
    ]

    @Test("The SDK has no further declarations that only its own package can use")
    func packaged() throws {
        let files = try Source.files(under: "Sources/Fieldwork")
        try #require(files.count > 100)
        let found = Self.counts(files) { file in
            file.code.count { line in
                let words = line.split(separator: " ").drop { $0.hasPrefix("@") }
                return words.first == "package" && words.dropFirst().first != "import"
            }
        }
        Self.compare(found, Self.packaged, "declarations with package")
    }

    /// Types of one name in several modules: a reader has to ask which is meant. `Limits` is meant to be in each.
    private static let twins: [String: Int] = [
        "Access": 2,
        "AccessPolicy": 2,
        "ArcadeProfile": 2,
        "AttachmentEdit": 2,
        "Basemap": 2,
        "DateText": 2,
        "EditResult": 2,
        "FeatureHistory": 2,
        "FeatureSet": 2,
        "FeatureTable": 2,
        "FieldType": 2,
        "FormValues": 2,
        "Item": 2,
        "MultipartForm": 2,
        "NumberText": 2,
        "Portal": 2,
        "PortalError": 2,
        "RelatedRecords": 2,
        "SQLExpression": 2,
        "SQLParser": 2,
        "ServiceError": 2,
        "ServiceRequest": 2,
        "SharedWork": 2,
        "TimeText": 2,
    ]

    @Test("No further name means two types")
    func twins() throws {
        var modules: [String: Set<String>] = [:]
        for file in try Source.files(under: "Sources") {
            for type in file.types where type != "Limits" { modules[type, default: []].insert(file.module) }
        }
        try #require(modules.count > 1_000)
        Self.compare(modules.mapValues(\.count).filter { $0.value > 1 }, Self.twins, "modules with a type of this name")
    }

    /// How many folders of a module lie on one circle: each of them needs, in the end, all the others.
    private static let circles: [String: Int] = [
        "Fieldwork": 17,
        "FieldworkArcade": 7,
        "FieldworkCollect": 8,
        "FieldworkCommand": 5,
        "FieldworkGeometry": 3,
        "FieldworkLocator": 4,
        "FieldworkPortal": 6,
        "FieldworkREST": 7,
        "FieldworkServer": 16,
        "FieldworkStore": 16,
    ]

    @Test("No further folder of a module gets onto the circle of those that need each other")
    func circles() throws {
        var found: [String: Int] = [:]
        for (module, files) in Dictionary(grouping: try Source.files(under: "Sources"), by: \.module) {
            found[module] = Self.largestCircle(files)
        }
        Self.compare(found.filter { $0.value > 1 }, Self.circles, "folders on one circle")
        let two = ["A", "B"].map { name in
            Source(
                path: "Sources/M/\(name)/\(name).swift",
                lines: ["struct \(name) { var other: [\(name == "A" ? "B" : "A")] }"])
        }
        #expect(Self.largestCircle(two) == 2, "the look itself sees a circle")
    }

    private static func largestCircle(_ files: [Source]) -> Int {
        var homes: [Substring: String] = [:]
        for file in files { for type in file.types { homes[Substring(type)] = file.folder } }
        var needs: [String: Set<String>] = [:]
        for file in files {
            for word in file.words {
                if let home = homes[word], home != file.folder { needs[file.folder, default: []].insert(home) }
            }
        }
        let reached = needs.mapValues { first in
            var all = first
            var next = Array(first)
            while let folder = next.popLast() {
                for further in needs[folder] ?? [] where all.insert(further).inserted { next.append(further) }
            }
            return all
        }
        let sizes = reached.keys.map { folder in
            reached.count { $0.key == folder || $0.value.contains(folder) && reached[folder]?.contains($0.key) == true }
        }
        return sizes.max() ?? 0
    }
}
