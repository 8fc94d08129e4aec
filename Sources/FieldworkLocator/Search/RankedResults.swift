/// Puts answers in their order, and leaves out what says the same as one before.
enum RankedResults {
    static func chosen(_ results: [LocatorResult], _ options: LocatorOptions) -> [LocatorResult] {
        var chosen: [LocatorResult] = []
        let most = max(0, min(options.maximumCount, Limits.candidates))
        for result in ordered(results, options) where result.score >= options.minimumScore {
            guard chosen.count < most else { break }
            if !chosen.contains(where: { isSame($0, result) }) { chosen.append(result) }
        }
        return chosen
    }

    static func ordered(_ results: [LocatorResult], _ options: LocatorOptions) -> [LocatorResult] {
        let wanted = results.filter { fits($0, options) }
        let keyed = wanted.map { (result: $0, rank: rank($0, options)) }
        return keyed.sorted { one, other in
            if one.rank != other.rank { return one.rank > other.rank }
            if one.result.kind.order != other.result.kind.order {
                return one.result.kind.order < other.result.kind.order
            }
            return one.result.importance < other.result.importance
        }.map(\.result)
    }

    /// Whether an answer is of the kind, in the box and in the country that were asked for.
    static func fits(_ result: LocatorResult, _ options: LocatorOptions) -> Bool {
        if let kinds = options.kinds, !kinds.contains(result.kind) { return false }
        if let extent = options.extent, !extent.contains(result.x, result.y) { return false }
        guard !options.country.isEmpty, !result.zone.country.isEmpty else { return true }
        // Countries that have no code here are equal by their names alone.
        let known = result.zone.country.uppercased()
        let code = CountryNames.code(of: known)
        return options.country.split(separator: ",").contains { part in
            let asked = String(part).trimmed
            return asked.uppercased() == known || (!code.isEmpty && CountryNames.code(of: asked) == code)
        }
    }

    /// The score, and a little for being near: it decides among equals.
    private static func rank(_ result: LocatorResult, _ options: LocatorOptions) -> Double {
        guard let location = options.location else { return result.score }
        let metres = PlaneMetres.far(location.x, location.y, result.x, result.y)
        return result.score + 3 / (1 + metres / 2_000)
    }

    private static func isSame(_ one: LocatorResult, _ other: LocatorResult) -> Bool {
        guard one.kind == other.kind, one.label == other.label else { return false }
        if one.kind == .locality { return PlaneMetres.far(one.x, one.y, other.x, other.y) < 5_000 }
        return PlaneMetres.far(one.x, one.y, other.x, other.y) < 500
    }
}
