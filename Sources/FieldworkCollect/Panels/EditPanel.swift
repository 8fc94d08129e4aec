/// A form for the values of a feature, known or new, and for the records that it refers to.
struct EditPanel: PanelModel {
    static let template = "edit"

    /// The field that the page's script fills once its value is found.
    struct Fill: ViewModel {
        /// The name of its control.
        let field: String
        /// The address at which the value is asked for.
        let from: String
    }

    /// What was typed before and isn't saved yet.
    struct Draft: ViewModel {
        let time: String
        /// Whether the user may have forgotten it.
        let isOld: Bool
    }

    /// What can't be saved as it was posted.
    struct Problems: ViewModel {
        /// "One value needs your attention."
        let count: String
        let list: [Problem]
    }

    struct Problem: ViewModel {
        /// The name of the field.
        let name: String
        let label: String
        let text: String
    }

    /// A record that the feature refers to, which another page or a button chooses.
    struct Parent: ViewModel {
        /// The name of its control.
        let field: String
        let relation: Int
        let name: String
        /// The reference of the record; empty for none.
        let value: String
        /// The two lines that say which record it is.
        let first: String
        let second: String
        let required: Bool
        let message: String?
        let recents: [Recent]
    }

    /// A record that was chosen lately.
    struct Recent: ViewModel {
        let value: String
        let text: String
    }

    let heading: String
    let subheading: String
    let action: String
    /// Opens the form again; the draft lies under it.
    let address: String
    let session: String
    let hidden: [HiddenValue]
    /// What the controls showed when the form was opened; nil for a new feature, which nobody else changes.
    let base: String?
    /// The draft's revision that the page shows.
    let seen: String
    let problems: Problems?
    let parents: [Parent]
    let elements: [FieldView]
    let fill: Fill?
    /// What the form's author wanted calculated and can't be.
    let unsupported: String?
    /// nil for a layer without photos and files.
    let photos: PhotoSection?
    let draft: Draft?
}
