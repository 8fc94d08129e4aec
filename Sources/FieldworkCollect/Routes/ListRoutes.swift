import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// The list: the map's equal for everyone who doesn't use the picture.
struct ListRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("list") { request, _ in
            let map = try await workspace.map()
            guard let first = map.listed.first else { throw CollectError(.notFound, "The map has no layers.") }
            return try await list(request, layer: first, map: map)
        }
        router.get("list/:layer") { request, context in
            let map = try await workspace.map()
            return try await list(request, layer: try context.layer(in: map), map: map)
        }
    }

    /// Which rows of a layer are listed, and in what order, as the address says it.
    struct Wanted {
        let text: String
        /// nil: by distance from the map's middle.
        let sort: Field?
        let isInView: Bool
        let start: Int
        /// Where the user stands; nil: distances are from the map's middle.
        let near: Place?
        let filter: ListFilter
        let groups: ListGroups
        /// Whether the form that narrows and sorts the list is open.
        let isChoosing: Bool

        init(_ request: Request, layer: MapLayer, hasView: Bool) {
            let query = request.uri.queryParameters
            isChoosing = query["choices"] == "open"
            text = query["q"].map { String($0).trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
            near = layer.geometry == nil ? nil : query["near"].flatMap { Self.place(String($0)) }
            let isPlaced = layer.geometry != nil && (hasView || near != nil)
            let first = ListRoutes.columns(layer).first { $0.name != layer.objectIDField }
            let asked = query["sort"].flatMap { layer.field(named: String($0)) }
            groups = ListGroups(request, layer: layer, columns: ListRoutes.columns(layer))
            // Groups have their order; within one the rows are in that of a field.
            sort = asked ?? (isPlaced && groups.field == nil ? nil : first ?? layer.field(named: layer.objectIDField))
            isInView = isPlaced && hasView && (near == nil ? query["scope"] != "all" : query["scope"] == "view")
            let from = max(0, query["start"].flatMap { Int($0) } ?? 0)
            // The nearest ones are looked for anew for each page.
            filter = ListFilter(request, layer: layer, columns: ListRoutes.columns(layer))
            start = sort == nil ? min(from, Limits.nearestRows - Limits.listRows) : from
        }

        /// `longitude,latitude` in degrees.
        private static func place(_ text: String) -> Place? {
            let numbers = text.split(separator: ",").compactMap { Double($0) }
            return numbers.count == 2 ? Place(longitude: numbers[0], latitude: numbers[1]) : nil
        }

        private var nearAddress: String {
            near.map { "&near=\(FeatureViews.degrees($0.longitude)),\(FeatureViews.degrees($0.latitude))" } ?? ""
        }

        /// Whether rows are left out by what they hold.
        var isNarrowed: Bool { filter.words != nil || !text.isEmpty }

        /// The same list without a filter.
        func bare(_ layer: MapLayer) -> String {
            "/list/\(layer.id)?sort=\(ChooseRoutes.escaped(sort?.name ?? "distance"))"
                + "&scope=\(isInView ? "view" : "all")\(groups.address)\(nearAddress)"
        }

        func address(_ layer: MapLayer, start: Int, page: String = "") -> String {
            "/list/\(layer.id)\(page)?q=\(ChooseRoutes.escaped(text))&sort=\(ChooseRoutes.escaped(sort?.name ?? "distance"))"
                + "&scope=\(isInView ? "view" : "all")&start=\(start)\(filter.address)\(groups.address)\(nearAddress)"
        }
    }

    private func list(_ request: Request, layer: MapLayer, map: OpenMap) async throws -> Response {
        let view = layer.geometry == nil ? nil : workspace.settings.view(of: map.key) ?? map.authoredView
        let wanted = Wanted(request, layer: layer, hasView: view != nil)
        var panel = panel(wanted, layer: layer, hasView: view != nil, map: map)
        do {
            let found = try await find(wanted, layer: layer, view: view, map: map)
            let (area, condition) = chosen(wanted, layer: layer, view: view)
            let headings = try await wanted.groups.headings(found.features) { group in
                let parameters = QueryParameters()
                parameters.geometry = area
                if area != nil { parameters.spatialRelationship = .envelopeIntersects }
                parameters.whereClause = [condition, group].compactMap(\.self).joined(separator: " AND ")
                return try await layer.table.queryFeatureCount(using: parameters)
            }
            await workspace.noteReachable(true)
            fill(&panel, with: found, headings: headings, wanted: wanted, layer: layer, map: map)
        } catch let error as CancellationError {
            throw error
        } catch {
            await workspace.noteReachable(false)
            panel.note = "The list didn't load: the server doesn't answer. Your edits are on this device."
        }
        return try await pages.respond(
            PageRenderer.Panel(panel, kind: "full", tab: "list", title: layer.name), to: request, map: map)
    }

    /// The panel without rows.
    private func panel(_ wanted: Wanted, layer: MapLayer, hasView: Bool, map: OpenMap) -> ListPanel {
        ListPanel(
            heading: layer.name, layer: layer.id,
            layers: map.listed.map { other in
                ListPanel.Layer(name: other.name, address: "/list/\(other.id)", current: other.id == layer.id)
            },
            nearest: layer.geometry == nil ? nil : "/list/\(layer.id)?sort=distance&scope=all",
            narrowed: wanted.isNarrowed,
            choose: wanted.address(layer, start: 0) + (wanted.isChoosing ? "" : "&choices=open"),
            chooseName: wanted.isNarrowed ? "Filter and sort, in use" : "Filter and sort",
            choices: wanted.isChoosing ? choices(wanted, layer: layer, hasView: hasView) : nil,
            firstColumn: layer.geometry == nil ? nil : "Distance", byDistance: wanted.sort == nil)
    }

    /// The form that narrows and sorts the list.
    private func choices(_ wanted: Wanted, layer: MapLayer, hasView: Bool) -> ListChoices {
        let distance =
            hasView || wanted.near != nil
            ? [FormOption(value: "distance", text: "Distance", current: wanted.sort == nil)] : []
        let fields = Self.columns(layer).map { FormOption($0, isCurrent: $0.name == wanted.sort?.name) }
        let scopes = [
            FormOption(value: "view", text: "On the map", current: wanted.isInView),
            FormOption(value: "all", text: "Everywhere", current: !wanted.isInView),
        ]
        let (filter, groups) = (wanted.filter, wanted.groups)
        return ListChoices(
            near: wanted.near.map { "\(FeatureViews.degrees($0.longitude)),\(FeatureViews.degrees($0.latitude))" },
            query: wanted.text, sorts: distance + fields, groups: groups.options, hasGroups: !groups.fields.isEmpty,
            scopes: scopes, hasScopes: hasView, only: filter.only, hasOnly: !filter.only.isEmpty,
            ranges: filter.ranges, hasRanges: !filter.ranges.isEmpty, rangeOpen: filter.isRanged,
            low: filter.lowText, high: filter.highText)
    }

    /// Where the rows of a list lie, and what they fulfil; nil for all.
    private func chosen(
        _ wanted: Wanted, layer: MapLayer, view: DeviceSettings.View?
    ) -> (area: Envelope?, condition: String?) {
        let area = wanted.isInView ? view.flatMap(NearbyList.envelope) : nil
        let names = Self.columns(layer).filter { $0.type == .text }.map(\.name)
        let search = wanted.text.isEmpty ? nil : "(\(ChooseRoutes.condition(wanted.text, fields: names)))"
        let conditions = [search, wanted.filter.condition].compactMap { $0 }
        return (area, conditions.isEmpty ? nil : conditions.joined(separator: " AND "))
    }

    func find(
        _ wanted: Wanted, layer: MapLayer, view: DeviceSettings.View?, map: OpenMap, limit: Int = Limits.listRows
    ) async throws -> FoundFeatures {
        let place = wanted.near ?? view.flatMap { Place(longitude: $0.lon, latitude: $0.lat) }
        let (area, condition) = chosen(wanted, layer: layer, view: view)
        guard let field = wanted.sort else {
            var found = try await map.nearest(
                layer, to: place, within: area, limit: wanted.start + limit, where: condition)
            found.features.removeFirst(min(wanted.start, found.features.count))
            return found
        }
        return try await map.sorted(
            layer, by: [wanted.groups.field, field].compactMap(\.self), from: wanted.start, limit: limit, within: area,
            where: condition, near: place)
    }

    private func fill(
        _ panel: inout ListPanel, with found: FoundFeatures, headings: [Int: RowView.GroupHead], wanted: Wanted,
        layer: MapLayer, map: OpenMap
    ) {
        let views = FeatureViews(map: map)
        let columns = Self.columns(layer)
        panel.columns = columns.map { field in
            ListPanel.Column(
                name: AttributeForm.label(field), number: Self.isNumber(field, of: layer),
                sorted: field.name == wanted.sort?.name)
        }
        let span = columns.count + (layer.geometry == nil ? 2 : 3)
        panel.rows = found.features.enumerated().map { index, feature in
            var row = views.row(feature, columns: columns)
            row.ways = views.ways(feature)
            row.groupHead = headings[index]
            row.groupHead?.span = span
            return row
        }
        panel.hasRows = !found.features.isEmpty
        let canChange = found.features.contains { layer.hasPopups && layer.table.canUpdate($0.feature) }
        panel.many = canChange ? wanted.address(layer, start: wanted.start, page: "/many") : nil
        panel.count = Self.count(found, layer: layer, wanted: wanted)
        panel.clear = wanted.isNarrowed ? wanted.bare(layer) : nil
        panel.empty = Self.empty(layer, wanted: wanted)
        let end = wanted.start + Limits.listRows
        let isLast = wanted.sort == nil && end >= Limits.nearestRows
        if end < found.count ?? 0, !isLast, !found.features.isEmpty {
            panel.next = wanted.address(layer, start: end)
        }
        if wanted.start > 0 {
            panel.previous = wanted.address(layer, start: max(0, wanted.start - Limits.listRows))
        }
    }

    /// What is said where no row is listed.
    private static func empty(_ layer: MapLayer, wanted: Wanted) -> String {
        let (name, place) = (layer.name.lowercased(), wanted.isInView ? " on the map" : "")
        if let words = wanted.filter.words { return "No \(name) with \(words)\(place)." }
        if wanted.text.isEmpty { return "No \(name)\(place)." }
        return "No \(name) match '\(wanted.text)'. Clear the text, or look everywhere."
    }

    /// "78 trees in the map's view, nearest to its middle first"
    private static func count(_ found: FoundFeatures, layer: MapLayer, wanted: Wanted) -> String {
        let total = found.count ?? found.features.count
        var shown = FieldText.count(total, layer.noun)
        if wanted.start > 0 {
            let last = FieldText.grouped(wanted.start + found.features.count)
            shown = "\(FieldText.grouped(wanted.start + 1)) to \(last) of \(shown)"
        } else if found.features.count < total {
            shown = "\(FieldText.grouped(found.features.count)) of \(shown)"
        }
        if let words = wanted.filter.words { shown += " with \(words)" }
        if !wanted.text.isEmpty { shown += " that match '\(wanted.text)'" }
        guard layer.geometry != nil else { return shown }
        let place = wanted.isInView ? " on the map" : ""
        if let sort = wanted.sort { return "\(shown)\(place), by \(AttributeForm.label(sort).lowercased())" }
        if wanted.near != nil { return "\(shown)\(place), nearest to you first" }
        return "\(shown)\(place), nearest to \(wanted.isInView ? "its" : "the map's") middle first"
    }

    /// The first telling fields, the naming one first.
    static func columns(_ layer: MapLayer) -> [Field] {
        if layer.popup != nil { return Array(layer.listedFields.prefix(6)) }
        var names: [String] = [layer.displayField, layer.choiceField].compactMap { $0 }
        names += layer.fields.filter { FeatureTitle.isTelling($0, of: layer) }.map(\.name)
        var seen: Set<String> = []
        let fields = names.filter { seen.insert($0.lowercased()).inserted }.compactMap { layer.field(named: $0) }
        let ids = layer.field(named: layer.objectIDField).map { [$0] } ?? []
        return Array((ids + fields.filter { FeatureTitle.isTelling($0, of: layer) }).prefix(6))
    }

    private static func isNumber(_ field: Field, of layer: MapLayer) -> Bool {
        switch field.type {
        case .int16, .int32, .int64, .float32, .float64, .oid:
            field.name != layer.choiceField && !(field.domain is CodedValueDomain)
        default: false
        }
    }
}
