import FieldworkGeometry
import Foundation

/// What the package of a preplanned area says of itself: the files of the area and where each comes from. It has no features: those
/// the services give, each to the people who may read it.
struct MapAreaPackage: Sendable {
    private static let format = "fieldwork-map-area"
    private static let version: Int64 = 1

    var parts: [OfflineMapPart]
    /// What of the map could not be prepared.
    var refusals: [OfflineMapRefusal]
    var minScale: Double
    var maxScale: Double
    /// Bytes of the files that are ready.
    var size: Int64
    var made: Date

    var json: JSONValue {
        [
            "format": .string(Self.format), "version": .integer(Self.version),
            "parts": .array(parts.map(\.json)), "refusals": .array(refusals.map(\.json)),
            "minScale": .number(minScale), "maxScale": .number(maxScale), "size": .integer(size),
            "made": .number((made.timeIntervalSince1970 * 1_000).rounded()),
        ]
    }

    init(plan: OfflineMapPlan, minScale: Double, maxScale: Double, size: Int64, made: Date) {
        (parts, refusals) = (plan.parts, plan.refusals)
        (self.minScale, self.maxScale, self.size, self.made) = (minScale, maxScale, size, made)
    }

    /// Throws `MappingError.noPackageItem` for what is no package of ours.
    init(_ json: JSONObject, title: String) throws {
        guard json["format"]?.stringValue == Self.format else {
            throw MappingError.noPackageItem(
                details: "The package of the area \(title) is in another server's format and can't be read.")
        }
        guard json["version"]?.integerValue == Self.version else {
            throw MappingError.noPackageItem(
                details: "The package of the area \(title) is of a later version. Update Fieldwork to download it.")
        }
        parts = try (json["parts"]?.arrayValue ?? []).map { try OfflineMapPart(json: $0) }
        refusals = (json["refusals"]?.arrayValue ?? []).compactMap { OfflineMapRefusal(json: $0) }
        minScale = json["minScale"]?.doubleValue ?? 0
        maxScale = json["maxScale"]?.doubleValue ?? 0
        size = json["size"]?.integerValue ?? 0
        made = Date(timeIntervalSince1970: (json["made"]?.doubleValue ?? 0) / 1_000)
    }

    /// The prepared replicas that the files are of.
    var references: Set<UUID> { Set(parts.compactMap(\.reference)) }

    /// What a device brings of it.
    func plan(_ parameters: DownloadPreplannedOfflineMapParameters, of map: Map) throws -> OfflineMapPlan {
        var plan = OfflineMapPlan()
        // Parameters are objects: each download has its own.
        plan.parts = try parts.map { try OfflineMapPart(json: $0.json) }.filter { part in
            guard !parameters.includesBasemap else { return true }
            switch part.content {
            case .vectorTiles, .tiles, .referenceBasemap: return false
            case .geodatabase, .locator: return true
            }
        }
        for part in plan.parts where parameters.updateMode != .syncWithFeatureServices {
            if case .geodatabase(let parameters) = part.content { parameters.syncModel = .none }
        }
        plan.refusals = refusals
        let known = Set(parts.flatMap(\.layers) + refusals.map(\.layer))
        for layer in map.offlineLayers where !known.contains(layer.offlineAddress) {
            plan.refusals.append(Self.later(layer.offlineAddress, layer.name))
        }
        for table in map.tables where !known.contains(table.offlineAddress) {
            plan.refusals.append(Self.later(table.offlineAddress, table.displayName))
        }
        return plan
    }

    private static func later(_ address: String, _ title: String) -> OfflineMapRefusal {
        OfflineMapRefusal(
            layer: address, title: title,
            reason: "\(title) came into the map after the area was prepared. Its author can prepare it anew.")
    }
}
