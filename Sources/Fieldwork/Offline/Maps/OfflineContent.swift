import Foundation
import Synchronization

/// What lies behind an offline map: the files that it holds open, and whether it is kept in step with its services.
final class OfflineContent: Sendable {
    private struct Weak: Sendable {
        weak var package: MobileMapPackage?
    }

    let geodatabases: [Geodatabase]
    let updateMode: GenerateOfflineMapUpdateMode
    /// The address of the item of the prepared area whose packages of changes keep the map in step; nil for a map that has none.
    let scheduledArea: URL?
    /// Whether the files are stretches of one, which nothing is written to.
    let isOneFile: Bool
    private let owner = Mutex(Weak())

    init(geodatabases: [Geodatabase], parameters: GenerateOfflineMapParameters, isOneFile: Bool) {
        self.geodatabases = geodatabases
        self.isOneFile = isOneFile
        updateMode = parameters.updateMode
        scheduledArea = parameters.scheduledArea
    }

    var package: MobileMapPackage? {
        get { owner.withLock { $0.package } }
        set { owner.withLock { $0.package = newValue } }
    }
}

extension GeoModel {
    /// nil for a map of services.
    var offline: OfflineContent? {
        get { state.withLock { $0.offline } }
        set { state.withLock { $0.offline = newValue } }
    }
}

extension Map {
    /// The package that the map was opened from, as long as somebody holds it; nil for a map of services.
    public var mobileMapPackage: MobileMapPackage? { offline?.package }
}
