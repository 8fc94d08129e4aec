package import FieldworkREST

/// What an update of a definition may do besides changing looks, rights, domains and descriptions. Whoever asks for an
/// update says what he means, so that a field left out by mistake is refused and not removed.
package struct DefinitionChanges: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let addsLayers = DefinitionChanges(rawValue: 1)
    package static let removesLayers = DefinitionChanges(rawValue: 2)
    package static let addsFields = DefinitionChanges(rawValue: 4)
    package static let removesFields = DefinitionChanges(rawValue: 8)

    package static let additions: DefinitionChanges = [.addsLayers, .addsFields]
    package static let removals: DefinitionChanges = [.removesLayers, .removesFields]
}

extension FeatureStore {
    /// Replaces a definition, whatever it was.
    package func updateService(_ definition: ServiceDefinition, allowing changes: DefinitionChanges = []) async throws {
        try await updateService(definition, allowing: changes, replacing: nil)
    }
}
