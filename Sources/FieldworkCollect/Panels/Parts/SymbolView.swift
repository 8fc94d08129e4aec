/// A symbol in a line of text.
struct SymbolView: ViewModel {
    let svg: Markup
    /// Whether it stands at the head of a row.
    var large = false
}
