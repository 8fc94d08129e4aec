/// One of several choices: of a list that folds out, or a button of its own.
struct FormOption: ViewModel {
    let value: String
    let text: String
    /// Whether it is the one chosen now.
    let current: Bool
    /// What features of the choice look like; lists that fold out show none.
    var symbol: SymbolView?
}
