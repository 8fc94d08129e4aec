/// The way to a map in a file of this device.
struct StartFilePage: StartPageModel {
    static let template = "start-file"

    /// A file that the user is asked about first.
    struct Asked: ViewModel {
        let path: String
        let shown: String
        let layers: String
    }

    struct File: ViewModel {
        let path: String
        let name: String
        let about: String
        let folder: String
    }

    let heading: String
    let asked: Asked?
    let hasAreas: Bool
    let areas: [StartAreaView]
    let hasFiles: Bool
    let files: [File]
    let typed: String
    let problem: StartProblem?
}
