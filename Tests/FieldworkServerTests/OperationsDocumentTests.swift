import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// `Documentation/operations.md` against the running server.
@Suite("The table of operations", .fewAtATime)
struct OperationsDocumentTests {
    private static let text: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return (try? String(contentsOf: root.appending(path: "Documentation/operations.md"), encoding: .utf8)) ?? ""
    }()

    struct Parameter: Sendable, CustomTestStringConvertible {
        var operation: String
        var name: String
        var value: String
        /// Parameters beside which it is refused.
        var company = ""
        var testDescription: String { "\(operation) \(name)" }
    }

    /// The rows of a section: the cells of each, without those of its head.
    private static func rows(of section: String) -> [[String]] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("## \(section)") }) else { return [] }
        return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("|") }.dropFirst(2).map {
            $0.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    private static func names(in cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter {
            !$0.offset.isMultiple(of: 2)
        }
        .map { String($0.element) }
    }

    private static func parameters(_ operation: String, _ cell: String) -> [Parameter] {
        // `a`, `b` with `c`: the table says beside what they are refused.
        let parts = cell.components(separatedBy: " with ")
        let company =
            parts.count > 1 ? names(in: parts[1]).map { "&\($0)=\($0 == "time" ? "1" : statistics)" }.joined() : ""
        return names(in: parts[0]).map { name in
            let words = name.split(separator: "=", maxSplits: 1).map(String.init)
            return Parameter(
                operation: operation, name: words[0],
                value: words.count > 1 ? words[1] : words[0].hasPrefix("return") ? "true" : "1",
                company: company)
        }
    }

    private static let statistics = TestClient.escape(
        "[{\"statisticType\":\"count\",\"onStatisticField\":\"OBJECTID\",\"outStatisticFieldName\":\"n\"}]")

    private static let refused: [Parameter] = {
        var refused: [Parameter] = []
        for row in rows(of: "`query`") where row.last?.hasPrefix("refused") == true {
            refused += parameters("FeatureServer/0/query", row[0])
        }
        var operation = ""
        for row in rows(of: "The map service face") where row.count == 3 {
            operation = names(in: row[0]).first ?? operation
            if row[2].hasPrefix("refused") { refused += parameters("MapServer/\(operation)", row[1]) }
        }
        return refused
    }()

    @Test("The table names what is refused")
    func found() {
        #expect(Self.refused.contains { $0.operation == "MapServer/identify" && $0.name == "dynamicLayers" })
        #expect(Self.refused.contains { $0.operation == "FeatureServer/0/query" && $0.name == "gdbVersion" })
    }

    @Test("What the table lists as refused is refused, by name", arguments: refused)
    func isRefused(_ parameter: Parameter) async throws {
        try await TemporaryStore.serve(trees: 2) { server, _ in
            let base =
                "f=json&where=1%3D1&searchText=a&layers=all:0&geometry=0,0&tolerance=1&mapExtent=0,0,9,9&imageDisplay=9,9,96"
            let path = "Trees/\(parameter.operation)?\(base)&\(parameter.name)=\(parameter.value)\(parameter.company)"
            let answer = try await server.client.get(path)
            #expect(answer.errorCode == 400)
            #expect(answer.text.contains(parameter.name), "\(answer.text)")
        }
    }

    /// The parameters of `query` in the protocol's reference.
    private static let known = [
        "where", "objectIds", "globalIds", "geometry", "geometryType", "inSR", "spatialRel", "relationParam",
        "distance",
        "units", "time", "outFields", "returnGeometry", "maxAllowableOffset", "geometryPrecision", "outSR",
        "gdbVersion",
        "historicMoment", "returnDistinctValues", "returnIdsOnly", "returnCountOnly", "returnExtentOnly",
        "orderByFields", "groupByFieldsForStatistics", "outStatistics", "having", "returnZ", "returnM",
        "multipatchOption", "resultOffset", "resultRecordCount", "returnTrueCurves", "returnCentroid",
        "quantizationParameters", "sqlFormat", "returnExceededLimitFeatures", "datumTransformation", "resultType",
        "fullText", "cacheHint", "returnEnvelope", "maxRecordCountFactor", "uniqueIds", "timeRelation", "defaultSR",
        "returnUniqueIdsOnly", "sessionID", "timeReferenceUnknownClient", "lodType", "lod", "lodSR", "parameterValues",
        "rangeValues", "text", "returnAllRecords",
    ]

    @Test("Every parameter of a query stands in the table", arguments: known)
    func isListed(_ name: String) {
        let listed = Self.rows(of: "`query`").flatMap { Self.names(in: $0[0]) }.map {
            String($0.prefix { $0 != "=" })
        }
        #expect(listed.contains(name))
    }
}
