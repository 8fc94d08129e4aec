import FieldworkGeometry
import FieldworkLocator
import FieldworkREST
import Foundation

/// A layer that a locator is made of, with what says how: the locator remembers both, to be made again.
struct LocatorLayer: Sendable {
    /// As the person named it: `Service/0`, or an address.
    var layer: String
    var roles: [FieldMap.Role: String]
    var zone: AddressZone
    /// How far the layer's change log was; nil where the layer keeps none.
    var generation: Int64?

    init(layer: String, roles: [FieldMap.Role: String], zone: AddressZone) {
        (self.layer, self.roles, self.zone) = (layer, roles, zone)
    }

    // MARK: What the locator remembers

    /// nil for a locator that was made of something else.
    init?(origin: String) {
        guard let json = try? JSONParser.parse(Array(origin.utf8)), let layer = json["layer"]?.stringValue else {
            return nil
        }
        func text(_ name: String) -> String { json["zone"]?[name]?.stringValue ?? "" }
        self.init(
            layer: layer, roles: [:],
            zone: AddressZone(city: text("city"), region: text("region"), country: text("country")))
        for member in json["fields"]?.objectValue?.members ?? [] {
            guard let role = FieldMap.Role(rawValue: member.key), let column = member.value.stringValue else {
                continue
            }
            roles[role] = column
        }
        generation = json["generation"]?.integerValue
    }

    init?(ofLocator url: URL) throws {
        let known = try Locator.origin(of: url)
        self.init(origin: known.origin)
        // A file of an older version is made again in any case.
        if !known.isCurrent { generation = nil }
    }

    private var origin: String {
        var fields = JSONObject()
        for (role, column) in roles.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            fields[role.rawValue] = .string(column)
        }
        let json: JSONValue = [
            "layer": .string(layer), "generation": generation.map(JSONValue.integer) ?? .null,
            "fields": .object(fields),
            "zone": [
                "city": .string(zone.city), "region": .string(zone.region), "country": .string(zone.country),
            ],
        ]
        return json.text
    }

    // MARK: Making

    /// Makes the locator.
    /// - Returns: what was made, in words.
    /// - Parameter place: where the layer's service lies.
    func make(_ name: String, in folder: URL, from place: ServicePlace) async throws -> String {
        try await NamedLayer(text: layer, place: place).read { try await make(name, in: folder, of: $0) }
    }

    /// Makes the locator again if the layer has changed since.
    func update(_ name: String, in folder: URL, from place: ServicePlace) async throws -> String {
        try await NamedLayer(text: layer, place: place).read { reader in
            if let generation, try await Self.generation(reader) == generation {
                return "\(name) is up to date: \(layer) has not changed since it was made."
            }
            return try await make(name, in: folder, of: reader)
        }
    }

    private func make(_ name: String, in folder: URL, of reader: ServiceReader) async throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var known = self
        // Before the features: a change while they are read makes the locator one to be made again.
        known.generation = try await Self.generation(reader)
        let (definition, origin) = (try await reader.layer(), known.origin)
        let map = try FieldMap(columns: definition.fields.map(\.name), chosen: roles)
        guard map.isUsable else {
            throw CommandFailure(
                .badData,
                """
                \(layer) has no field for a street, an address or a name: it has \
                \(definition.fields.map(\.name).joined(separator: ", ")). Say which one it is: --field street=FIELD.
                """)
        }
        let values = CodedTexts(definition.fields)
        return try await LocatorMaker(name: name, target: LocatorFile.url(name: name, in: folder)).make { builder in
            builder.origin = origin
            try await reader.pages(of: definition, condition: "1=1", outFields: "*", limit: nil, outSR: 4_326) { set in
                for feature in set.features {
                    try map.add(feature.geometry, to: builder) { column in
                        feature.attributes[column].flatMap { values.text(column, $0) }
                    } zone: {
                        zone.completing($0)
                    }
                }
            }
        }
    }

    /// How far the change log of the layer's service is; nil where it keeps none.
    private static func generation(_ reader: ServiceReader) async throws -> Int64? {
        guard let id = Int64(reader.url.lastPathComponent) else { return nil }
        var root = reader
        root.url.deleteLastPathComponent()
        let layers = try await root.get()["changeTrackingInfo"]?["layerServerGens"]?.arrayValue ?? []
        return layers.first { $0["id"]?.integerValue == id }?["serverGen"]?.integerValue
    }
}

/// The texts of a layer's values: what a code stands for, where its field has a list of them.
private struct CodedTexts: Sendable {
    private var names: [String: [AttributeValue: String]] = [:]

    init(_ fields: [FieldDefinition]) {
        for field in fields {
            guard case .codedValues(let values) = field.domain?.kind else { continue }
            names[field.name] = Dictionary(values.map { ($0.code, $0.name) }, uniquingKeysWith: { first, _ in first })
        }
    }

    func text(_ field: String, _ value: AttributeValue) -> String? {
        if let name = names[field]?[value] { return name }
        return LocatorSources.text(value)
    }
}

extension AddressZone {
    /// A zone with this one's town, state and country where it says none.
    func completing(_ other: AddressZone) -> AddressZone {
        var other = other
        if other.city.isEmpty { other.city = city }
        if other.region.isEmpty { other.region = region }
        if other.country.isEmpty { other.country = country }
        return other
    }
}
