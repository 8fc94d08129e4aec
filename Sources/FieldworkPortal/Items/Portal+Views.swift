import FieldworkGeometry
package import FieldworkREST
import FieldworkStore

/// Views of services: what each shows is kept here, beside its item, whose sharing says who may see it.
extension Portal: ViewSource {
    package func views() async throws -> [String: ServiceView] {
        try await refresh()
        if let known = memory.views { return known }
        let round = memory.round
        let found = try await records.read { records in
            try records.rows("SELECT path, definition FROM {views}").map { ($0.text(0) ?? "", $0.text(1) ?? "") }
        }
        var views: [String: ServiceView] = [:]
        for (path, text) in found {
            // A view that can't be read is not there: better than one that shows more than it should.
            guard let json = try? JSONParser.parse(text), let view = ServiceView(storageJSON: json) else { continue }
            views[path] = view
        }
        memory.remember(views: views, round: round)
        return views
    }

    /// The view of a path, as it stands in the tables.
    package func view(_ path: String) async throws -> ServiceView? {
        try await records.read { try Self.view(path.lowercased(), $0) }
    }

    private static func view(_ key: String, _ records: Records) throws -> ServiceView? {
        guard let text = try records.row("SELECT definition FROM {views} WHERE path = ?", [.text(key)])?.text(0)
        else { return nil }
        guard let json = try? JSONParser.parse(text), let view = ServiceView(storageJSON: json) else {
            throw PortalError(.invalid, "The definition of the view \(key) can't be read.")
        }
        return view
    }

    /// Changes what a view shows. The caller has checked that whoever asks may see all of its source.
    /// - Returns: the view as it is now.
    @discardableResult
    package func changeView(
        _ path: String, by author: Author, _ body: @Sendable (inout ServiceView) throws -> Void
    ) async throws -> ServiceView {
        let moment = now
        return try await change { records in
            guard var view = try Self.view(path.lowercased(), records) else {
                throw PortalError(.notFound, "There is no view '\(path)'.")
            }
            let old = view
            try body(&view)
            guard view != old else { return view }
            // A view that showed nothing yet has given nothing to anybody.
            if !old.layers.isEmpty, view.layers != old.layers || view.source != old.source {
                view.changed = max(moment, old.changed + 1)
            }
            try Self.write(view, author, moment, records)
            return view
        }
    }

    static func write(_ view: ServiceView, _ author: Author, _ moment: Int64, _ records: Records) throws {
        let text = view.storageJSON.compactText
        try records.run(
            """
            INSERT INTO {views} (path, definition) VALUES (?, ?)
            ON CONFLICT (path) DO UPDATE SET definition = excluded.definition
            """, [.text(view.name.path.lowercased()), .text(text)])
        try note("view.change", view.name.path, text, author, moment, records)
    }

    /// Whether there has been a view of a path.
    static func wasView(_ path: String, _ records: Records) throws -> Bool {
        try records.row(
            "SELECT 1 FROM {audit} WHERE action = 'view.change' AND lower(target) = ? LIMIT 1",
            [.text(path.lowercased())]) != nil
    }

    /// - Returns: whether the service was a view.
    static func removeView(_ key: String, _ records: Records) throws -> Bool {
        try records.run("DELETE FROM {views} WHERE path = ?", [.text(key)]) > 0
    }
}
