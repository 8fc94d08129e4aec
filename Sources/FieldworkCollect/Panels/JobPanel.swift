/// The download of an area.
struct JobPanel: PanelModel {
    static let template = "job"

    struct Step: ViewModel {
        let text: String
        let isDone: Bool
        let icon: String
    }

    /// All of it is here and can be worked in.
    struct Done: ViewModel {
        let text: String
        /// The id of the area to work in.
        let area: String
    }

    let id: String
    let name: String
    let about: String
    let hundredths: Int
    let sofar: String
    /// How much longer it takes.
    let left: String?
    let steps: [Step]
    /// The edges of the area, as the script draws them.
    let outline: String
    /// When work in it begins.
    let goOn: String
    /// How far the basemap is; nil where none is on its way.
    let basemap: String?
    var running = false
    var paused = false
    /// Why it stopped.
    var failed: String?
    /// Why a larger area, all of which is here, isn't used yet.
    var waits: String?
    var done: Done?
}
