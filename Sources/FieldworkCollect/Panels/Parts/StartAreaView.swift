/// An area or a file on this device, as the first pages offer it.
struct StartAreaView: ViewModel {
    let id: String
    let name: String
    let about: String
}
