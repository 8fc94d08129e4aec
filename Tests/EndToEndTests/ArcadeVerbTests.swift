import Foundation
import Testing

/// `fieldwork arcade`, as a script uses it.
@Suite("Expressions on the command line", .serialized)
struct ArcadeVerbTests {
    @Test("The result is one line of JSON, also with a feature from a file")
    func eval() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "tree.json")
        let tree = #"{"attributes":{"species":"ACMA","dbh":12.5},"geometry":{"x":-122.6,"y":45.5}}"#
        try Data(tree.utf8).write(to: file)
        for (expression, profile, expected) in [
            ("[1, 'a', null]", "any", #"[1,"a",null]"#),
            ("Lower($feature.species) + $feature.dbh", "popup", #""acma12.5""#),
            ("{a: Geometry($feature).x}", "form-calculation", #"{"a":-122.6}"#), ("0 / 0", "labeling", "null"),
        ] {
            let output = try await FieldworkProcess.run(
                ["arcade", "eval", expression, "--feature", file.path, "--profile", profile])
            #expect(
                output.status == 0 && output.text == expected + "\n", "\(expression): \(output.text)\(output.errors)")
        }
    }

    @Test("A script's error stands on standard error with its line, its column and a mark, and the exit code is 65")
    func errors() async throws {
        let failed = try await FieldworkProcess.run(["arcade", "eval", "var a = 1\nreturn a + nosuch"])
        #expect(failed.status == 65 && failed.text.isEmpty)
        #expect(failed.errors.contains("line 2, column 12"), "\(failed.errors)")
        #expect(failed.errors.contains("  return a + nosuch\n             ^"), "\(failed.errors)")
        let noFile = try await FieldworkProcess.run(["arcade", "eval", "1", "--feature", "/no/such/file.json"])
        #expect(noFile.status == 66)
        let noProfile = try await FieldworkProcess.run(["arcade", "eval", "1", "--profile", "nosuch"])
        #expect(noProfile.status == 65 && noProfile.errors.contains("labeling"))
    }

    @Test("A check finds all errors at once, and says what the expression reads")
    func check() async throws {
        let wrong = try await FieldworkProcess.run(["arcade", "check", "var = 1\nvar b = (2\nb"])
        #expect(wrong.status == 65)
        #expect(wrong.errors.contains("line 1, column 5") && wrong.errors.contains("line 3"), "\(wrong.errors)")
        let good = try await FieldworkProcess.run(
            ["arcade", "check", "$feature.dbh + Count(FeatureSetByName($map, 'Parks'))", "--explain"])
        #expect(good.status == 0, "\(good.errors)")
        #expect(good.text.contains("field\t$feature\tdbh\n") && good.text.contains("layer\t$map\tParks\n"))
        #expect(good.text.contains("reads\tdata of layers\n"))
    }
}
