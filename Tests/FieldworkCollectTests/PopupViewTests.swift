import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// What a web map's pop-ups make of a feature: the call-out, the small pop-up, the view with its related records.
@Suite struct PopupViewTests {
    @Test func theSmallPopUpShowsTheSpeciesLeftAndTheInspectionsRight() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get("/map\(TreesField.address(0))").text
            let left = try #require(
                page.range(of: #"<span class="l1">Norway maple</span><span class="l2">Acer platanoides"#))
            let right = try #require(page.range(of: #"<b class="num">2</b><span>Inspections</span>"#))
            #expect(left.lowerBound < right.lowerBound)
            #expect(page.contains("\(TreesField.address(0))/related/1/new"))
            #expect(page.contains("<b>3250 NE Ainsworth St</b><span>Good · Trunk diameter (DBH) 10.0</span>"))
        }
    }

    @Test func withoutASpeciesTheTreesOwnValuesStandOnTheLeft() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get("/map\(TreesField.address(5))").text
            #expect(page.contains(#"<span class="l1">Fair</span><span class="l2">15.0</span>"#))
            #expect(page.contains(#"<b class="num">0</b><span>Inspections</span>"#))
            #expect(!page.contains("null"))
        }
    }

    @Test func theViewShowsTheElementsInTheAuthorsOrderAndTheRelatedRecords() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get(TreesField.address(0)).text
            let order = [
                "<p>Cared for in <b>Concordia</b>.</p>", "<dt>Condition</dt>", "Trunk diameter (DBH)",
                "<dt>Address</dt>",
                "Inspections", "Acer platanoides",
            ]
            var from = try #require(page.range(of: #"id="panel""#)).upperBound
            for text in order {
                let range = try #require(page.range(of: text, range: from..<page.endIndex), "\(text) comes in its turn")
                from = range.upperBound
            }
            #expect(!page.contains("<dt>Notes</dt>"), "the author hid it")
            #expect(!page.contains("<dt>GlobalID</dt>"))
            let newest = try #require(page.range(of: "11/15/2023"))
            let older = try #require(page.range(of: "11/14/2023"))
            #expect(newest.lowerBound < older.lowerBound)
        }
    }

    /// An expression that reads a layer which isn't there leaves the rest of the pop-up and the form as they are.
    @Test func whatAnExpressionCouldNotReadIsSaidAtItsPlace() async throws {
        let count = "Count(FeatureSetByName($map, 'Nests'))"
        let change: @Sendable (String) -> String = { map in
            map.replacingOccurrences(
                of: #""popupElements":["#,
                with: #"""
                    "popupElements":[{"type":"expression","expressionInfo":{"title":"Nests near by",
                    "expression":"\#(count)","returnType":"dictionary"}},
                    """#
            ).replacingOccurrences(
                of: #"{"type":"field","fieldName":"Neighborhood","label":"Neighborhood"}"#,
                with: #"{"type":"field","fieldName":"Neighborhood","label":"Neighborhood","valueExpression":"nests"}"#
            ).replacingOccurrences(
                of: #"{"title":"Tree at {Address}","formElements""#,
                with: #"""
                    {"title":"Tree at {Address}","expressionInfos":[{"name":"nests","expression":"Text(\#(count))"}],
                    "formElements"
                    """#)
        }
        try await TreesField.with(map: change) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get(TreesField.address(0)).text
            #expect(page.contains("Nests near by isn&#39;t shown: it needs data that isn&#39;t on this device now."))
            #expect(page.contains("<dt>Condition</dt>"))
            let form = try await visitor.get("\(TreesField.address(0))/edit").text
            #expect(form.contains("Not calculated, since the data isn&#39;t on this device now: Neighborhood."))
        }
    }

    @Test func aRecordLeadsBackToItsTree() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let record = try #require(try await field.rows(of: 3).first?.globalID)
            let page = try await visitor.get("/f/3/\(record.uuidString.lowercased())").text
            #expect(page.contains("Back to 3250 NE Ainsworth St"))
            #expect(page.contains("Inspection 11/14/2023"))
        }
    }

    @Test func whenTheServerIsGoneTheOwnValuesAreShownAndTheOthersTold() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.get(TreesField.address(0))
            await field.services.stop()
            let page = try await visitor.get(TreesField.address(0))
            #expect(page.status == 200)
            #expect(
                page.text.contains("The related records didn&#39;t load")
                    || page.text.contains("The related records didn't load"))
            #expect(page.text.contains("3250 NE Ainsworth St"))
        }
    }

    @Test("What a map's author writes into a pop-up leads to pages and runs nothing")
    func authorsText() async throws {
        let text = #"<p>Cared for in <b>{Neighborhood}</b>.</p>"#
        let hard =
            #"<script>steal()</script><a href='javascript:steal()'>Press</a><a href='https://example.org/'>Read</a>"#
        try await TreesField.with(map: { $0.replacingOccurrences(of: text, with: hard) }) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get(TreesField.address(0)).text
            #expect(page.contains("Press") && page.contains(#"<a href="https://example.org/""#))
            #expect(!page.contains("steal()"))
        }
    }

    @Test(arguments: [
        ("<b>bold</b> & <i>it</i>", "<b>bold</b> &amp; <i>it</i>"),
        ("<script>alert(1)</script>after", "after"),
        ("<img src=x onerror=alert(1)>text", "text"),
        ("<a href=\"javascript:alert(1)\">x</a>", "x"),
        (
            "<a href='https://example.org/?a=1&amp;b=\"'>x</a>",
            "<a href=\"https://example.org/?a=1&amp;b=&quot;\" rel=\"noopener noreferrer\" target=\"_blank\">x</a>"
        ),
        ("<p onclick=\"x()\">a<br/>b", "<p>a<br>b</p>"),
        ("1 < 2", "1 &lt; 2"), ("&lt;b&gt;", "&lt;b&gt;"), ("<b><i>x</b></i>", "<b><i>x</i></b>"),
        ("<style>p{}</style><svg><a href=\"#\">y</a></svg>z", "z"),
    ])
    func anAuthorsTextKeepsEmphasisAndLosesEverythingThatActs(text: String, html: String) {
        #expect(AuthoredText(text).html == html)
    }
}
