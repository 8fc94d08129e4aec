/// The profile of who is signed in.
struct AccountPage: StartPageModel {
    static let template = "account"

    /// Another server that wants a sign-in.
    struct Wish: ViewModel {
        let host: String
        /// Its address, escaped for a query.
        let server: String
    }

    let heading: String
    let name: String
    let server: String
    let role: String?
    /// Whether the server doesn't answer.
    let isAway: Bool
    let hasAbilities: Bool
    let abilities: [String]
    /// The edits that wait to be sent.
    let waiting: String?
    let wishes: [Wish]
    let hasOthers: Bool
    /// What waits for other people.
    let others: [String]
    /// What waits that was made without a sign-in.
    let nobodys: String?
}
