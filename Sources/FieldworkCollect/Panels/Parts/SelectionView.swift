/// What is shown of a selected feature: the small pop-up, and the call-out on the map.
struct SelectionView: TemplateModel {
    static let template = "mini"

    /// The records that refer to the feature.
    struct Count: ViewModel {
        let value: Int
        let label: String
        /// The address of a new one; nil where none can be added.
        let add: String?
        let addLabel: String
    }

    /// A value of the feature, on the right.
    struct Aside: ViewModel {
        let label: String
        let value: String
    }

    /// Which one it is of those under the tap.
    struct Here: ViewModel {
        let text: String
        /// The address of the next one.
        let next: String
    }

    let address: String
    let layer: Int
    /// The feature's reference.
    let feature: String
    let noun: String
    let title: String
    let subtitle: String
    let symbol: SymbolView?
    let count: Count?
    let aside: Aside?
    /// What a screen reader says.
    let announce: String
    let marks: StateMarks
    /// "45.5° N 122.6° W"
    let place: String
    let lon: String
    let lat: String
    let here: Here?
    let callout: CalloutView
}
