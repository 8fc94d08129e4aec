/// A page without a map: the first one, and those that choose a map, open a file or sign somebody in.
protocol StartPageModel: TemplateModel {
    /// Also the title of the browser's window.
    var heading: String { get }
}

/// What each page without a map reads besides its own members.
struct StartFrame: ViewModel {
    /// Who is signed in.
    let person: String?
    /// nil for the one that the device prefers.
    let theme: String?
    /// Where the page's own files are.
    let assets: String
    /// The address that the page goes on to by itself.
    var refresh: String?
}
