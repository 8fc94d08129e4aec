/// What can be added: the kinds of features of each layer.
struct AddPanel: PanelModel {
    static let template = "add"

    /// A layer.
    struct Group: ViewModel {
        let name: String
        let kinds: [Kind]
    }

    struct Kind: ViewModel {
        let name: String
        let address: String
        let symbol: SymbolView?
    }

    let groups: [Group]
}
