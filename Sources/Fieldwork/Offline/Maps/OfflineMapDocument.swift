import FieldworkGeometry
import Foundation

/// The web map of a package: that of the services, without what did not come along.
struct OfflineMapDocument {
    private let map: JSONValue
    private let plan: OfflineMapPlan
    private let parameters: GenerateOfflineMapParameters

    init(_ map: JSONValue, _ plan: OfflineMapPlan, _ parameters: GenerateOfflineMapParameters) {
        (self.map, self.plan, self.parameters) = (map, plan, parameters)
    }

    var text: Data {
        guard var document = map.objectValue else { return Data(map.text.utf8) }
        if !parameters.includesBasemap || parameters.referenceBasemap != nil { document["baseMap"] = nil }
        if parameters.onlineOnlyServicesOption == .exclude {
            let gone = Set(plan.refusals.map(\.layer))
            for member in ["operationalLayers", "tables"] {
                if let entries = document[member]?.arrayValue { document[member] = .array(kept(entries, gone)) }
            }
            if var basemap = document["baseMap"]?.objectValue, let entries = basemap["baseMapLayers"]?.arrayValue {
                basemap["baseMapLayers"] = .array(kept(entries, gone))
                document["baseMap"] = .object(basemap)
            }
        }
        return Data(JSONValue.object(document).text.utf8)
    }

    private func kept(_ entries: [JSONValue], _ gone: Set<String>) -> [JSONValue] {
        entries.compactMap { entry in
            let names = ["url", "styleUrl", "id"].compactMap { entry[$0]?.stringValue }
            guard !names.contains(where: gone.contains) else { return nil }
            guard let layers = entry["layers"]?.arrayValue, entry["layerType"]?.stringValue == "GroupLayer",
                var group = entry.objectValue
            else { return entry }
            group["layers"] = .array(kept(layers, gone))
            return .object(group)
        }
    }
}
