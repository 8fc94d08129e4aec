package import FieldworkREST
package import Foundation

/// The data of a service, or of another one as a view shows it. Readers and writer are the source's own: a view adds no state, and
/// its layers have no columns but those that it shows.
package final class ViewData: ServiceData {
    private let base: any ServiceData
    package let view: ViewScope?
    /// nil: what the source has.
    private let shown: ServiceCatalogue?

    /// The service itself.
    init(_ base: any ServiceData) { (self.base, view, shown) = (base, nil, nil) }

    /// - Parameter floor: the generation before which the view showed something else.
    init(_ base: any ServiceData, as view: ServiceView, floor: Int64) throws {
        let catalogue = base.catalogueSnapshot
        let definition = view.definition(of: catalogue.definition)
        var shown = ServiceCatalogue(definition: definition, layers: [:], source: catalogue.source)
        shown.floor = floor
        var (conditions, hidden): ([Int: SQLExpression], [Int: Set<String>]) = ([:], [:])
        for layer in definition.layers {
            let stored = try catalogue.layer(layer.id)
            guard let part = view.layer(layer.id) else { continue }
            shown.layers[layer.id] = try stored.shown(as: layer)
            hidden[layer.id] = Set(part.hidden(in: stored.definition).map { $0.name.lowercased() })
            do throws(ServiceError) {
                conditions[layer.id] = try part.condition(in: stored.definition)
            } catch {
                throw StoreError(.invalidDefinition, "\(view.name.path): \(error.details.first ?? error.message)")
            }
        }
        self.base = base
        self.view = ViewScope(
            path: view.name.path, conditions: conditions, hidden: hidden, source: catalogue.definition.layers)
        self.shown = shown
    }

    package var writer: Writer { base.writer }
    package var readers: ReaderPool { base.readers }
    package var source: ConnectionSource { base.source }
    package var verifiedContents: VerifiedContents? { base.verifiedContents }
    package var catalogueSnapshot: ServiceCatalogue { shown ?? base.catalogueSnapshot }
    package var definition: ServiceDefinition { shown?.definition ?? base.definition }
    package func layer(_ id: Int) throws -> StoredLayer { try shown?.layer(id) ?? base.layer(id) }
    package func adopt(_ catalogue: ServiceCatalogue) { base.adopt(catalogue) }

    package func querying<Result>(_ body: (ReaderPool) async throws -> Result) async throws -> Result {
        try await base.querying(body)
    }

    package func write(
        _ request: ChangeRequest, of catalogue: ServiceCatalogue, as definition: ServiceDefinition, into target: URL,
        notes: @escaping @Sendable (Int64) -> [(name: String, value: String)]
    ) async throws -> Int64 {
        try await base.write(request, of: catalogue, as: definition, into: target, notes: notes)
    }
}
