/// Finds the answer that a suggestion named.
struct MagicSearch {
    let data: LocatorData
    let options: LocatorOptions

    /// nil for the key of another build, or of what is not there: the text is searched then.
    func result(for text: SearchText) throws -> LocatorResult? {
        guard !options.magicKey.isEmpty,
            let (document, address) = MagicKey.parts(options.magicKey, build: data.build)
        else { return nil }
        let index = DocumentIndex(data: data)
        guard let found = try index.document(document) else { return nil }
        if let place = found.place { return LocatorResult.of(place, try data.zone(place.zoneID).zone) }
        guard let road = found.road else { return nil }
        // A number between houses has no key of its own: the text tells it.
        guard let address, let house = try data.house(address), house.road == road.id else { return nil }
        return try LocatorResult.of(house, data)
    }
}
