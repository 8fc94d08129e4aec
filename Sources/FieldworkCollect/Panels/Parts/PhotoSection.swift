/// The photos and files of a form: those that the feature has, those that are kept with it when it is saved, and the way to more.
struct PhotoSection: ViewModel {
    /// One that the feature has.
    struct Known: ViewModel {
        let name: String
        /// nil for what isn't a picture.
        let thumbnail: String?
        let size: String
        /// Where it is: on the server, or on this device alone.
        let state: String
        /// The name of the control that deletes it.
        let gone: String
        let isGone: Bool
    }

    /// One that was added in this form.
    struct Staged: ViewModel {
        /// "New photo 1"
        let title: String
        /// Its id, for the names of the page's elements.
        let field: String
        /// nil for what isn't a picture.
        let preview: String?
        let bytes: String
        let goneField: String
        let isGone: Bool
        let nameField: String
        let name: String
        /// What is wrong with the name.
        let message: String?
        /// nil where there is only one.
        let sizes: Sizes?
        /// The place that the picture was taken at, where its file says so.
        let place: TakenPlace?
    }

    struct Sizes: ViewModel {
        let sizeField: String
        let list: [FormOption]
    }

    struct TakenPlace: ViewModel {
        let field: String
        let isRemoved: Bool
    }

    /// Why the known ones aren't shown.
    let note: String?
    let known: [Known]
    let staged: [Staged]
    let isEmpty: Bool
}
