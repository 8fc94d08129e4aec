package import FieldworkGeometry
import FieldworkREST
package import Foundation

/// How a copy of a foreign GeoPackage is made one that a service can be made of.
package struct ForeignImportOptions: Sendable {
    /// The name of the layer, where the file has one.
    package var layerName: String?
    /// The reference of layers that name none.
    package var spatialReference: SpatialReference?
    /// Rows that can't be features are left out; else they are an error.
    package var skipsBadRows: Bool

    package init(
        layerName: String? = nil, spatialReference: SpatialReference? = nil, skipsBadRows: Bool = false
    ) {
        self.layerName = layerName
        self.spatialReference = spatialReference
        self.skipsBadRows = skipsBadRows
    }
}

/// What had to be changed in the copy, or left out.
package enum ForeignImportNotice: Sendable, Hashable {
    /// A table of several kinds of geometry became a layer of each.
    case split(table: String, into: [String])
    /// Curves became straight pieces.
    case straightened(table: String, count: Int)
    /// A table can't be a layer.
    case leftOut(table: String, reason: String)
    /// Rows were left out.
    case skipped(table: String, count: Int, reason: String)
}

/// Makes a copy of a GeoPackage that another program made fit for a service: each layer has one kind of geometry, of points,
/// lines and polygons alone, in a reference that is known. Throws `StoreError.invalidDefinition` with what to do.
struct ForeignImport {
    let connection: StoreConnection
    let options: ForeignImportOptions

    func run() throws -> [ForeignImportNotice] {
        var notices: [ForeignImportNotice] = []
        let tables = try ForeignFile.contents(on: connection)
        try connection.transaction {
            let layers = tables.filter { $0.geometryColumn != nil }
            if options.layerName != nil, tables.count != 1 {
                let names = tables.map(\.table).joined(separator: ", ")
                throw StoreError(
                    .invalidDefinition, "--layer names the layer of a file that has one; this one has: \(names).")
            }
            for content in tables where content.geometryColumn == nil {
                if try ForeignTable(content: content, id: 0, connection: connection).key() == nil {
                    notices.append(.leftOut(table: content.table, reason: Self.noKey))
                }
            }
            for content in layers { notices += try adapt(content) }
        }
        connection.forgetStatements()
        return notices
    }

    private static let noKey = "it has no key of whole numbers"

    private func adapt(_ content: ForeignTable.Content) throws -> [ForeignImportNotice] {
        guard let column = content.geometryColumn else { return [] }
        guard let key = try ForeignTable(content: content, id: 0, connection: connection).key() else {
            return [.leftOut(table: content.table, reason: Self.noKey)]
        }
        let reference = try reference(of: content, column: column, key: key)
        let survey = try ForeignSurvey(
            table: content.table, geometry: column, key: key, range: CoordinateRange(reference), on: connection)
        guard !survey.kinds.isEmpty else {
            // Of a table without a geometry its declaration tells the kind.
            if survey.unfit.isEmpty, ForeignTable.declaredKind(content.geometryType) != nil { return [] }
            let reason = survey.unfit.isEmpty ? "it has no geometry" : "its geometries are collections"
            return [.leftOut(table: content.table, reason: reason)]
        }
        var notices: [ForeignImportNotice] = []
        notices += try removeBadRows(survey, content.table, key)
        if !survey.curves.isEmpty {
            try straighten(survey.curves, content, column, key, reference)
            notices.append(.straightened(table: content.table, count: survey.curves.count))
        }
        let splitter = ForeignSplitter(content: content, column: column, key: key, connection: connection)
        if survey.kinds.count > 1 {
            let names = try splitter.split(survey.kinds, base: options.layerName ?? content.table)
            notices.append(.split(table: content.table, into: names))
        } else if let kind = survey.kinds.keys.first,
            ForeignTable.declaredKind(content.geometryType) != kind
                || !survey.curves.isEmpty
        {
            try splitter.declare(kind, of: content.table)
        }
        return notices
    }

    // MARK: References

    private func reference(of content: ForeignTable.Content, column: String, key: String) throws -> SpatialReference {
        let known = try SpatialReferenceTable.reference(id: content.srsID, on: connection)
        switch (known, options.spatialReference) {
        case (let known?, nil): return known
        case (let known?, let asked?):
            guard known == asked || known.latestWKID.map({ $0 == asked.latestWKID }) ?? false else {
                throw StoreError(
                    .invalidDefinition,
                    """
                    \(content.table) is in the spatial reference \(known.wkid.map { "\($0.rawValue)" } ?? "of its own"); --wkid \
                    names the one of files that have none. To transform the file: ogr2ogr -t_srs EPSG:… OUT.gpkg FILE
                    """)
            }
            return known
        case (nil, let asked?):
            try assign(asked, content, column, key)
            return asked
        case (nil, nil):
            throw StoreError(
                .invalidDefinition,
                """
                \(content.table) names no spatial reference. Say it with --wkid, such as --wkid 4326 for longitude and \
                latitude.
                """)
        }
    }

    private func assign(
        _ reference: SpatialReference, _ content: ForeignTable.Content, _ column: String, _ key: String
    ) throws {
        let id = try SpatialReferenceTable.id(of: reference, on: connection)
        for table in ["gpkg_contents", "gpkg_geometry_columns"] {
            try connection.run("UPDATE \(table) SET srs_id = ? WHERE table_name = ?") {
                try $0.bind(Int64(id), at: 1)
                try $0.bind(content.table, at: 2)
            }
        }
        try rewrite(content.table, column, key, nil) { GeometryBlob($0)?.renumbered(id) }
    }

    // MARK: Rows

    private func removeBadRows(_ survey: ForeignSurvey, _ table: String, _ key: String) throws -> [ForeignImportNotice]
    {
        var notices: [ForeignImportNotice] = []
        let hint =
            survey.looksSwapped
            ? "its coordinates are outside of its spatial reference; are x and y swapped?"
            : "its coordinates are outside of its spatial reference"
        let reasons = [(survey.unfit, "it is a collection of geometries, or none"), (survey.outside, hint)]
        for (rows, reason) in reasons where !rows.isEmpty {
            guard options.skipsBadRows else {
                let more =
                    rows.count > 1 ? " So it is with \(rows.count - 1) more \(rows.count == 2 ? "row" : "rows")." : ""
                throw StoreError(
                    .invalidDefinition,
                    """
                    Row \(rows[0]) of \(table) can't be a feature: \(reason).\(more) Nothing was published; \
                    --skip-bad-rows leaves such rows out.
                    """)
            }
            for row in rows {
                try connection.run("DELETE FROM \(quoted(table)) WHERE \(quoted(key)) = ?") { try $0.bind(row, at: 1) }
            }
            notices.append(.skipped(table: table, count: rows.count, reason: reason))
        }
        return notices
    }

    private func straighten(
        _ rows: [Int64], _ content: ForeignTable.Content, _ column: String, _ key: String, _ reference: SpatialReference
    ) throws {
        try rewrite(content.table, column, key, rows) { bytes in
            guard let blob = GeometryBlob(bytes) else { return nil }
            var reader = WKBCurveReader(bytes: blob.body)
            let geometry: Geometry?
            do throws(GeometryError) {
                geometry = try reader.geometry(spatialReference: reference)
            } catch {
                throw StoreError(
                    .invalidDefinition, "A curve of \(content.table) can't be read: \(error.details)")
            }
            return geometry.map { GeoPackageBinary.blob(for: $0, srsID: blob.srsID, isMulti: true) }
        }
    }

    /// Gives rows another form of their geometry.
    private func rewrite(
        _ table: String, _ column: String, _ key: String, _ rows: [Int64]?,
        _ body: (UnsafeRawBufferPointer) throws -> [UInt8]?
    ) throws {
        var keys = rows ?? []
        if rows == nil {
            try connection.run("SELECT \(quoted(key)) FROM \(quoted(table))", row: { keys.append($0.integer(0)) })
        }
        for id in keys {
            var bytes: [UInt8]?
            try connection.run(
                "SELECT \(quoted(column)) FROM \(quoted(table)) WHERE \(quoted(key)) = ?",
                bind: { try $0.bind(id, at: 1) }, row: { if !$0.isNull(0) { bytes = try body($0.blob(0)) } })
            guard let bytes else { continue }
            try connection.run("UPDATE \(quoted(table)) SET \(quoted(column)) = ? WHERE \(quoted(key)) = ?") { row in
                try bytes.withUnsafeBytes { try row.bind(blob: $0, at: 1) }
                try row.bind(id, at: 2)
            }
        }
    }
}

extension GeoPackageFile {
    /// Makes a copy of a GeoPackage that another program made fit to be prepared. A file that Fieldwork has prepared stays as
    /// it is. Throws `StoreError.invalidDefinition` with what to do where that can't be.
    package static func adapt(
        copy url: URL, _ options: ForeignImportOptions
    ) async throws -> [ForeignImportNotice] {
        try await OneTimeWorker().run {
            let connection = try StoreConnection(path: url.path, mode: .readWrite)
            guard try !ServiceCatalogue.exists(on: connection), try connection.hasTable("gpkg_contents") else {
                return []
            }
            return try ForeignImport(connection: connection, options: options).run()
        }
    }

    /// Tables of a prepared file that other programs show as layers and that the service does not have.
    package static func tablesWithoutLayer(in url: URL) async throws -> [String] {
        try await OneTimeWorker().run {
            let connection = try StoreConnection(path: url.path, mode: .readOnly)
            let layers = try ServiceCatalogue.read(from: connection).layers.values.map { $0.tableName.lowercased() }
            return try ForeignFile.contents(on: connection).map(\.table).filter {
                !layers.contains($0.lowercased()) && !$0.hasPrefix("fieldwork_")
            }
        }
    }
}

extension ForeignImportNotice {
    /// For a person.
    package var text: String {
        switch self {
        case .split(let table, let names):
            "\(table) mixes kinds of geometry: it became the layers \(names.joined(separator: ", "))"
        case .straightened(let table, let count):
            "\(table): the curves of \(count) \(count == 1 ? "feature" : "features") became straight pieces, \(GeometryLimits.curvePieces) an arc"
        case .leftOut(let table, let reason): "Left out \(table): \(reason)"
        case .skipped(let table, let count, let reason):
            "Skipped \(count) \(count == 1 ? "row" : "rows") of \(table): \(reason)"
        }
    }

    package var isSplit: Bool { if case .split = self { true } else { false } }

    /// Rows that were left out.
    package var skippedCount: Int {
        if case .skipped(_, let count, _) = self { count } else { 0 }
    }
}
