import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Services Directory", .fewAtATime)
struct ServicesDirectoryTests {
    @Test("A layer's page lists fields with their rules, and leads to the operations that are allowed")
    func layerPage() async throws {
        try await TemporaryStore.serve { server, _ in
            let page = try await server.client.get("Trees/FeatureServer/0", ["f": "html"]).text
            #expect(page.contains("domain Condition (&quot;Good&quot;: Good"))
            #expect(page.contains("domain Height (0 to 120)") || page.contains("domain Height (0.0 to 120.0)"))
            for operation in ["query", "addFeatures", "updateFeatures", "deleteFeatures"] {
                #expect(page.contains("/arcgis/rest/services/Trees/FeatureServer/0/\(operation)"))
            }
            #expect(page.contains("By programs also: queryTopFeatures, "))
            #expect(page.contains("validateSQL, calculate, applyEdits"))
            let archive = try await server.client.get("Old/Archive/FeatureServer/0", ["f": "html"]).text
            #expect(archive.contains("/0/query"))
            #expect(!archive.contains("/0/addFeatures"))
            #expect(archive.contains("validateSQL"))
            #expect(!archive.contains("calculate") && !archive.contains("applyEdits"))
            let map = try await server.client.get("Trees/MapServer/0", ["f": "html"]).text
            #expect(map.contains("/Trees/MapServer/0/query"))
            #expect(!map.contains("addFeatures"))
        }
    }

    @Test("The query form shows what it finds, escaped, and what is wrong with a condition")
    func query() async throws {
        try await TemporaryStore.serve(trees: 12) { server, _ in
            _ = try await server.client.post(
                "Trees/FeatureServer/0/addFeatures",
                ["f": "json", "features": "[{\"attributes\":{\"Name\":\"<b>bold</b>\",\"Stems\":99}}]"])
            let form = try await server.client.get("Trees/FeatureServer/0/query", ["f": "html"]).text
            #expect(form.contains("name=\"where\""))
            #expect(!form.contains("<table>"))
            let page = try await server.client.get(
                "Trees/FeatureServer/0/query", ["f": "html", "where": "Stems > 9", "outFields": "Name,Stems"]
            ).text
            #expect(page.contains("4 features"))
            #expect(page.contains("<td>Tree 10</td>"))
            #expect(page.contains("&lt;b&gt;bold&lt;/b&gt;"))
            #expect(!page.contains("<b>bold"))
            #expect(page.contains("value=\"Stems &gt; 9\""))
            let wrong = try await server.client.get(
                "Trees/FeatureServer/0/query", ["f": "html", "where": "Nothing = 1"])
            #expect(wrong.text.contains("Nothing"))
            #expect(wrong.status == 400)
        }
    }

    private static let page = [("Accept", "text/html"), ("Sec-Fetch-Site", "same-origin")]

    @Test("The edit forms add, change and delete, and tell what failed")
    func edit() async throws {
        try await TemporaryStore.serve { server, _ in
            let path = "Trees/FeatureServer/0"
            let form = try await server.client.get("\(path)/addFeatures", ["f": "html"]).text
            #expect(form.contains("<form method=\"post\">"))
            #expect(form.contains("&quot;Species&quot;"))
            let added = try await server.client.post(
                "\(path)/addFeatures", ["f": "html", "features": "[{\"attributes\":{\"Name\":\"Oak\"}}]"],
                headers: Self.page)
            #expect(added.status == 200)
            #expect(added.header("Content-Type") == "text/html;charset=utf-8")
            #expect(added.text.contains("1 edit done"))
            let failed = try await server.client.post(
                "\(path)/updateFeatures",
                ["f": "html", "features": "[{\"attributes\":{\"OBJECTID\":1,\"Condition\":\"Odd\"}}]"],
                headers: Self.page)
            #expect(failed.text.contains("1 of 1 edits failed"))
            let deleted = try await server.client.post(
                "\(path)/deleteFeatures", ["f": "html", "objectIds": "1"], headers: Self.page)
            #expect(deleted.text.contains("1 edit done"))
            let count = try await server.client.get(
                "\(path)/query", ["where": "1=1", "returnCountOnly": "true", "f": "json"])
            #expect(try count.json["count"] == 0)
        }
    }

    @Test(
        "A form that a page of another site sends changes nothing",
        arguments: [
            ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Origin", "https://evil.example"),
            ("Origin", "null"),
        ])
    func otherSite(name: String, value: String) async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let answer = try await server.client.post(
                "Trees/FeatureServer/0/deleteFeatures", ["f": "html", "where": "1=1"], headers: [(name, value)])
            #expect(answer.status == 403)
            #expect(answer.text.contains("another site"))
            let count = try await server.client.get(
                "Trees/FeatureServer/0/query", ["where": "1=1", "returnCountOnly": "true", "f": "json"])
            #expect(try count.json["count"] == 3)
        }
    }

    @Test("A form of this site is known by its origin where the browser sends no more")
    func ownOrigin() async throws {
        try await TemporaryStore.serve(trees: 3) { server, _ in
            let origin = "http://127.0.0.1:\(server.running.port)"
            let answer = try await server.client.post(
                "Trees/FeatureServer/0/deleteFeatures", ["f": "html", "objectIds": "1"], headers: [("Origin", origin)])
            #expect(answer.text.contains("1 edit done"))
        }
    }
}
