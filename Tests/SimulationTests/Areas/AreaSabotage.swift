/// Ways to break the tiles of areas on purpose.
enum AreaSabotage: String, CaseIterable {
    /// Packages come without some of their tiles.
    case losesTiles
    /// The service says that its tiles are those of the first version, whatever they are.
    case tellsOneVersion
    /// What an area is going to use is forgotten: it is deleted with the area that has it.
    case forgetsReservations
    /// Tiles of areas that are gone stay.
    case keepsTiles
    /// Newer tiles that were asked for are forgotten.
    case forgetsRenewals

    var invariant: AreaInvariant {
        switch self {
        case .losesTiles, .forgetsReservations: .areasAreWhole
        case .tellsOneVersion: .oneVersion
        case .keepsTiles: .nothingIsLeft
        case .forgetsRenewals: .renewalsArrive
        }
    }
}

/// What must hold of the tiles of a device.
enum AreaInvariant: String, Sendable {
    /// An area whose basemap is here has all of its tiles, whatever becomes of other areas.
    case areasAreWhole = "areas are whole"
    /// The tiles of an area are of one version of the basemap, where the service tells which one it has.
    case oneVersion = "one version"
    /// A tile of a version is on the device once.
    case onlyOnce = "only once"
    /// At rest there are no tiles that no area needs, and nothing of unfinished work.
    case nothingIsLeft = "nothing is left"
    /// At rest every area has its basemap.
    case workGoesOn = "work goes on"
    /// At rest an area has tiles no older than the newest that were asked for.
    case renewalsArrive = "renewals arrive"
}

struct AreaProblem: Sendable, CustomStringConvertible {
    var invariant: AreaInvariant
    var text: String
    var description: String { "\(invariant.rawValue): \(text)" }
}
