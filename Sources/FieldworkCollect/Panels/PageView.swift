/// The whole page around a panel.
struct PageView: TemplateModel {
    static let template = "page"

    struct LegendLine: ViewModel {
        let symbol: SymbolView
        let label: String
    }

    let pageTitle: String
    let mapTitle: String
    /// nil for the one that the device prefers.
    let theme: String?
    /// The newest change that the page shows.
    let since: UInt64
    /// Where the page's own files are.
    let assets: String
    let state: StatusLine
    let transactionBar: TransactionBar
    /// How the panel lies beside the map.
    let kind: String
    /// Who is signed in.
    let person: String?
    /// Whether the map's title is the page's heading on a telephone.
    let mapHeading: Bool
    let tabMap: Bool
    let tabList: Bool
    let tabChanges: Bool
    let tabOffline: Bool
    let tabSettings: Bool
    let canAdd: Bool
    let addLabel: String
    let addLabelShort: String
    let legend: [LegendLine]
    /// "and 3 more".
    let legendMore: String?
    let panel: Markup
    let selection: Markup
    let over: Markup
}

/// The parts of a page that a script puts into the page that it has.
struct FragmentView: TemplateModel {
    static let template = "fragment"

    let panel: Markup
    let selection: Markup
    let over: Markup
}

/// The page that a refused request gets; it says nothing of the map.
struct ClosedPage: TemplateModel {
    static let template = "closed"

    let heading: String
    let text: String
    let asksForKey: Bool
    let keyFile: String
    let assets: String
}
