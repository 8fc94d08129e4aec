public import FieldworkGeometry
import Foundation

/// Prepares areas of a web map for offline work, and looks after them: for the author of the map. The services make the files of the
/// features and keep them; the portal keeps an item of the area, and one that says which files it has. Not part of the vendor's API.
public struct MapAreaMaker: Sendable {
    /// What an area is called, and what of the map it has.
    public struct Order: Sendable {
        /// The title of its item.
        public var title: String
        /// A line about it.
        public var snippet = ""
        /// Words by which it is found.
        public var tags: [String] = []
        /// A polygon or an envelope.
        public var area: Geometry
        /// The scale from which on tiles come along, as a denominator; nil for that of the map.
        public var minScale: Double?
        /// The scale down to which tiles come along, as a denominator; nil for that of the map.
        public var maxScale: Double?

        /// An area with all that the map has there.
        public init(title: String, area: Geometry) { (self.title, self.area) = (title, area) }
    }

    /// What was made.
    public struct Outcome: Sendable {
        /// The item of the area.
        public var area: PortalItem.ID
        /// Its title.
        public var title: String
        /// Bytes of the files that are ready.
        public var size: Int64
        /// Services whose features are ready.
        public var services: Int
        /// Why layers of the map are not in the area.
        public var reasons: [String]
    }

    private let map: PortalItem
    /// Called with what is done, and how much of all is done by then, 0 to 1.
    private let progress: @Sendable (String, Double) -> Void

    /// Prepares areas of a web map, for its owner and administrators.
    /// - Parameters:
    ///   - map: the item of the map.
    ///   - progress: called with what is done, and how much of all is done by then, 0 to 1.
    public init(map: PortalItem, progress: @escaping @Sendable (String, Double) -> Void = { _, _ in }) {
        self.map = map
        self.progress = progress
    }

    private var portal: Portal { map.portal }
    private var environment: ServiceEnvironment { portal.environment }

    // MARK: Making

    /// Prepares an area. Where it fails, nothing is left of it. Throws what ``OfflineMapTask/load()`` throws,
    /// `CommonError.invalidArgument` where the item is no map, `CommonError.propertyNotSupported` where nothing of it can be prepared,
    /// `ServiceError` for what a service or the portal refuses.
    public func create(_ order: Order) async throws -> Outcome {
        try await map.load()
        guard map.kind == .webMap else {
            throw CommonError.invalidArgument(details: "\(map.title) is a \(map.typeName), and no web map.")
        }
        let user = try await author()
        let task = OfflineMapTask(portalItem: map)
        let plan = try await plan(order.area, order.minScale, order.maxScale, task)
        let id = Self.newID()
        do {
            progress("Adding the item of the area.", 0.05)
            try await addItem(id, of: user, order, task)
            let package = try await prepare(plan, order, task, area: id)
            do {
                let item = Self.newID()
                try await add(package, as: item, of: user, title: order.title, to: id)
                try await share([id, item], of: user)
                try await setStatus(.complete, of: id, owner: user)
            } catch {
                await cleaningUp { await end(package.parts) }
                throw error
            }
            progress("The area is ready.", 1)
            return try outcome(id, order.title, package)
        } catch {
            await cleaningUp { await removeItems(of: id, owner: user) }
            throw error
        }
    }

    /// Prepares an area anew, from what the services have now. The former files stay until the newer ones are ready. Throws
    /// like ``create(_:)``.
    public func update(_ area: PreplannedMapArea) async throws -> Outcome {
        try await map.load()
        let owner = try await author()
        try await area.read()
        guard let id = area.portalItem.id, let geometry = area.areaOfInterest else {
            throw CommonError.invalidArgument(details: "The area \(area.portalItem.title) does not say where it is.")
        }
        let former = try? await area.readPackage()
        let task = OfflineMapTask(portalItem: map)
        let title = area.portalItem.title
        var order = Order(title: title, area: geometry)
        (order.minScale, order.maxScale) = (former?.minScale, former?.maxScale)
        let plan = try await plan(geometry, order.minScale, order.maxScale, task)
        let package = try await prepare(plan, order, task, area: id.rawValue)
        let items = area.contentItems.filter { $0.typeName == PreplannedMapArea.packageType }
        do {
            var ids = [id.rawValue]
            if let item = items.first?.id {
                ids.append(item.rawValue)
                _ = try await portal.client.write(
                    place(owner, item.rawValue, "update"),
                    [("text", package.json.text), ("type", PreplannedMapArea.packageType)])
            } else {
                ids.append(Self.newID())
                try await add(package, as: ids[1], of: owner, title: title, to: id.rawValue)
            }
            try await share(ids, of: owner)
            try await setStatus(.complete, of: id.rawValue, owner: owner)
        } catch {
            await cleaningUp { await end(package.parts) }
            throw error
        }
        // From here on nobody begins with the former files; who is downloading them may come to the end.
        await cleaningUp { await end(former?.parts ?? []) }
        progress("The area is ready.", 1)
        return outcome(id, title, package)
    }

    /// Deletes an area. Crews that have it go on with what they have. Throws `ServiceError` for what the portal refuses.
    public func delete(_ area: PreplannedMapArea) async throws {
        try await map.load()
        let owner = try await author()
        try await area.read()
        guard let id = area.portalItem.id else { return }
        let package = try? await area.readPackage()
        for item in area.contentItems {
            guard let item = item.id else { continue }
            _ = try await portal.client.write(place(owner, item.rawValue, "delete"), [])
        }
        _ = try await portal.client.write(place(owner, id.rawValue, "delete"), [])
        await end(package?.parts ?? [])
    }

    // MARK: Files

    private func plan(
        _ area: Geometry, _ minScale: Double?, _ maxScale: Double?, _ task: OfflineMapTask
    ) async throws -> OfflineMapPlan {
        progress("Asking the services what can be prepared.", 0)
        let parameters = try await parameters(area, minScale, maxScale, task)
        guard let map = task.onlineMap else { throw MappingError.notLoaded(details: "The map is not loaded.") }
        let plan = try await OfflineMapPlanner(map: map, parameters: parameters, environment: environment).plan()
        let hasLayers = plan.parts.contains { if case .locator = $0.content { false } else { true } }
        guard hasLayers else {
            throw CommonError.propertyNotSupported(
                details: plan.refusals.first?.reason ?? "The map has nothing that can be taken offline.")
        }
        return plan
    }

    private func parameters(
        _ area: Geometry, _ minScale: Double?, _ maxScale: Double?, _ task: OfflineMapTask
    ) async throws -> GenerateOfflineMapParameters {
        let parameters = try await task.makeDefaultGenerateOfflineMapParameters(areaOfInterest: area)
        if let minScale { parameters.minScale = minScale }
        if let maxScale { parameters.maxScale = maxScale }
        // A file of tiles that people have on their devices is not the author's.
        parameters.referenceBasemapFilename = ""
        return parameters
    }

    /// Has each feature service make its file.
    private func prepare(
        _ plan: OfflineMapPlan, _ order: Order, _ task: OfflineMapTask, area: String
    ) async throws -> MapAreaPackage {
        let services = plan.parts.filter { if case .geodatabase = $0.content { true } else { false } }
        var size: Int64 = 0
        var ready: [OfflineMapPart] = []
        do {
            for (index, part) in services.enumerated() {
                guard case .geodatabase(let parameters) = part.content else { continue }
                progress(
                    "The features of \(part.source.deletingLastPathComponent().lastPathComponent).",
                    0.1 + 0.8 * Double(index) / Double(services.count))
                let id = environment.makeID()
                // Known before it is made: what is broken off is ended as well.
                ready.append(part)
                size += try await prepare(parameters, of: part.source, as: id, name: "area-\(area)")
            }
        } catch {
            await cleaningUp { [ready] in await end(ready) }
            throw error
        }
        let map = task.onlineMap
        return MapAreaPackage(
            plan: plan, minScale: order.minScale ?? map?.minScale ?? 0, maxScale: order.maxScale ?? map?.maxScale ?? 0,
            size: size, made: DeviceClock.now())
    }

    private func prepare(
        _ parameters: GenerateGeodatabaseParameters, of service: URL, as id: UUID, name: String
    ) async throws -> Int64 {
        let client = ReplicaClient(root: service, client: environment.client)
        let address: URL
        do {
            address = try await client.create(parameters.values, name: name, id: id, isPrepared: true)
        } catch {
            await cleaningUp { try? await client.unregister(id) }
            throw error
        }
        parameters.reference = id
        return try await JobPolling.wait {
            let status = try await client.status(at: address)
            return status.isFinished ? status.size ?? 0 : nil
        }
    }

    /// Ends the prepared replicas of files that nobody needs. One whose service does not answer expires by itself.
    private func end(_ parts: [OfflineMapPart]) async {
        for part in parts {
            guard let reference = part.reference else { continue }
            try? await ReplicaClient(root: part.source, client: environment.client).unregister(reference)
        }
    }

    /// What has to be done also by a task that was cancelled.
    private func cleaningUp(_ body: @escaping @Sendable () async -> Void) async { await Task { await body() }.value }

    // MARK: Items

    /// The owner of the map, among whose items the areas are. Throws `CommonError.noPermission` when nobody is signed in.
    private func author() async throws -> String {
        try await portal.load()
        guard portal.user != nil else {
            throw CommonError.noPermission(details: "Nobody is signed in to \(portal.url.absoluteString).")
        }
        return map.owner
    }

    private static func newID() -> String { UUID().uuidString.lowercased().filter { $0 != "-" } }

    private func place(_ owner: String, _ item: String, _ operation: String) -> [String] {
        ["content", "users", owner, "items", item, operation]
    }

    private func addItem(_ id: String, of owner: String, _ order: Order, _ task: OfflineMapTask) async throws {
        let document: JSONValue = ["area": GeoServicesJSON.json(for: order.area)]
        var form: [(name: String, value: String)] = [
            ("itemIdToCreate", id), ("type", PortalItem.Kind.mapArea.rawValue), ("title", order.title),
            ("snippet", order.snippet), ("tags", order.tags.joined(separator: ",")),
            ("typeKeywords", "Map Area,Offline,Map"), ("properties", #"{"status":"processing"}"#),
            ("text", document.text),
        ]
        if let box = GeometryEngine.project(order.area.extent, into: .wgs84) {
            form.append(("extent", [box.xMin, box.yMin, box.xMax, box.yMax].map { "\($0)" }.joined(separator: ",")))
        }
        _ = try await portal.client.write(["content", "users", owner, "addItem"], form)
        try await relate(map.id?.rawValue ?? "", to: id, .mapToArea, owner)
        // By this word clients find maps with areas.
        if !map.typeKeywords.contains("Offline") {
            _ = try await portal.client.write(
                place(owner, map.id?.rawValue ?? "", "update"),
                [("typeKeywords", (map.typeKeywords + ["Offline"]).joined(separator: ","))])
        }
    }

    private func add(
        _ package: MapAreaPackage, as id: String, of owner: String, title: String, to area: String
    ) async throws {
        _ = try await portal.client.write(
            ["content", "users", owner, "addItem"],
            [
                ("itemIdToCreate", id), ("type", PreplannedMapArea.packageType), ("title", title),
                ("typeKeywords", "Map Area Package,Offline,Fieldwork"), ("text", package.json.text),
            ])
        try await relate(area, to: id, .areaToPackage, owner)
    }

    private func relate(
        _ origin: String, to destination: String, _ relationship: PortalItem.Relationship, _ owner: String
    ) async throws {
        _ = try await portal.client.write(
            ["content", "users", owner, "addRelationship"],
            [
                ("originItemId", origin), ("destinationItemId", destination),
                ("relationshipType", relationship.rawValue),
            ])
    }

    /// Who sees the map sees its areas. What is in their files, the services say.
    private func share(_ items: [String], of owner: String) async throws {
        let groups = try await map.groups.map(\.id.rawValue)
        for id in items {
            _ = try await portal.client.write(
                place(owner, id, "share"),
                [
                    ("everyone", String(map.access == .everyone)),
                    ("org", String([.everyone, .organization].contains(map.access))), ("groups", ""),
                ])
            guard !groups.isEmpty else { continue }
            _ = try await portal.client.write(place(owner, id, "share"), [("groups", groups.joined(separator: ","))])
        }
    }

    private func setStatus(_ status: PreplannedMapArea.PackagingStatus, of id: String, owner: String) async throws {
        _ = try await portal.client.write(
            place(owner, id, "update"), [("properties", #"{"status":"\#(status.rawValue)"}"#)])
    }

    private func removeItems(of area: String, owner: String) async {
        let related = try? await portal.client.read(
            ["content", "items", area, "relatedItems"],
            [("relationshipType", PortalItem.Relationship.areaToPackage.rawValue), ("direction", "forward")])
        for item in related?["relatedItems"]?.arrayValue ?? [] {
            guard let id = item["id"]?.stringValue else { continue }
            _ = try? await portal.client.write(place(owner, id, "delete"), [])
        }
        _ = try? await portal.client.write(place(owner, area, "delete"), [])
    }

    private func outcome(_ id: String, _ title: String, _ package: MapAreaPackage) throws -> Outcome {
        guard let id = PortalItem.ID(id) else {
            throw ServiceError.unknown(details: "The portal gave the area no id.")
        }
        return outcome(id, title, package)
    }

    private func outcome(_ id: PortalItem.ID, _ title: String, _ package: MapAreaPackage) -> Outcome {
        Outcome(
            area: id, title: title, size: package.size, services: package.references.count,
            reasons: package.refusals.map(\.reason))
    }
}
