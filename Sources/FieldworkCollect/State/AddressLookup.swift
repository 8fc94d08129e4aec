import Fieldwork
import Foundation

/// The address of a place, or why there is none.
enum AddressOutcome: Sendable, Hashable {
    /// - Parameter source: the locator that knows it, in words.
    case address(String, source: String)
    /// In words for a person.
    case none(String)
}

extension MapLocators {
    /// The address of a place, as it is shown and stored: the line of the house or the street, else the whole address.
    /// - Parameter isForStorage: whether it will be kept; some services count that.
    func address(
        at place: Place, on map: OpenMap, chosen: URL? = nil, isForStorage: Bool
    ) async throws -> AddressOutcome {
        let answer = try await ask(map, near: place, chosen: chosen) { locator -> String? in
            let parameters = ReverseGeocodeParameters()
            parameters.isForStorage = isForStorage
            parameters.maxResults = 1
            let point = Point(x: place.longitude, y: place.latitude, spatialReference: .wgs84)
            let found = try await locator.reverseGeocode(forLocation: point, parameters: parameters)
            return ["Address", "Match_addr"].lazy
                .compactMap { found.first?.attributes[$0] as? String }.first { !$0.isEmpty }
        }
        switch answer {
        case .none(let reason): return .none(reason)
        case .found(nil, _): return .none("No address is near this place.")
        case .found(let address?, let locator): return .address(address, source: locator.words)
        }
    }
}

/// The addresses that are looked for while forms are open. A form never waits for its address: it comes into the open page when
/// it is found, and else into the feature that is saved without one.
actor AddressFills {
    private struct Fill {
        let search: Task<AddressOutcome, Never>
        var outcome: AddressOutcome?
        /// Whether a page has it: what the page posts is what the user wants.
        var isShown = false
    }

    private var fills: [String: Fill] = [:]
    private var order: [String] = []

    /// Begins to look for the address of a form, unless that was begun before.
    /// - Parameter key: names the form: its map, layer and place.
    func begin(_ key: String, _ find: @escaping @Sendable () async -> AddressOutcome) {
        guard fills[key] == nil else { return }
        let search = Task { [weak self] in
            let outcome = await find()
            await self?.note(outcome, of: key)
            return outcome
        }
        fills[key] = Fill(search: search)
        order.append(key)
        while order.count > Limits.addressFills { fills.removeValue(forKey: order.removeFirst())?.search.cancel() }
    }

    private func note(_ outcome: AddressOutcome, of key: String) {
        fills[key]?.outcome = outcome
        // What failed is tried again when the form is opened again.
        if case .none = outcome, fills[key]?.isShown == true { forget(key) }
    }

    private func forget(_ key: String) {
        fills[key] = nil
        order.removeAll { $0 == key }
    }

    /// For the open page; nil for a form for which no address is looked for.
    func outcome(_ key: String) async -> (outcome: AddressOutcome, wasShown: Bool)? {
        guard let fill = fills[key] else { return nil }
        fills[key]?.isShown = true
        let outcome = await fill.search.value
        if case .none = outcome { forget(key) }
        return (outcome, fill.isShown)
    }

    /// For what is saved: the address that was found and that no page has shown. It waits for nothing.
    func unshown(_ key: String) -> String? {
        guard let fill = fills[key], !fill.isShown, case .address(let address, _) = fill.outcome else { return nil }
        return address
    }
}
