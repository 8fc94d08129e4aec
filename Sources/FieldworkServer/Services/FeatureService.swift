import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The feature service: resources of a service and its layers, queries and edits, over any store.
struct FeatureService: Sendable {
    let store: any FeatureStore
    /// nil for a store that keeps no attachments.
    var uploads: UploadService?
    /// The moment of an edit.
    var now: @Sendable () -> Date = { Date() }

    /// The root resource.
    func root(_ published: PublishedService) async throws -> JSONValue {
        var extent: Envelope?
        for layer in published.definition.layers where !layer.isTable {
            guard let more = try await self.extent(of: layer, in: published) else { continue }
            extent = extent.map { GeometryEngine.combineExtents(of: [$0, more]) ?? $0 } ?? more
        }
        var definition = advertised(published.definition)
        if let id = published.itemID { definition.unknownMembers["serviceItemId"] = .string(id) }
        let json = definition.json(context: ResourceContext(extent: extent))
        guard ReplicaAbilities.allowsExtract(definition), let store = store as? any ReplicaStore,
            var object = json.objectValue
        else { return json }
        let abilities = ReplicaAbilities.members(
            definition, generation: try await store.generation(of: definition.name),
            floors: try await store.logFloors(of: definition.name))
        for member in abilities.members { object[member.key] = member.value }
        return .object(object)
    }

    /// All layers and tables at once.
    func layers(_ published: PublishedService) async throws -> JSONValue {
        var layers: [JSONValue] = []
        var tables: [JSONValue] = []
        for definition in published.definition.layers {
            let json = try await layer(definition, of: published)
            if definition.isTable { tables.append(json) } else { layers.append(json) }
        }
        return ["layers": .array(layers), "tables": .array(tables)]
    }

    /// The relationships between layers and tables.
    func relationships(_ published: PublishedService) -> JSONValue {
        ["relationships": published.definition.json()["relationships"] ?? []]
    }

    /// The layer or table resource.
    ///
    /// - Parameter recounts: counts the times of the features anew (`returnUpdates`).
    func layer(_ layer: LayerDefinition, of published: PublishedService, recounts: Bool = false) async throws
        -> JSONValue
    {
        let address = LayerAddress(service: published.definition.name, layerID: layer.id)
        var layer = layer
        if let id = published.itemID { layer.unknownMembers["serviceItemId"] = .string(id) }
        return layer.json(
            context: ResourceContext(
                extent: try await extent(of: layer, in: published),
                serviceCapabilities: published.definition.capabilities,
                serviceMaxRecordCount: published.definition.maxRecordCount,
                serviceCopyrightText: published.definition.copyrightText,
                historyStart: try await store.historyStart(in: address),
                timeExtent: try await timeExtent(of: layer, address, recounts: recounts)))
    }

    /// The first and the last moment of the features; nil to show what the definition says.
    private func timeExtent(
        of layer: LayerDefinition, _ address: LayerAddress, recounts: Bool
    ) async throws -> ClosedRange<Int64>? {
        guard let info = layer.timeInfo, recounts || info.timeExtent == nil else { return nil }
        var moments: [Int64] = []
        for (name, isLast) in [(info.startTimeField, false), (info.endTimeField ?? info.startTimeField, true)] {
            guard let field = layer.field(named: name), field.type == .date else { return nil }
            let isKnown = SQLExpression.isNull(.field(field.name), negated: true)
            let query = FeatureQuery(
                condition: layer.restriction.map { SQLExpression.binary(.and, $0, isKnown) } ?? isKnown,
                outFields: [field.name], returnsGeometry: false,
                order: [.init(expression: .field(field.name), isDescending: isLast)], limit: 1)
            let record = try await store.records(query, in: address).first
            guard let moment = record?.attributes[field.name]?.integerValue else { return nil }
            moments.append(moment)
        }
        return moments[0] <= moments[1] ? moments[0]...moments[1] : nil
    }

    /// The service as it says what it can: uploads are there wherever they are of use.
    private func advertised(_ definition: ServiceDefinition) -> ServiceDefinition {
        var definition = definition
        if uploads != nil, UploadService.isAllowed(definition) {
            definition.capabilities.insert(.uploads)
        } else {
            definition.capabilities.remove(.uploads)
        }
        // Who can be kept in step can ask for changes; clients look for the word.
        if ReplicaAbilities.allowsExtract(definition) { definition.capabilities.insert(.changeTracking) }
        return definition
    }

    func extent(of layer: LayerDefinition, in published: PublishedService) async throws -> Envelope? {
        guard !layer.isTable else { return nil }
        let address = LayerAddress(service: published.definition.name, layerID: layer.id)
        return try await store.extent(FeatureQuery(condition: layer.restriction), in: address).extent ?? layer.extent
    }
}
