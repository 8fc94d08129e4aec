/// The names of streets, each once.
struct NameRegister {
    private var ids: [String: Int] = [:]
    private(set) var full: [String] = []
    private(set) var keys: [String] = []
    private(set) var others: [Int: Set<String>] = [:]

    mutating func id(of name: String, key: @autoclosure () -> String, others: [String] = []) -> Int {
        let id: Int
        if let known = ids[name] {
            id = known
        } else {
            id = full.count
            ids[name] = id
            full.append(name)
            keys.append(key())
        }
        let more = others.filter { !$0.isEmpty && $0 != name }
        if !more.isEmpty { self.others[id, default: []].formUnion(more) }
        return id
    }
}

/// The combinations of town, state, postal code and so on, each once.
struct ZoneRegister {
    private var ids: [AddressZone: Int] = [:]
    private(set) var all: [AddressZone] = []

    mutating func id(of zone: AddressZone) -> Int {
        if let known = ids[zone] { return known }
        ids[zone] = all.count
        all.append(zone)
        return all.count - 1
    }
}

/// Streets: a name in a town, each once, with what its houses add to it.
struct RoadRegister {
    struct Key: Hashable {
        var name: Int
        var zone: Int
    }

    struct Road {
        var key: Key
        var addresses = 0
        /// Words that its addresses have and the street has not: postal codes, neighbourhoods, words of units.
        var words: Set<String> = []
        var extent = PlaceExtent()
        /// A place on the street, where it has a line or a house.
        var middle: (x: Double, y: Double)?
    }

    private var ids: [Key: Int] = [:]
    var all: [Road] = []

    mutating func id(name: Int, zone: Int) throws -> Int {
        let key = Key(name: name, zone: zone)
        if let known = ids[key] { return known }
        guard all.count < Limits.roads else {
            throw LocatorError(
                .badData,
                "A locator has at most \(Limits.roads) streets. Make several of parts of the data.")
        }
        ids[key] = all.count
        all.append(Road(key: key))
        return all.count - 1
    }
}

/// The box of places.
struct PlaceExtent {
    var xMin = Double.infinity
    var yMin = Double.infinity
    var xMax = -Double.infinity
    var yMax = -Double.infinity

    var isEmpty: Bool { xMin > xMax }

    mutating func take(_ x: Double, _ y: Double) {
        xMin = min(xMin, x)
        yMin = min(yMin, y)
        xMax = max(xMax, x)
        yMax = max(yMax, y)
    }
}
