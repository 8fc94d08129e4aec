/// An element of a form: a control, a fixed value, a group of further elements, or words. Of the four only its own is there.
struct FieldView: ViewModel {
    /// A control: one of the four kinds, and what all of them have.
    struct Input: ViewModel {
        /// The name that its value is posted under.
        let field: String
        let required: Bool
        /// What is wrong with the value.
        let message: String?
        /// The author's description.
        let about: String?
        /// Says that the value is still looked for.
        let fill: String?
        /// Where the value comes from that was filled in.
        let filled: String?
        var picks: Picks?
        var select: Select?
        var line: Line?
        var area: Area?
    }

    /// Buttons of which one is chosen.
    struct Picks: ViewModel {
        /// Whether they stand in one row on a telephone.
        let short: Bool
        let options: [FormOption]
    }

    /// A list that folds out.
    struct Select: ViewModel {
        let options: [FormOption]
    }

    /// Text of one line: words, a number or a moment.
    struct Line: ViewModel {
        let value: String
        /// The type of the HTML element.
        let type: String
        /// Which keys a telephone shows.
        var mode: String?
        var step: String?
        /// What the page's script holds the text against while one types.
        let check: String
        /// The most characters.
        var limit: Int?
        /// The least and the greatest number.
        let low: String?
        let high: String?
        let hint: String?
    }

    /// Text of many lines.
    struct Area: ViewModel {
        let value: String
        /// The most characters.
        let limit: Int?
        let hint: String?
    }

    struct Group: ViewModel {
        let description: String?
        /// Whether it is unfolded.
        let open: Bool
        let fields: [FieldView]
    }

    /// The field's name, or for an element without a field one of the page's own.
    let name: String
    /// Empty for words.
    let label: String
    /// Whether the form's rules hide it now.
    let hidden: Bool
    var input: Input?
    /// A value that can't be changed.
    var fixed: String?
    var group: Group?
    var words: String?
}
