/// How far a sending is; nothing where nothing is sent.
struct SendingBar: TemplateModel {
    static let template = "sending"

    struct Progress: ViewModel {
        let what: String
        /// nil until the app knows how much there is to send.
        let hundredths: String?
        let percent: String
        /// Whether it can be stopped.
        let stop: Bool
    }

    var sending: Progress?
}
