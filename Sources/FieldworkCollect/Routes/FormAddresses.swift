import Fieldwork
import Foundation

/// Fills the address of a new feature where the map's author wants it.
struct FormAddresses: Sendable {
    let workspace: Workspace

    /// What an open page is told.
    struct Told: Encodable, Sendable {
        var address: String?
        /// What the field is called.
        var label: String
        /// Where the address comes from, or why there is none.
        var note: String
    }

    private static func key(_ address: String, _ map: OpenMap) -> String { "\(map.key) \(address)" }

    /// Begins to look for the address of a new feature.
    /// - Returns: the field that waits for it, and where the page gets it; nil where nothing is looked for.
    func begin(_ subject: FormSubject, map: OpenMap) async -> (field: String, from: String)? {
        let layer = subject.layer
        guard let rule = map.rules.addresses[layer.id], let field = layer.field(named: rule.field),
            [.null, .text("")].contains(FeatureSnapshot.Value(subject.feature.attributeValue(forKey: field.name))),
            let place = subject.feature.geometry?.place
        else { return nil }
        let (locators, length) = (workspace.locators, field.length)
        await workspace.addresses.begin(Self.key(subject.address, map)) {
            do {
                let outcome = try await locators.address(
                    at: place, on: map, chosen: rule.locator, isForStorage: true)
                guard case .address(let address, _) = outcome, length > 0, address.count > length else {
                    return outcome
                }
                return .none("The address of this place is longer than the \(length) characters that the field holds.")
            } catch {
                return .none("The address was not found.")
            }
        }
        let query = subject.address.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return (field.name, "/data/fill/\(layer.id)?\(query)")
    }

    /// Waits for the address of an open form. A page that has had it and left the field empty doesn't get it again.
    func told(_ address: String, layer: MapLayer, map: OpenMap) async -> Told {
        let field = map.rules.addresses[layer.id].flatMap { layer.field(named: $0.field) }
        let label = field.map(AttributeForm.label) ?? "Address"
        switch await workspace.addresses.outcome(Self.key(address, map)) {
        case nil: return Told(label: label, note: "")
        case (.address(let found, let source), let wasShown)?:
            let isCleared = wasShown && map.drafts.draft(address) != nil
            return Told(
                address: isCleared ? nil : found, label: label, note: isCleared ? "" : "Filled for you: from \(source)")
        case (.none(let reason), _)?: return Told(label: label, note: "No address: \(reason)")
        }
    }

    /// What was posted, with the address that was found in the meantime where the page had none to show. It waits for nothing.
    func completed(_ posted: FormValues, address: String, layer: MapLayer, map: OpenMap) async -> FormValues {
        guard let rule = map.rules.addresses[layer.id],
            let found = await workspace.addresses.unshown(Self.key(address, map))
        else { return posted }
        let name = AttributeForm.prefix + rule.field
        guard posted[name]?.isEmpty ?? false else { return posted }
        return FormValues(pairs: posted.pairs.filter { $0.name != name } + [(name, found)], files: posted.files)
    }
}
