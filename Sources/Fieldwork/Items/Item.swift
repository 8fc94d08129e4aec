/// Something that a portal or a server keeps under an id: a web map, a service. Load it to know what it is called and what
/// it is.
public protocol Item: Loadable {
    /// The id under which it is kept; nil where it has none.
    var id: PortalItem.ID? { get }
    /// The title.
    var title: String { get set }
    /// What it is, at length; may be HTML.
    var description: String { get set }
    /// What it is, in a line or two.
    var snippet: String { get set }
    /// Words by which it is found.
    var tags: [String] { get }
    /// Its picture; nil for none.
    var thumbnail: LoadableImage? { get }
}

extension Item {
    /// What items are told apart by.
    public typealias ID = PortalItem.ID
}
