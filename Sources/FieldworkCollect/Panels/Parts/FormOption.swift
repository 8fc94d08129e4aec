/// One choice of a list that folds out.
struct FormOption: ViewModel {
    let value: String
    let text: String
    /// Whether it is the one chosen now.
    let current: Bool
}
