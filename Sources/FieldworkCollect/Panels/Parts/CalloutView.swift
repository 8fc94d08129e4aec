/// The call-out on the map beside a selected feature, with its menu.
struct CalloutView: ViewModel {
    /// The values of the field that is changed by one tap.
    struct Choices: ViewModel {
        struct Choice: ViewModel {
            let value: String
            let name: String
            let current: Bool
            let symbol: SymbolView?
        }

        let field: String
        let label: String
        let values: [Choice]
    }

    /// What a screen reader calls it.
    let name: String
    let noun: String
    /// The feature's reference.
    let feature: String
    let lon: String
    let lat: String
    let title: String
    let text: String
    let ways: WaysView?
    let choices: Choices?
}
