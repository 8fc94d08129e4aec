import FieldworkGeometry
import FieldworkREST
import FieldworkStore

extension Portal {
    /// The titles of services that a web map shows and that fewer people may read than the map. Sharing a map shares none of its
    /// services: whoever opens it sees only what he may read.
    ///
    /// A layer is told by its item, or by the path of its address; services of other servers are not known here.
    package func servicesSharedLess(thanMap id: String) async throws -> [String] {
        try await records.read { records in
            guard let map = try Self.item(id, records), map.type == "Web Map",
                let bytes = try records.row(
                    "SELECT bytes FROM {contents} WHERE item = ? AND name = ?", [.text(id), .text(ItemContent.data)])?
                    .bytes(0),
                let document = try? JSONParser.parse(bytes)
            else { return [] }
            var titles: Set<String> = []
            for layer in Self.layers(of: document).prefix(Limits.layersOfMap) {
                guard let service = try Self.service(of: layer, records), service.service != nil,
                    Self.isShared(service, lessThan: map)
                else { continue }
                titles.insert(service.title)
            }
            return titles.sorted()
        }
    }

    /// The layers, tables and tiles of a web map, with those in groups.
    private static func layers(of map: JSONValue) -> [JSONValue] {
        var found: [JSONValue] = []
        var waiting =
            (map["operationalLayers"]?.arrayValue ?? []) + (map["tables"]?.arrayValue ?? [])
            + (map["baseMap"]?["baseMapLayers"]?.arrayValue ?? [])
        while let layer = waiting.popLast(), found.count < Limits.layersOfMap {
            found.append(layer)
            waiting += layer["layers"]?.arrayValue ?? []
        }
        return found
    }

    private static func service(of layer: JSONValue, _ records: Records) throws -> Item? {
        if let id = layer["itemId"]?.stringValue, let item = try item(id.lowercased(), records) { return item }
        guard let address = layer["url"]?.stringValue ?? layer["styleUrl"]?.stringValue else { return nil }
        let parts = address.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").map(String.init)
        guard let services = parts.lastIndex(of: "services") else { return nil }
        let rest = parts[parts.index(after: services)...]
        for kind in ServiceItemKind.allCases {
            guard let face = rest.lastIndex(of: kind.face) else { continue }
            return try serviceItem(kind.key(rest[..<face].joined(separator: "/")), records)
        }
        return nil
    }

    private static func isShared(_ service: Item, lessThan map: Item) -> Bool {
        if service.sharing.everyone { return false }
        if map.sharing.everyone { return true }
        if service.sharing.organisation { return false }
        return map.sharing.organisation || !map.sharing.groups.isSubset(of: service.sharing.groups)
    }
}
