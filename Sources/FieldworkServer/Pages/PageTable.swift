import FieldworkGeometry

/// The answer of an operation as a table of a page.
struct PageTable: Sendable, Hashable {
    var caption: String
    var columns: [String]
    var rows: [Row]

    struct Row: Sendable, Hashable {
        var cells: [String]
        var isFailure = false
    }

    /// What a query found.
    init(query answer: JSONValue) {
        let features = answer["features"]?.arrayValue
        var columns = (answer["fields"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        let names = columns
        // Statistics have geometries under names.
        let shapes = features?.first?["aggregateGeometries"]?.objectValue?.keys ?? []
        columns += shapes
        let hasGeometry = features?.contains { $0["geometry"] != nil } ?? false
        if hasGeometry { columns.append("Geometry") }
        self.columns = columns
        rows = (features ?? []).map { feature in
            var cells = names.map { Self.cell(feature["attributes"]?[$0]) }
            var geometries = shapes.map { feature["aggregateGeometries"]?[$0] }
            if hasGeometry { geometries.append(feature["geometry"]) }
            cells += geometries.map { String(Self.cell($0).prefix(Limits.pageGeometryCharacters)) }
            return Row(cells: cells)
        }
        if let count = answer["count"]?.integerValue {
            caption = "\(count) \(count == 1 ? "feature" : "features")"
        } else if features == nil {
            caption = answer.text
        } else {
            let isCut = answer["exceededTransferLimit"]?.boolValue == true
            caption =
                "\(rows.count) \(rows.count == 1 ? "feature" : "features")" + (isCut ? ", and there are more" : "")
        }
    }

    /// What became of the items of an edit.
    init(edit answer: JSONValue) {
        columns = ["Object id", "Global id", "Result"]
        rows = []
        for name in ["addResults", "updateResults", "deleteResults"] {
            for item in answer[name]?.arrayValue ?? [] {
                let isDone = item["success"]?.boolValue == true
                let trouble = "\(Self.cell(item["error"]?["code"])): \(Self.cell(item["error"]?["description"]))"
                rows.append(
                    Row(
                        cells: [Self.cell(item["objectId"]), Self.cell(item["globalId"]), isDone ? "done" : trouble],
                        isFailure: !isDone))
            }
        }
        let failures = rows.filter(\.isFailure).count
        caption =
            failures == 0
            ? "\(rows.count) \(rows.count == 1 ? "edit" : "edits") done" : "\(failures) of \(rows.count) edits failed"
    }

    private static func cell(_ value: JSONValue?) -> String {
        guard let value, !value.isNull else { return "" }
        return value.stringValue ?? value.text
    }
}

extension ServicesDirectory {
    func table(_ table: PageTable, in html: inout HTMLWriter) {
        html.element("<h2>", table.caption, "</h2>")
        guard !table.rows.isEmpty else { return }
        html.markup("<table><tr>")
        for column in table.columns { html.element("<th>", column, "</th>") }
        html.markup("</tr>")
        for row in table.rows {
            html.markup(row.isFailure ? "<tr class=\"failed\">" : "<tr>")
            for cell in row.cells { html.element("<td>", cell, "</td>") }
            html.markup("</tr>")
        }
        html.markup("</table>")
    }
}
