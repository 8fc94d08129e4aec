/// The map's layers with their symbols, and what lies under them.
struct LayersPanel: PanelModel {
    static let template = "layers"

    struct Layer: ViewModel {
        struct Line: ViewModel {
            let symbol: SymbolView
            let label: String
        }

        let id: Int
        let name: String
        /// What can be done with it.
        let about: String
        let visible: Bool
        /// Whether it has no place on the map.
        let table: Bool
        let hasSymbols: Bool
        let symbols: [Line]
    }

    /// A layer that didn't load.
    struct Failure: ViewModel {
        let name: String
        let reason: String
    }

    struct Basemap: ViewModel {
        let key: String
        let name: String
        let current: Bool
    }

    let layers: [Layer]
    let failures: [Failure]
    let hasBasemaps: Bool
    let basemaps: [Basemap]
    /// Where the map comes from.
    let source: String
}
