import Foundation
import Testing

/// `fieldwork locator` as an administrator uses it, with a server that runs beside it.
@Suite("Locators by the command", .serialized)
struct LocatorVerbTests {
    private static let table = """
        nr,street,town,kind,x,y
        12,Lindenstraße,Köllenbach,1,8.40,50.00
        14,Lindenstraße,Köllenbach,1,8.401,50.00
        7,Hauptstraße,Köllenbach,2,8.90,50.00

        """
    private static let definition =
        #"{"capabilities":"Query,Create,Update,Delete,Editing,Sync,ChangeTracking","syncEnabled":true}"#

    private func run(_ arguments: String..., data: URL) async throws -> FieldworkProcess.Output {
        try await FieldworkProcess.run(["locator"] + arguments + ["--data", data.path])
    }

    private func shell(_ line: String) async throws -> String {
        try await FieldworkProcess.run(["-c", line], program: URL(filePath: "/bin/bash")).text
    }

    @Test(
        "A locator of a layer is made, told, made again when the layer has changed, cut and removed, while a server runs"
    )
    func life() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try Data(Self.table.utf8).write(to: folder.url.appending(path: "houses.csv"))
        try Data(Self.definition.utf8).write(to: folder.url.appending(path: "definition.json"))
        let published = try await FieldworkProcess.run([
            "publish", folder.url.appending(path: "houses.csv").path, "--service", "City", "--x", "x", "--y", "y",
            "--definition", folder.url.appending(path: "definition.json").path, "--data", data.path,
        ])
        try #require(published.status == 0, "\(published.errors)")
        let server = try FieldworkProcess.start(["serve", "--data", data.path, "--port", "0"])
        let port = try #require(URL(string: try await server.readyLine().components(separatedBy: " ").last ?? "")?.port)
        let services = "http://127.0.0.1:\(port)/arcgis/rest/services"
        func first(_ text: String) async throws -> String {
            let asked = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try await shell(
                "curl -s '\(services)/Houses/GeocodeServer/findAddressCandidates?f=json&SingleLine=\(asked)'")
        }
        let fields = ["--field", "number=nr", "--field", "city=town", "--country", "DE"]
        let made = try await FieldworkProcess.run(
            ["locator", "make", "--service", "City/0", "--name", "Houses"] + fields + ["--data", data.path])
        #expect(made.status == 0 && made.text.contains("Made Houses: 3 addresses"), "\(made.text)\(made.errors)")
        #expect(try await first("Lindenstr. 12").contains("Lindenstraße 12, Köllenbach"))

        let same = try await run("update", "Houses", data: data)
        #expect(same.text.contains("Houses is up to date"), "\(same.text)\(same.errors)")
        let adds =
            #"[{"attributes":{"nr":16,"street":"Lindenstraße","town":"Köllenbach"},"geometry":{"x":8.402,"y":50,"spatialReference":{"wkid":4326}}}]"#
        let added = try await shell(
            "curl -s '\(services)/City/FeatureServer/0/addFeatures' -d f=json --data-urlencode 'features=\(adds)'")
        try #require(added.contains(#""success":true"#), "\(added)")
        #expect(!(try await first("Lindenstr. 16").contains("Lindenstraße 16, Köllenbach\",\"location\":{\"x\":8.402")))
        let again = try await run("update", data: data)
        #expect(again.text.contains("Made Houses: 4 addresses"), "\(again.text)\(again.errors)")
        #expect(try await first("Lindenstr. 16").contains(#""score":100"#), "the server has the new file")
        #expect(try await run("update", "Houses", data: data).text.contains("up to date"))

        let listed = try await run("list", data: data)
        #expect(listed.text.contains("Houses  4 addresses") && listed.text.contains("of City/0"), "\(listed.text)")

        let part = folder.url.appending(path: "part.locator")
        let cut = try await run("cut", "Houses", "--area", "8.39,49.99,8.41,50.01", "--to", part.path, data: data)
        #expect(cut.text.contains("Wrote 3 addresses"), "\(cut.text)\(cut.errors)")
        #expect(
            try await run("cut", "Houses", "--area", "8.39,49.99,8.41,50.01", "--to", part.path, data: data).status
                == 73)
        #expect(try await run("cut", "Houses", "--area", "9,9", "--to", part.path, data: data).status == 64)

        let removed = try await run("remove", "Houses", data: data)
        #expect(removed.text == "Removed Houses\n", "\(removed.errors)")
        #expect(try await first("Lindenstr. 12").contains(#""code":404"#))
        #expect(try await run("remove", "Houses", data: data).status == 66)
        #expect(try await run("remove", "../City", data: data).status == 64)
        #expect(await server.interrupt() == 0)
    }

    @Test("A locator of files is not made again by itself, and a layer without a street says what it has")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let table = folder.url.appending(path: "houses.csv")
        try Data(Self.table.utf8).write(to: table)
        let made = try await run("make", table.path, "--name", "Files", "--field", "number=nr", data: folder.url)
        try #require(made.status == 0, "\(made.errors)")
        let update = try await run("update", "Files", data: folder.url)
        #expect(update.status == 65 && update.errors.contains("was made of files"), "\(update.errors)")
        #expect(try await run("update", data: folder.url).status == 0)
        #expect(try await run("make", "--name", "Files", data: folder.url).status == 64)
        let nothing = try await run("make", "--service", "Nothing/0", "--name", "Other", data: folder.url)
        #expect(nothing.status == 66 && nothing.errors.contains("fieldwork services"), "\(nothing.errors)")
    }
}
