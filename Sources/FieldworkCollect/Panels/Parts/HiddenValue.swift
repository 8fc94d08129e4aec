/// A value that a form posts along unseen.
struct HiddenValue: ViewModel {
    let name: String
    let value: String
}
