/// A symbol in a line of text.
struct SymbolView: TemplateModel {
    static let template = "sym"

    let svg: Markup
    /// Whether it stands at the head of a row.
    var large = false
}
