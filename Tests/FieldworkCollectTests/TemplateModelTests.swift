import Testing

@testable import FieldworkCollect

/// The tags of the templates and the members of the structs that they read belong together.
@Suite("Templates and the structs that they read")
struct TemplateModelTests {
    private static let panels: [any PanelModel.Type] = [
        AddPanel.self, AreaDeletePanel.self, AreaNewPanel.self, ChangesPanel.self, ChoosePanel.self, ConflictPanel.self,
        ConflictsPanel.self, EditPanel.self, FeaturePanel.self, HistoryPanel.self, JobPanel.self, KeysPanel.self,
        LayersPanel.self, ListPanel.self, ManyPanel.self, NearbyPanel.self, OfflinePanel.self, PhotoPanel.self,
        PhotosPanel.self, PlacePanel.self, ProblemPanel.self, RelatedListPanel.self, SearchPanel.self,
        SettingsPanel.self, SketchPanel.self, TransactionNeededPanel.self, TransactionPanel.self,
    ]

    private static let startPages: [any StartPageModel.Type] = [
        AccountBrowserPage.self, AccountPage.self, AccountSignInPage.self, AccountSignOutPage.self, StartFilePage.self,
        StartPage.self, StartPortalPage.self, StartServerPage.self,
    ]

    private static let others: [any TemplateModel.Type] = [
        AreaCountsView.self, ClosedPage.self, FoundPlaceView.self, FragmentView.self, GroundView.self, MarkedView.self,
        NearPinView.self, NearbyRows.self, OverView.self, PageView.self, SearchFeatures.self, SearchPlaces.self,
        SelectionView.self, SendingBar.self, StatusLine.self, TransactionBar.self,
    ]

    private static func walk(_ texts: [String: String]) -> TemplateWalk {
        let icons = texts["sprite"]?.matches(of: /<symbol id="([a-z-]+)"/).map { String($0.1) } ?? []
        var walk = TemplateWalk(texts: texts, icons: Set(icons).union(icons.map { "\($0)-s" }))
        for panel in panels { walk.walk(panel, frame: PanelFrame.self) }
        for page in startPages { walk.walk(page, frame: StartFrame.self) }
        for other in others { walk.walk(other, frame: nil) }
        return walk
    }

    @Test("Each tag is a member, and is written as its type asks for")
    func tags() throws {
        let problems = Self.walk(try TemplateText.all()).problems.sorted()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("Each member is read by a template")
    func members() throws {
        let unread = Self.walk(try TemplateText.all()).unread
        #expect(unread.isEmpty, "\(unread.joined(separator: "\n"))")
    }

    @Test("Each template has its struct, or is a part of one that has")
    func templates() throws {
        let texts = try TemplateText.all()
        let without = Set(texts.keys).subtracting(Self.walk(texts).templates).sorted()
        #expect(without.isEmpty, "\(without)")
    }

    @Test("A member that is nil hides a member of the same name further out; HTML alone is written as it is")
    func tagsOfAModel() throws {
        let rows = [Sample.Row(name: "first", note: "<b>"), Sample.Row(name: "second", note: nil)]
        let tags = Sample(title: "<i>", html: Markup(html: "<p>"), isOpen: true, count: nil, rows: rows).tags
        #expect(
            tags["title"] as? String == "<i>" && tags["html"] as? String == "<p>" && tags["isOpen"] as? Bool == true)
        #expect(tags["count"] as? Bool == false, "nothing is looked for further out")
        let inner = try #require(tags["rows"] as? [[String: Any]])
        #expect(inner.count == 2 && inner[0]["note"] as? String == "<b>" && inner[1]["note"] as? Bool == false)
        let page = try TemplateLibrary().render(
            ProblemPanel(heading: "<u>", tone: "wn", what: "What", safe: "", next: "", again: nil),
            in: PanelFrame(pageTitle: "<s>", mapTitle: ""))
        #expect(page.html.contains("&lt;u>") || page.html.contains("&lt;u&gt;"))
        #expect(!page.html.contains("<u>") && !page.html.contains("<s>") && !page.html.contains("Try again"))
    }

    // MARK: What the walk notices

    private struct Sample: TemplateModel {
        static let template = "sample"

        struct Row: ViewModel {
            let name: String
            let note: String?
        }

        let title: String
        let html: Markup
        let isOpen: Bool
        let count: Int?
        let rows: [Row]
    }

    private static let whole = """
        {{title}}{{{html}}}{{#isOpen}}open{{/isOpen}}{{#count}}{{count}}{{/count}}
        {{#rows}}{{name}} of {{title}}{{#note}}{{note}}{{/note}}{{/rows}}{{^rows}}none{{/rows}}
        """

    private static func problems(_ text: String) -> [String] {
        var walk = TemplateWalk(texts: ["sample": text], icons: [])
        walk.walk(Sample.self, frame: nil)
        return walk.problems.sorted() + walk.unread.map { "unread: \($0.split(separator: ".").last ?? "")" }
    }

    @Test("A template that fits its struct has no problem")
    func fitting() { #expect(Self.problems(Self.whole) == []) }

    @Test(
        "A template that does not fit its struct has one",
        arguments: [
            ("{{title}}", "{{titel}}", "{{titel}} is no member of Sample"),
            ("{{name}}", "{{nam}}", "{{nam}} is no member of Sample, Row"),
            ("{{{html}}}", "{{html}}", "{{html}} is HTML, and is escaped"),
            ("{{title}}", "{{{title}}}", "{{title}} is no HTML, and is not escaped"),
            ("{{#count}}{{count}}{{/count}}", "{{count}}", "{{count}} may be nil, and stands outside of its section"),
            ("{{#note}}{{note}}{{/note}}", "{{note}}", "{{note}} may be nil, and stands outside of its section"),
            ("{{#isOpen}}open{{/isOpen}}", "{{isOpen}}", "{{isOpen}} is a Bool, which is no text"),
            ("{{^rows}}none{{/rows}}", "{{rows}}", "{{rows}} is a Array<Row>, which is no text"),
            ("{{{html}}}", "{{{html}}}{{#rows}}", "{{#rows}} is not closed"),
            ("{{{html}}}", "{{{html}}}{{& html}}", "a tag is none that is known here"),
            ("{{{html}}}", "{{{html}}}{{>other}}", "other: there is no such template"),
            ("{{{html}}}", "", "unread: html"),
            ("{{#note}}{{note}}{{/note}}", "", "unread: note"),
        ])
    func notFitting(part: String, other: String, problem: String) {
        let problems = Self.problems(Self.whole.replacing(part, with: other, maxReplacements: 1))
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }
}
