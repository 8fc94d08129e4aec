import FieldworkStore

/// Finds what a text names: collects documents in steps, from what fits exactly to what may have been meant, and scores each.
struct ForwardSearch {
    let data: LocatorData
    let text: SearchText
    let options: LocatorOptions
    /// Whether the last word may go on.
    var completes = false
    private var index: DocumentIndex { DocumentIndex(data: data) }

    /// Below it the next step of a search is tried as well: of the first one, and of those that look for other spellings.
    private static let satisfying = (exact: 95.0, corrected: 80.0)

    init(_ data: LocatorData, _ text: SearchText, _ options: LocatorOptions, completes: Bool = false) {
        self.data = data
        self.text = text
        self.options = options
        self.completes = completes && text.endsInWord
    }

    private var prefix: Int? { completes ? text.tokens.indices.last : nil }

    func results() throws -> [LocatorResult] {
        guard !text.tokens.isEmpty else { return [] }
        var steps = SearchSteps(data: data, text: text, prefix: prefix)
        var seen: Set<Int64> = []
        var results: [LocatorResult] = []
        var (hasCorrected, first) = (false, [Int64]())
        while let step = try steps.next() {
            try data.connection.watch.check()
            var documents = step.documents
            if step.corrects, !hasCorrected {
                // What fits but for a spelling was found before, and is looked at again.
                hasCorrected = true
                seen = []
                documents += first
            }
            first = step.documents
            results += try scored(documents.filter { seen.insert($0).inserted }, corrects: step.corrects)
            let wanted = step.corrects ? Self.satisfying.corrected : Self.satisfying.exact
            // What was not asked for ends no search: the town of the name may be in another country.
            if results.contains(where: { $0.score >= wanted && RankedResults.fits($0, options) }) { break }
        }
        return results
    }

    // MARK: Scoring

    private struct Fit {
        var document: LocatorDocument
        var alignment: Alignment
    }

    private func scored(_ ids: [Int64], corrects: Bool) throws -> [LocatorResult] {
        var roads: [Fit] = []
        var results: [LocatorResult] = []
        for id in ids {
            guard let document = try index.document(id) else { continue }
            if let place = document.place {
                let zone = try data.zone(place.zoneID)
                let alignment = Alignment(
                    text.tokens, names: place.names, zone: zone.words, prefix: prefix, corrects: corrects)
                results.append(result(place, alignment, zone.zone, document.id))
            } else if let road = document.road {
                let name = try data.name(road.nameID)
                let alignment = Alignment(
                    text.tokens, names: name.keys, zone: try data.zone(road.zoneID).words, prefix: prefix,
                    corrects: corrects)
                roads.append(Fit(document: document, alignment: alignment))
            }
        }
        roads.sort {
            let (one, two) = (expected($0), expected($1))
            return one != two ? one > two : $0.document.id < $1.document.id
        }
        for (rank, fit) in roads.enumerated() {
            guard let road = fit.document.road else { continue }
            results.append(try result(road, fit, looksForNumber: rank < Limits.roadsPerNumber))
        }
        return results
    }

    /// The score of a street if its number is there.
    private func expected(_ fit: Fit) -> Double {
        let words = fit.alignment.unused.filter { !text.tokens[$0].startsWithDigit }
        return fit.alignment.score - Alignment.cost(ofUnused: words, in: text.tokens)
    }

    private func result(
        _ place: LocatorDocument.Place, _ alignment: Alignment, _ zone: AddressZone, _ id: Int64
    ) -> LocatorResult {
        var result = LocatorResult.of(place, zone)
        result.score = max(0, alignment.score - Alignment.cost(ofUnused: alignment.unused, in: text.tokens))
        result.importance = data.importance(of: place, byOtherName: alignment.name > 0)
        result.key = "\(id)"
        return result
    }

    private func result(_ road: LocatorDocument.Road, _ fit: Fit, looksForNumber: Bool) throws -> LocatorResult {
        let name = try data.name(road.nameID)
        var result = LocatorResult(kind: .streetName, zone: try data.zone(road.zoneID).zone, x: road.x, y: road.y)
        result.street = name.full
        result.importance = fit.document.id
        result.key = "\(fit.document.id)"
        result.box = road.box
        var unused = fit.alignment.unused
        var cost = 0.0
        let readings = NumberSearch.readings(text.tokens, unused: unused, name: fit.alignment.nameTokens)
        let search = NumberSearch(data: data)
        let found =
            looksForNumber && !readings.isEmpty
            ? try search.find(
                readings, text.tokens, unused: unused, road: road.id, outOfRange: options.matchesOutOfRange) : nil
        if let found {
            try result.take(found, data)
            unused.removeAll { found.tokens.contains($0) }
            cost += found.cost
            let zoneWords = try found.zoneID.map { try data.zone($0).words } ?? []
            unused.removeAll { zoneWords.contains(text.tokens[$0].text) }
        } else if !readings.isEmpty {
            cost += 15
            unused.removeAll { readings[0].tokens.contains($0) }
        }
        result.score = max(0, fit.alignment.score - cost - Alignment.cost(ofUnused: unused, in: text.tokens))
        return result
    }
}

extension LocatorResult {
    static func of(_ place: LocatorDocument.Place, _ zone: AddressZone) -> LocatorResult {
        var result = LocatorResult(kind: place.kind, zone: zone, x: place.x, y: place.y)
        result.placeName = place.name
        result.type = place.type
        if place.reach > 0 {
            let plane = PlaneMetres(latitude: place.y)
            let (dx, dy) = (place.reach / plane.perDegreeX, place.reach / plane.perDegreeY)
            result.box = PlaceBox(xMin: place.x - dx, yMin: place.y - dy, xMax: place.x + dx, yMax: place.y + dy)
        }
        return result
    }

    static func of(_ house: KnownHouse, _ data: LocatorData) throws -> LocatorResult {
        let kind: Kind = house.unit.isEmpty ? .pointAddress : .subaddress
        var result = LocatorResult(kind: kind, zone: try data.zone(house.zoneID).zone, x: house.x, y: house.y)
        result.number = house.label
        result.unit = house.unit
        result.addressID = house.id
        if let road = try DocumentIndex(data: data).road(house.road) { result.street = try data.name(road.nameID).full }
        return result
    }

    mutating func take(_ found: NumberSearch.Found, _ data: LocatorData) throws {
        kind = found.kind
        number = found.number
        unit = found.unit
        (x, y) = (found.x, found.y)
        (routeX, routeY) = (x, y)
        side = found.side
        range = found.range
        box = nil
        if let zone = found.zoneID { self.zone = try data.zone(zone).zone }
        addressID = found.addressID
        if found.addressID != 0 { key += ".\(found.addressID)" }
    }
}
