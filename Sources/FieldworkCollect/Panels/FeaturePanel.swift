/// A feature: its pop-up, its photos, the records that refer to it, and what can be done with it.
struct FeaturePanel: PanelModel {
    static let template = "feature"

    /// The feature that a record of a table belongs to.
    struct Owner: ViewModel {
        let title: String
        let address: String
    }

    /// One part of the pop-up, in the author's order. Exactly one member is there.
    struct Part: ViewModel {
        var facts: Facts?
        /// A text of the author.
        var html: Markup?
        var media: Media?
        var parent: Parent?
        var children: RelatedView?
        var note: Note?
    }

    struct Facts: ViewModel {
        struct Fact: ViewModel {
            let label: String
            let value: String
            /// Whether it takes the whole width.
            let wide: Bool
            /// What is stored, where the value is a name for it.
            let code: String?
            /// Where the value leads, if it is an address.
            let link: String?
            /// Whether it is folded, since it is long.
            let folds: Bool
            let symbol: SymbolView?
        }

        let title: String?
        let list: [Fact]
    }

    /// A chart as its numbers, or the address of a picture.
    struct Media: ViewModel {
        struct Row: ViewModel {
            let label: String
            let value: String
        }

        let title: String
        let caption: String?
        let rows: [Row]
        let hasRows: Bool
        let address: String?
    }

    /// The record that the feature refers to.
    struct Parent: ViewModel {
        let name: String
        let first: String
        let second: String
        /// nil where it refers to none.
        let address: String?
    }

    struct Note: ViewModel {
        let text: String
        /// Whether it may succeed later.
        let again: Bool
    }

    let address: String
    let heading: String
    let subheading: String
    /// Where Back leads.
    let mapAddress: String
    let backLabel: String
    let owner: Owner?
    let marks: StateMarks
    let photos: FeaturePhotos?
    let parts: [Part]
    let ways: WaysView?
}
