import FieldworkGeometry
import FieldworkREST
import Foundation

/// Finds attachments of one layer.
struct AttachmentReader {
    let layer: StoredLayer
    let connection: StoreConnection
    let now: Int64

    private static let alias = "a"
    private var dialect: SQLDialect { connection.dialect }

    /// Attachments as a table, for the compiler of conditions. Its columns are those of the fields' names in small letters.
    private func attachments() throws -> StoredLayer {
        var definition = AttachmentFields.definition
        for index in definition.fields.indices {
            definition.fields[index].name = definition.fields[index].name.lowercased()
        }
        definition.objectIDField = definition.objectIDField.lowercased()
        definition.globalIDField = definition.globalIDField?.lowercased()
        return try StoredLayer(
            definition: definition, tableName: layer.attachmentTable, geometryColumn: nil, srsID: 0)
    }

    // MARK: Questions

    func page(_ query: AttachmentQuery) throws -> AttachmentPage {
        guard layer.definition.hasAttachments else { return AttachmentPage(attachments: [], hasMore: false) }
        let limit = min(query.limit ?? .max, FieldworkREST.Limits.attachmentsPerAnswer)
        var parts = try conditions(of: query)
        let order = try order(of: query, &parts)
        parts.arguments += [.value(.integer(Int64(limit) + 1)), .value(.integer(Int64(query.offset)))]
        let plan = plan(
            """
            SELECT a.attachmentid, a.globalid, a.base_id, \(parentGlobalID), a.att_name, a.content_type, a.data_size,
                a.keywords, a.related_id FROM \(source)\(parts.text)\(order) LIMIT ? OFFSET ?
            """, parts)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var found: [AttachmentInfo] = []
        while try statement.step() {
            if found.count >= limit { return AttachmentPage(attachments: found, hasMore: true) }
            var info = Self.info(statement)
            if query.returnsExif { info.exif = try exif(statement.integer(8)) }
            found.append(info)
        }
        return AttachmentPage(attachments: found, hasMore: false)
    }

    /// All attachments of a query with the rows of their contents, by their ids.
    func all(_ query: AttachmentQuery) throws -> [(info: AttachmentInfo, mediaRow: Int64)] {
        guard layer.definition.hasAttachments else { return [] }
        let parts = try conditions(of: query)
        let plan = plan(
            """
            SELECT a.attachmentid, a.globalid, a.base_id, \(parentGlobalID), a.att_name, a.content_type, a.data_size,
                a.keywords, a.related_id,
                (SELECT m.sha256 FROM \(AttachmentTables.media) AS m WHERE m.id = a.related_id)
            FROM \(source)\(parts.text) ORDER BY a.attachmentid
            """, parts)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var found: [(info: AttachmentInfo, mediaRow: Int64)] = []
        while try statement.step() {
            var info = Self.info(statement)
            info.sha256 = statement.optionalText(9)
            found.append((info, statement.integer(8)))
        }
        return found
    }

    /// How many of the attachments each feature has; features without any are left out. One more than an answer may hold
    /// tells that there are more.
    func counts(_ query: AttachmentQuery) throws -> [AttachmentCount] {
        guard layer.definition.hasAttachments else { return [] }
        let parts = try conditions(of: query)
        let plan = plan(
            """
            SELECT a.base_id, max(\(parentGlobalID)), count(*) FROM \(source)\(parts.text)
            GROUP BY a.base_id ORDER BY a.base_id LIMIT \(FieldworkREST.Limits.attachmentsPerAnswer + 1)
            """, parts)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var counts: [AttachmentCount] = []
        while try statement.step() {
            counts.append(
                AttachmentCount(
                    parentObjectID: statement.integer(0),
                    parentGlobalID: statement.optionalText(1).flatMap(GUID.parse), count: Int(statement.integer(2))))
        }
        return counts
    }

    /// One attachment of a feature and the row of its content; nil when there is none.
    func find(_ id: AttachmentIdentifier, of objectID: Int64?) throws -> (info: AttachmentInfo, mediaRow: Int64)? {
        guard layer.definition.hasAttachments else { return nil }
        let condition: (text: String, value: AttributeValue) =
            switch id {
            case .id(let id): ("a.attachmentid = ?1", .integer(id))
            case .globalID(let id): ("a.globalid = ?1", .text(GUID.normalForm(id)))
            }
        var found: (AttachmentInfo, Int64)?
        try connection.run(
            """
            SELECT a.attachmentid, a.globalid, a.base_id, \(parentGlobalID), a.att_name, a.content_type, a.data_size,
                a.keywords, a.related_id FROM \(source)
            WHERE \(condition.text)\(objectID == nil ? "" : " AND a.base_id = ?2")
            """,
            bind: {
                try $0.bind(condition.value, at: 1)
                if let objectID { try $0.bind(objectID, at: 2) }
            }, row: { found = (Self.info($0), $0.integer(8)) })
        return found
    }

    // MARK: Parts of a statement

    private struct Parts {
        var conditions: [String] = []
        var arguments: [QueryPlan.Argument] = []

        var text: String { conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ") }

        mutating func add(_ condition: String, _ values: AttributeValue...) {
            conditions.append(condition)
            arguments += values.map { .value($0) }
        }
    }

    private func plan(_ sql: String, _ parts: Parts) -> QueryPlan {
        QueryPlan(sql: sql, arguments: parts.arguments, columns: [], hasGeometry: false)
    }

    private var source: String {
        """
        \(quoted(layer.attachmentTable)) AS \(Self.alias) \
        JOIN \(quoted(layer.tableName)) AS f ON f.\(quoted(layer.objectIDColumn)) = a.base_id
        """
    }

    private var parentGlobalID: String { layer.globalIDColumn.map { "f.\(quoted($0))" } ?? "NULL" }

    private func conditions(of query: AttachmentQuery) throws -> Parts {
        var parts = Parts()
        if !query.features.isUnfiltered {
            let features = try QueryCompiler(layer: layer, connection: connection, now: now)
                .identifiers(query.features)
            // The first of the two columns that a list of features has.
            parts.conditions.append(
                "a.base_id IN (SELECT \(quoted(layer.objectIDColumn)) FROM (\(features.sql)) AS chosen)")
            parts.arguments += features.arguments
        }
        if let ids = query.ids {
            parts.add("a.attachmentid IN (\(dialect.integersOfArray))", Self.list(ids.map { .integer($0) }))
        }
        if let ids = query.globalIDs {
            parts.add(
                "a.globalid IN (\(dialect.textsOfArray))", Self.list(ids.map { .text(GUID.normalForm($0)) }))
        }
        if let types = query.contentTypes {
            let wanted = Self.list(types.map { .text($0) })
            parts.add(
                """
                (a.content_type IN (\(dialect.textsOfArray))
                OR substr(a.content_type, 1, \(dialect.position)(a.content_type, '/') - 1) IN (\(dialect.textsOfArray)))
                """, wanted, wanted)
        }
        if let sizes = query.sizes {
            parts.add("a.data_size BETWEEN ? AND ?", .integer(sizes.lowerBound), .integer(sizes.upperBound))
        }
        if let keywords = query.keywords {
            // Keywords stand in a list with commas; a whole one is meant, in any case.
            parts.add(
                """
                EXISTS (SELECT 1 FROM (\(dialect.textsOfArray)) AS k
                    WHERE \(dialect.position)(',' || replace(lower(a.keywords), ', ', ',') || ',',
                        ',' || lower(k.value) || ',') > 0)
                """, Self.list(keywords.map { .text($0) }))
        }
        if let condition = query.condition {
            var compiler = ExpressionCompiler(
                layer: try attachments(), dialect: dialect, alias: Self.alias, now: now)
            parts.conditions.append(try compiler.condition(condition))
            parts.arguments += compiler.arguments.map { .value($0) }
        }
        return parts
    }

    private static func list(_ values: [AttributeValue]) -> AttributeValue {
        .text(JSONValue.array(values.map(\.json)).text)
    }

    /// Without an order a feature's attachments stand together, the oldest first.
    private func order(of query: AttachmentQuery, _ parts: inout Parts) throws -> String {
        var compiler = ExpressionCompiler(layer: try attachments(), dialect: dialect, alias: Self.alias, now: now)
        var terms = try query.order.map { term in
            dialect.order(try compiler.orderTerm(term.expression), term.isDescending)
        }
        parts.arguments += compiler.arguments.map { .value($0) }
        terms += ["a.base_id", "a.attachmentid"]
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    // MARK: Rows

    private static func info(_ row: StoreStatement) -> AttachmentInfo {
        AttachmentInfo(
            id: row.integer(0), globalID: row.optionalText(1).flatMap(GUID.parse), parentObjectID: row.integer(2),
            parentGlobalID: row.optionalText(3).flatMap(GUID.parse), name: row.optionalText(4) ?? "",
            contentType: row.optionalText(5) ?? "", size: row.integer(6), keywords: row.optionalText(7) ?? "")
    }

    private func exif(_ mediaRow: Int64) throws -> [ExifGroup] {
        let blob = try BlobHandle(media: mediaRow, on: connection)
        return ExifReader.groups(in: try blob.read(0..<min(blob.count, FieldworkREST.Limits.exifBytes)))
    }
}
