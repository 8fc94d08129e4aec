/// What happened, and what can be done about it, on a page without a map.
struct StartProblem: ViewModel {
    let what: String
    let next: String
}
