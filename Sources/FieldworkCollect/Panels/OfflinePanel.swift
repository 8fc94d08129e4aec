/// Work mode and the areas on this device.
struct OfflinePanel: PanelModel {
    static let template = "offline"

    /// What updates all areas; it is there where one of them has a service.
    struct Updates: ViewModel {
        let running: Bool
    }

    struct Area: ViewModel {
        let id: String
        let name: String
        let about: String
        /// Whether it is worked in now.
        let current: Bool
        let usable: Bool
        let unsent: String?
        let synced: String?
        /// What an update of all areas has come to with this one.
        let update: String?
        /// How far its download is; nil for one that is here.
        let job: String?
        /// What is said of a file that isn't there any more.
        let lost: String?
        let growth: Growth?
        /// What is said of a newer basemap that the server has.
        let newer: String?
        /// Whether a larger one can be taken in its place.
        let extend: Bool
        /// What the button that takes it away is called.
        let removal: String
    }

    /// A larger area on its way.
    struct Growth: ViewModel {
        let id: String
        let text: String
    }

    let online: Bool
    /// The area that is worked in.
    let areaName: String?
    /// The file that is worked in, where no server knows it.
    let plainFile: String?
    let inTransaction: Bool
    let areas: [Area]
    let hasAreas: Bool
    let nameLimit: Int
    let updates: Updates?
    /// Whether areas are synced by themselves.
    let automatic: Bool
    let canTake: Bool
    /// Why the map can't be taken offline.
    let problem: String?
    /// The room on this device; nil where it isn't known.
    let free: String?
}
