import Fieldwork
import FieldworkTiles
import Foundation
import HTTPTypes
import Hummingbird

/// Taking an area offline: choosing it, and watching its download.
struct AreaRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("offline/new") { request, _ in
            let map = try await workspace.map()
            // The address may say which area is meant: what was chosen by its name.
            let asked = FormValues(pairs: request.uri.queryParameters.map { (String($0.key), String($0.value)) })
            let frame = Frame(asked)
            return try await choose(
                request, frame: frame ?? start(map), form: frame == nil ? nil : asked, error: nil, map: map)
        }
        router.post("offline/new") { request, _ in try await take(request) }
        router.post("data/area") { request, _ in
            let map = try await workspace.map()
            let form = try await FormValues.read(request)
            guard let frame = Frame(form) else { throw Self.noFrame }
            let growing = try form["extends"].flatMap { $0.isEmpty ? nil : $0 }.map(area)
            return try pages.part(try await counts(frame, growing: growing, map: map))
        }
        router.get("offline/:area/extend") { request, context in
            let map = try await workspace.map()
            let asked = FormValues(pairs: request.uri.queryParameters.map { (String($0.key), String($0.value)) })
            return try await choose(
                request, frame: Frame(asked), form: nil, error: nil, growing: try area(context), map: map)
        }
        router.post("offline/:area/extend") { request, context in
            try await extend(try area(context), request: request)
        }
        router.get("jobs/:area") { request, context in try await job(request, context) }
        router.post("jobs/:area/pause") { _, context in
            await workspace.downloads.pause(try id(context))
            return PageRenderer.redirect("/jobs/\(try id(context).uuidString.lowercased())")
        }
        router.post("jobs/:area/resume") { _, context in
            await workspace.downloads.resume(try id(context))
            return PageRenderer.redirect("/jobs/\(try id(context).uuidString.lowercased())")
        }
        router.post("jobs/:area/cancel") { _, context in
            if let growth = workspace.shelf.area(try id(context)), growth.extends != nil {
                try await workspace.cancelGrowth(growth)
            } else {
                // Of an area that was worked in a file may be missing, and come anew: what the others hold is not thrown away unasked.
                if let area = workspace.shelf.area(try id(context)),
                    try await OfflineRoutes(pages: pages).unsent(area) > 0
                {
                    return PageRenderer.redirect("/offline/\(area.text)/delete")
                }
                await workspace.areaBasemaps.forget(try id(context))
                try await workspace.downloads.cancel(try id(context))
                await workspace.areaBasemaps.tidy()
            }
            return PageRenderer.redirect("/offline")
        }
        router.post("jobs/:area/use") { _, context in
            if let growth = workspace.shelf.area(try id(context)), workspace.shelf.isHere(growth.id) {
                await workspace.finish(growth)
            }
            return PageRenderer.redirect("/jobs/\(try id(context).uuidString.lowercased())")
        }
    }

    private func id(_ context: CollectContext) throws -> UUID {
        guard let id = context.parameters.get("area").flatMap({ UUID(uuidString: $0) }) else {
            throw CollectError(.notFound, "There is no such page.")
        }
        return id
    }

    private func area(_ context: CollectContext) throws -> OfflineArea {
        try area(context.parameters.get("area") ?? "")
    }

    /// An area that the app took and that is listed on this device.
    private func area(_ text: String) throws -> OfflineArea {
        guard let area = UUID(uuidString: text).flatMap(workspace.shelf.area), area.extends == nil,
            area.held == nil
        else {
            throw CollectError(.notFound, "This area isn't on this device.")
        }
        return area
    }

    // MARK: Choosing

    /// The edges of an area in degrees.
    struct Frame: Sendable, Hashable {
        var west: Double
        var south: Double
        var east: Double
        var north: Double

        init(west: Double, south: Double, east: Double, north: Double) {
            (self.west, self.south, self.east, self.north) = (west, south, east, north)
        }

        /// nil for edges that enclose nothing, or that the map's plane doesn't hold.
        init?(_ form: FormValues) {
            guard let west = form.number("west"), let south = form.number("south"), let east = form.number("east"),
                let north = form.number("north"), west < east, south < north, abs(west) <= 180, abs(east) <= 180,
                abs(south) <= WebMercator.greatestLatitude, abs(north) <= WebMercator.greatestLatitude
            else { return nil }
            (self.west, self.south, self.east, self.north) = (west, south, east, north)
        }

        /// What a view shows, without its margins.
        init(view: DeviceSettings.View) {
            let (x, y) = ((view.east - view.west) * 0.12, (view.north - view.south) * 0.12)
            west = max(view.west + x, -180)
            east = min(view.east - x, 180)
            south = max(view.south + y, -WebMercator.greatestLatitude)
            north = min(view.north - y, WebMercator.greatestLatitude)
        }

        /// Holds an area too.
        func holding(_ area: OfflineArea?) -> Frame {
            guard let area else { return self }
            return Frame(
                west: min(west, area.west), south: min(south, area.south), east: max(east, area.east),
                north: max(north, area.north))
        }

        var envelope: Envelope {
            Envelope(
                xMin: WebMercator.x(longitude: west), yMin: WebMercator.y(latitude: south),
                xMax: WebMercator.x(longitude: east), yMax: WebMercator.y(latitude: north),
                spatialReference: .webMercator)
        }
    }

    private static let noFrame = CollectError(
        .badForm, "These edges enclose no area of the map.",
        nextStep: "West is less than east, south less than north; all are degrees.")

    /// Where the frame stands at first: on what the map shows, else on all of it.
    private func start(_ map: OpenMap) -> Frame {
        if let view = workspace.settings.view(of: map.key) { return Frame(view: view) }
        guard let whole = map.whole, whole.count == 4, whole[0] < whole[2], whole[1] < whole[3] else {
            return Frame(west: -180, south: -80, east: 180, north: 80)
        }
        return Frame(west: whole[0], south: whole[1], east: whole[2], north: whole[3])
    }

    private func choose(
        _ request: Request, frame asked: Frame?, form: FormValues?, error: String?, growing: OfflineArea? = nil,
        map: OpenMap
    ) async throws -> Response {
        if map.offline != nil {
            throw CollectError(
                .notAllowed, "An area is taken from the map of the server.", nextStep: "Go online first.")
        }
        if let problem = OfflineRoutes.obstacle(map) { throw CollectError(.notAllowed, problem) }
        let degrees = { (value: Double) in FeatureViews.degrees((value * 1e6).rounded() / 1e6) }
        let count = await workspace.areas(of: map).count
        let own = growing.map { Frame(west: $0.west, south: $0.south, east: $0.east, north: $0.north) }
        let frame = (asked ?? own ?? start(map)).holding(growing)
        let heading = growing.map { "Extend \($0.name)" } ?? "Take an area offline"
        // A frame that was chosen by name is brought onto the map.
        let isNamed = error == nil && (form != nil || growing != nil)
        let panel = AreaNewPanel(
            heading: heading, action: growing.map { "/offline/\($0.text)/extend" } ?? "/offline/new",
            extends: growing?.text,
            name: growing?.name ?? form?["name"] ?? (count == 0 ? "Area" : "Area \(count + 1)"),
            nameLimit: Limits.areaName, error: error, session: form?["session"] ?? UUID().uuidString,
            prepared: form?["prepared"],
            counts: try await counts(frame, growing: growing, map: map),
            placeSearch: growing == nil ? try await placeSearch(request, map: map) : nil,
            whole: map.whole.map { $0.map { "\($0)" }.joined(separator: ",") },
            fit: isNamed ? "\(frame.west),\(frame.south),\(frame.east),\(frame.north)" : nil,
            north: form?["north"] ?? degrees(frame.north), south: form?["south"] ?? degrees(frame.south),
            west: form?["west"] ?? degrees(frame.west), east: form?["east"] ?? degrees(frame.east))
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "side", tab: "offline", title: heading, status: error == nil ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    /// The search for a place by its name, and what it found; nil for a map that has none.
    private func placeSearch(_ request: Request, map: OpenMap) async throws -> AreaNewPanel.PlaceSearch? {
        let places = await AreaPlaces(map: map)
        guard places.isAny else { return nil }
        let text = request.uri.queryParameters["place"].map(String.init) ?? ""
        let found = try await places.found(text)
        let digits = { (value: Double) in FeatureViews.degrees((value * 1e6).rounded() / 1e6) }
        return AreaNewPanel.PlaceSearch(
            place: text,
            noPlace: !text.isEmpty && found.isEmpty ? "No place of this map is called '\(text)'." : nil,
            places: found.enumerated().map { index, place in
                let frame = place.frame
                return AreaNewPanel.NamedPlace(
                    // What was looked for has the focus, and is brought into sight: the panel is longer than a screen.
                    isFirst: !text.isEmpty && index == 0, name: place.name, kind: place.kind,
                    address: "/offline/new?west=\(digits(frame.west))&south=\(digits(frame.south))"
                        + "&east=\(digits(frame.east))&north=\(digits(frame.north))"
                        + "&name=\(ChooseRoutes.escaped(String(place.name.prefix(Limits.areaName))))"
                        + (place.prepared.map { "&prepared=\($0)" } ?? ""))
            })
    }

    /// How many features of each layer an area holds, and about how large its file will be.
    /// - Parameter growing: the area that is to be extended, which the frame holds too.
    private func counts(_ frame: Frame, growing: OfflineArea?, map: OpenMap) async throws -> AreaCountsView {
        let frame = frame.holding(growing)
        var rows: [AreaCountsView.Layer] = []
        var total = 0
        var bytes = AreaEstimate.emptyBytes
        for layer in map.listed where layer.geometry != nil {
            let parameters = QueryParameters()
            parameters.geometry = frame.envelope
            parameters.spatialRelationship = .envelopeIntersects
            let count = try await layer.table.queryFeatureCount(using: parameters)
            total += count
            bytes += Double(count) * (try await Self.mean(of: layer, count: count, parameters: parameters))
            rows.append(AreaCountsView.Layer(name: layer.name, count: FieldText.grouped(count)))
        }
        let basemap = await workspace.movableBasemap(of: map)
        if let basemap {
            // The time of its asking doesn't keep the counts back for long.
            let known = await workspace.areaBasemaps.estimate(basemap, area: frame.envelope)
            bytes += Double(known ?? 0)
            rows.append(AreaCountsView.Layer(name: "Basemap", count: Self.basemapText(known)))
        }
        let size = OfflineArea.size(west: frame.west, south: frame.south, east: frame.east, north: frame.north)
        return AreaCountsView(
            says: "Area \(size), \(FieldText.count(total, "feature")), about \(ByteText.whole(Int64(bytes))).",
            total: FieldText.count(total, "feature"), bytes: "about \(ByteText.whole(Int64(bytes)))", size: size,
            free: workspace.shelf.freeBytes.map { "\(ByteText.whole($0)) free here" },
            overlaps: growing == nil ? await overlaps(frame, map: map) : [], layers: rows,
            photos: map.listed.contains(where: \.hasPhotos) ? "plus photos and files" : nil,
            tables: map.tables.isEmpty ? nil : map.tables.map(\.name).joined(separator: ", "),
            missing: map.failures.isEmpty
                ? nil : map.failures.map { "\($0.name): \($0.reason)" }.joined(separator: " "))
    }

    private static func basemapText(_ bytes: Int64?) -> String {
        switch bytes {
        case nil: "size not known"
        case 0?: "on this device already"
        case let bytes?: "about \(ByteText.whole(bytes))"
        }
    }

    /// The areas that hold some of a frame already, each with the way to extend it.
    private func overlaps(_ frame: Frame, map: OpenMap) async -> [AreaCountsView.Overlap] {
        let digits = { (value: Double) in FeatureViews.degrees((value * 1e6).rounded() / 1e6) }
        let shelf = workspace.shelf
        return await workspace.areas(of: map).filter {
            $0.held == nil && $0.overlaps(frame) && shelf.isHere($0.id) && shelf.growth(of: $0) == nil
        }.prefix(Limits.offeredExtensions).map { area in
            AreaCountsView.Overlap(
                name: area.name,
                address: "/offline/\(area.text)/extend?west=\(digits(frame.west))&south=\(digits(frame.south))"
                    + "&east=\(digits(frame.east))&north=\(digits(frame.north))")
        }
    }

    /// Bytes of the mean feature of a layer in an area, by a sample.
    private static func mean(of layer: MapLayer, count: Int, parameters: QueryParameters) async throws -> Double {
        guard count > 0 else { return 0 }
        parameters.maxFeatures = Limits.estimatedFeatures
        let sample = try await layer.table.features(parameters, .loadAll)
        return AreaEstimate.mean(of: Array(sample.features()))
    }

    // MARK: Taking

    private func take(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let name = (form["name"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard let frame = Frame(form) else {
            return try await choose(
                request, frame: start(map), form: form, error: Self.noFrame.description, map: map
            )
        }
        guard !name.isEmpty, name.count <= Limits.areaName else {
            let error =
                name.isEmpty ? "Give the area a name." : "The name is longer than \(Limits.areaName) characters."
            return try await choose(request, frame: frame, form: form, error: error, map: map)
        }
        if map.offline != nil || OfflineRoutes.obstacle(map) != nil {
            return try await choose(request, frame: frame, form: form, error: nil, map: map)
        }
        // The same form posted twice takes one area.
        let id = form["session"].flatMap { UUID(uuidString: $0) } ?? UUID()
        if workspace.shelf.area(id) == nil {
            let services = services(of: map)
            guard let service = services.first else {
                throw CollectError(.notAllowed, "This map has no service to take it from.")
            }
            let area = OfflineArea(
                id: id, name: name, mapKey: map.key, mapTitle: map.title, service: service,
                furtherServices: services.count > 1 ? Array(services.dropFirst()) : nil, west: frame.west,
                south: frame.south, east: frame.east, north: frame.north, made: Date())
            try await workspace.downloads.start(
                area, webMap: map.webMapDocument, prepared: await prepared(form["prepared"], frame, map))
            await workspace.takeLocator(along: area, of: map)
            await workspace.takeBasemap(along: area, of: map)
        }
        return PageRenderer.redirect("/jobs/\(id.uuidString.lowercased())")
    }

    /// The area that was chosen by its name among those that the map's author has prepared; nil where others were chosen, or the frame was
    /// moved since.
    private func prepared(_ id: String?, _ frame: Frame, _ map: OpenMap) async -> PreplannedMapArea? {
        guard let id, !id.isEmpty else { return nil }
        return await map.preparedAreas.first { area in
            let own = area.portalItem.extent.flatMap { Frame(extent: $0) }
            return area.portalItem.id?.rawValue == id && own?.isSame(as: frame) == true
        }
    }

    /// Takes a larger area, which takes the place of the one that it extends once it is whole.
    private func extend(_ area: OfflineArea, request: Request) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        if let growth = workspace.shelf.growth(of: area) { return PageRenderer.redirect("/jobs/\(growth.text)") }
        guard let frame = Frame(form)?.holding(area) else {
            return try await choose(
                request, frame: nil, form: form, error: Self.noFrame.description, growing: area, map: map)
        }
        guard workspace.shelf.isHere(area.id), area.mapKey == map.key else {
            return try await choose(request, frame: frame, form: form, error: nil, growing: area, map: map)
        }
        guard frame != Frame(west: area.west, south: area.south, east: area.east, north: area.north) else {
            return try await choose(
                request, frame: frame, form: form, error: "\(area.name) holds all of this already.", growing: area,
                map: map)
        }
        // Later than what it extends, whatever the clock says: the latest is what counts.
        let since = (area.holder.flatMap(workspace.shelf.area) ?? area).made
        let id = form["session"].flatMap { UUID(uuidString: $0) } ?? UUID()
        if workspace.shelf.area(id) == nil {
            let larger = OfflineArea(
                id: id, name: area.name, mapKey: area.mapKey, mapTitle: area.mapTitle, service: area.service,
                furtherServices: area.furtherServices, west: frame.west, south: frame.south, east: frame.east,
                north: frame.north, made: max(Date(), since.addingTimeInterval(0.001)), extends: area.id)
            try await workspace.downloads.start(larger)
            await workspace.takeLocator(along: larger, of: map)
            await workspace.takeBasemap(along: larger, of: map)
        }
        return PageRenderer.redirect("/jobs/\(id.uuidString.lowercased())")
    }

    /// The services whose features a map shows, by the addresses that it has for them.
    private func services(of map: OpenMap) -> [URL] {
        if map.address.isService { return [map.url] }
        var seen: Set<ObjectIdentifier> = []
        return (map.layers + map.tables).compactMap { layer in
            guard let table = layer.table as? ServiceFeatureTable, let geodatabase = table.serviceGeodatabase,
                let url = table.url, seen.insert(ObjectIdentifier(geodatabase)).inserted
            else { return nil }
            return url.deletingLastPathComponent()
        }
    }

    // MARK: The download

    private static func steps(_ report: AreaDownloads.Report) -> [JobPanel.Step] {
        report.steps.enumerated().map { index, text in
            let isDone = index + 1 < report.steps.count || report.hundredths == 100
            return JobPanel.Step(text: text, isDone: isDone, icon: isDone ? "i-check" : "i-take")
        }
    }

    /// How far the basemap of an area is; nil where none is on its way.
    private func basemapText(_ area: OfflineArea) async -> String? {
        guard workspace.shelf.awaitsBasemap(area.id) else { return nil }
        if let obstacle = await workspace.areaBasemaps.obstacle(area.id) { return obstacle }
        guard let arrived = await workspace.areaBasemaps.arrived(area.id) else {
            return "The basemap comes after the features. The area can be used before it is here."
        }
        return "The basemap: \(ByteText.part(arrived.there, of: arrived.whole))."
    }

    private func job(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        guard let area = workspace.shelf.area(try id(context)),
            let report = await workspace.downloads.report(area.id)
        else {
            throw CollectError(.notFound, "This area isn't on this device.", nextStep: "Its download was cancelled.")
        }
        return try await pages.respond(
            PageRenderer.Panel(
                await panel(area, report), kind: "side", tab: "offline", title: area.name), to: request, map: map)
    }

    private func panel(_ area: OfflineArea, _ report: AreaDownloads.Report) async -> JobPanel {
        let shelf = workspace.shelf
        // The area that is larger now.
        let extended = report.phase == .done ? area.extends.flatMap(shelf.area) : nil
        var panel = JobPanel(
            id: area.text, name: (extended ?? area).name,
            about: report.phase == .done
                ? "\(area.size) · \(ByteText.whole(shelf.size(area.id) + shelf.basemapSize(area.id)))"
                : "Taking the area offline",
            hundredths: report.hundredths, sofar: OfflineRoutes.progress(report),
            left: report.secondsLeft.map(TimeText.left), steps: Self.steps(report),
            outline: "\(area.west),\(area.south),\(area.east),\(area.north)",
            goOn: area.extends == nil
                ? "Offline work begins when all is here." : "\(area.name) is in use as it is until all is here.",
            basemap: await basemapText(area))
        switch report.phase {
        case .running: panel.running = true
        case .paused: panel.paused = true
        case .failed(let reason): panel.failed = reason
        case .done where area.extends == nil:
            panel.done = JobPanel.Done(text: "\(area.name) is on this device.", area: area.text)
        case .done:
            if let extended, extended.holder == area.id {
                panel.done = JobPanel.Done(
                    text: "\(extended.name) is larger now. What was not sent before was sent.", area: extended.text)
            } else {
                panel.waits = await workspace.note(on: area)
                panel.running = panel.waits == nil
            }
        }
        return panel
    }
}
