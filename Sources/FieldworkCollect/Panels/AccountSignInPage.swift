/// The form of the sign-in.
struct AccountSignInPage: StartPageModel {
    static let template = "account-sign-in"

    let heading: String
    let reason: String
    let problem: StartProblem?
    /// Whether the name or the password is what is wrong.
    let userProblem: Bool
    let server: String
    /// nil while the server isn't known, so that its address is asked for.
    let host: String?
    let user: String
    /// The name of who signs in again, which can't be changed.
    let fixed: String?
    /// The page of the app to go on at.
    let back: String
    /// The map that was to be opened.
    let map: String?
}
