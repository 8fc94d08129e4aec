import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The feature service: resources of a service and its layers, queries and edits, over any store.
struct FeatureService: Sendable {
    let store: any FeatureStore
    /// The moment of an edit.
    var now: @Sendable () -> Date = { Date() }

    // MARK: Resources

    func root(_ published: PublishedService) async throws -> JSONValue {
        published.definition.json(context: ResourceContext())
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

    func relationships(_ published: PublishedService) -> JSONValue {
        ["relationships": published.definition.json(context: ResourceContext())["relationships"] ?? []]
    }

    func layer(_ layer: LayerDefinition, of published: PublishedService) async throws -> JSONValue {
        var context = ResourceContext()
        if !layer.isTable {
            let address = LayerAddress(service: published.definition.name, layerID: layer.id)
            context.extent = try await store.extent(FeatureQuery(), in: address).extent ?? layer.extent
        }
        var shown = layer
        shown.capabilities.formIntersection(published.definition.capabilities)
        return shown.json(context: context)
    }
}
