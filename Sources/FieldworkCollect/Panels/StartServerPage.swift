/// The way to a map on a server: its address, typed or in a code.
struct StartServerPage: StartPageModel {
    static let template = "start-server"

    /// What was found in a picture.
    struct Found: ViewModel {
        let heading: String
        let codes: [Code]
    }

    struct Code: ViewModel {
        let shown: String
        /// The address that can be opened.
        let url: String?
        /// Why it can't be.
        let refusal: String?
    }

    /// The server whose address was typed.
    struct Server: ViewModel {
        let host: String
        let maps: [Map]
    }

    struct Map: ViewModel {
        let url: String
        let name: String
        let about: String
    }

    let heading: String
    let codeProblem: StartProblem?
    let found: Found?
    let server: Server?
    let typed: String
    let problem: StartProblem?
}
