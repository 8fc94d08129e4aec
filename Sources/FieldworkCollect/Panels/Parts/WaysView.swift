/// What can be done with a feature; a template shows nothing where nothing can.
struct WaysView: ViewModel {
    /// How its geometry is changed: a point moves, other shapes are drawn.
    struct Move: ViewModel {
        /// The last part of the address.
        let path: String
        let name: String
    }

    /// The feature's address.
    let address: String
    /// Tells a form that is posted twice from two forms.
    let session: String
    let canUpdate: Bool
    let move: Move?
    let canDelete: Bool
}
