/// One of several buttons of which one is chosen.
struct FormPick: ViewModel {
    let value: String
    let text: String
    /// Whether it is the one chosen now.
    let current: Bool
    let symbol: SymbolView?
}
