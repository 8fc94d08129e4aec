/// The question before a person signs out.
struct AccountSignOutPage: StartPageModel {
    static let template = "account-sign-out"

    /// What stays behind.
    struct Unsent: ViewModel {
        let edits: String
        let stay: String
        let person: String
    }

    let heading: String
    let unsent: Unsent?
}
