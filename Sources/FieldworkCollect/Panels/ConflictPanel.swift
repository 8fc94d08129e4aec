/// One conflict: both sides, and which is to stand.
struct ConflictPanel: PanelModel {
    static let template = "conflict"

    /// Who changed it, when, and the button that keeps all of it.
    struct Side: ViewModel {
        let person: String
        let when: String
        /// What a form sends to choose this side.
        let key: String
        let keepAll: String
    }

    /// A field, or the place, of which one side's value is to be chosen.
    struct Part: ViewModel {
        /// The field's name, for the form.
        let part: String
        let label: String
        /// The value that both knew before they changed it.
        let before: String?
        let choices: [Choice]
        /// The present value, where it is neither side's.
        let later: String?
        /// Why the form was not taken.
        let message: String?
    }

    struct Choice: ViewModel {
        let key: String
        let current: Bool
        let owner: String
        let symbol: SymbolView?
        let value: String
    }

    /// The two buttons of a conflict that is settled as a whole.
    struct Whole: ViewModel {
        let changes: [Fact]
        let keep: String
        let keepKey: String
        let other: String
        let otherKey: String
        /// Whether the other button deletes.
        let isDelete: Bool
    }

    struct Fact: ViewModel {
        let label: String
        let value: String
    }

    /// Where it is, drawn among its neighbours. All numbers are pixels of its box.
    struct Picture: ViewModel {
        struct Line: ViewModel {
            /// The class in the style sheet.
            let kind: String
            let path: String
        }

        struct Ring: ViewModel {
            /// The class in the style sheet.
            let kind: String
            let x: String
            let y: String
        }

        struct Mark: ViewModel {
            let x: String
            let y: String
            let scale: String
            /// From the symbol's corner to its middle.
            let half: String
            let svg: Markup
        }

        struct Label: ViewModel {
            let x: String
            let y: String
            let text: String
        }

        let width: Int
        let height: Int
        /// What it shows, for who doesn't see it.
        let says: String
        /// Whether no two places are in question.
        let alone: Bool
        let lines: [Line]
        let rings: [Ring]
        let marks: [Mark]
        let labels: [Label]
    }

    let heading: String
    let subheading: String
    /// Where the form is sent.
    let address: String
    /// Sent again, it is the same decision.
    let session: String
    let isOpen: Bool
    /// Where who doesn't decide now goes on.
    let later: String
    let picture: Picture?
    /// The places in question as GeoJSON, for the map beside the page.
    let shapes: String?
    /// How it was settled.
    let settled: String?
    let intro: String
    /// nil where the feature isn't there.
    let featureAddress: String?
    let sides: [Side]
    let hasParts: Bool
    let parts: [Part]
    /// nil where parts are chosen.
    let whole: Whole?
    /// The names of what each side changed alone.
    let merged: String?
    /// What the button of a settled conflict does.
    let bringBack: String
}
