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

    @Test("What an expression reads is said beside its result, which stays one line of JSON")
    func explained() async throws {
        let output = try await FieldworkProcess.run(["arcade", "eval", "IIf(true, 7, $feature.dbh)", "--explain"])
        #expect(output.status == 0 && output.text == "7\n", "\(output.text)\(output.errors)")
        #expect(
            output.errors.contains("field\t$feature\tdbh") && output.errors.contains("function\tIIf"),
            "\(output.errors)")
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

    /// A layer of three trees, published from a table.
    private static func trees(in folder: borrowing TemporaryFolder) async throws -> String {
        let table = folder.url.appending(path: "trees.csv")
        try Data("species,dbh,label,lon,lat\noak,10,,1,2\nelm,20,,1,3\nash,30,ASH 30,1,4\n".utf8).write(to: table)
        let data = folder.url.appending(path: "data").path
        let published = try await FieldworkProcess.run([
            "publish", table.path, "--service", "Trees", "--x", "lon", "--y", "lat", "--wkid", "4326", "--data", data,
        ])
        try #require(published.status == 0, "\(published.errors)")
        return data
    }

    @Test("validate names the features that do not keep a validation rule, and its exit code says so to a script")
    func validate() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.trees(in: folder)
        func fieldwork(_ arguments: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(arguments + ["--data", data])
        }
        let without = try await fieldwork("validate", "Trees")
        #expect(without.status == 0 && without.errors.contains("no validation rules"), "\(without.errors)")
        var document = try await fieldwork("service", "show", "Trees").text
        let rule = """
            "attributeRules": [{"name": "Thin", "type": "esriARTValidation", "scriptExpression": "$feature.dbh < 25",
              "errorNumber": 1, "errorMessage": "No tree here is that thick."}],
            """
        let place = try #require(document.range(of: "\"fields\""))
        document.insert(contentsOf: rule, at: place.lowerBound)
        let file = folder.url.appending(path: "trees.json")
        try Data(document.utf8).write(to: file)
        let edited = try await fieldwork("service", "edit", "Trees", "--file", file.path)
        try #require(edited.status == 0, "\(edited.errors)")
        for named in ["Trees", "Trees/0"] {
            let found = try await fieldwork("validate", named)
            #expect(found.status == 65 && found.text == "0/3  Thin: No tree here is that thick.\n", "\(found.text)")
            #expect(found.errors.contains("1 of 3 features does not keep the rules."), "\(found.errors)")
        }
        let json = try await fieldwork("validate", "Trees", "--format", "json")
        #expect(json.status == 65 && json.text.contains(#""objectId":3"#), "\(json.text)")
        let kept = try await fieldwork("validate", "Trees/0", "--where", "dbh < 25")
        #expect(kept.status == 0 && kept.text.isEmpty)
        #expect(kept.errors.contains("2 features keep 1 rule."), "\(kept.errors)")
    }

    private static let label = "Upper($feature.species) + ' ' + $feature.dbh"

    @Test("A field is calculated for the features that are chosen, and what has its value already is left alone")
    func calculate() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.trees(in: folder)
        func calculate(_ rest: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["calculate", "Trees", "label", Self.label, "--data", data] + rest)
        }
        #expect(try await calculate("--dry-run").text == "2 of 3 features would change.\n")
        #expect(try await calculate("--where", "dbh < 15").text == "Changed 1 of 1 feature.\n")
        #expect(try await calculate().text == "Changed 1 of 3 features.\n")
        let rows = try await FieldworkProcess.run([
            "query", "Trees", "--format", "csv", "--out-fields", "label", "--data", data,
        ])
        #expect(["OAK 10", "ELM 20", "ASH 30"].allSatisfy { rows.text.contains($0) }, "\(rows.text)")
    }

    @Test("An expression runs for the features of a layer, with a line for each, and says with which one it fails")
    func overLayer() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.trees(in: folder)
        func eval(_ expression: String, _ rest: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["arcade", "eval", expression, "--layer", "Trees", "--data", data] + rest)
        }
        let chosen = try await eval(Self.label, "--where", "dbh > 15")
        let lines = #"{"objectID":2,"value":"ELM 20"}"# + "\n" + #"{"objectID":3,"value":"ASH 30"}"# + "\n"
        #expect(chosen.status == 0 && chosen.text == lines, "\(chosen.text)\(chosen.errors)")
        #expect(try await eval("Geometry($feature).y", "--limit", "1").text == #"{"objectID":1,"value":2}"# + "\n")
        let failed = try await eval("IIf($feature.dbh < 25, 1, $feature.dbh.parts)")
        #expect(failed.status == 65 && failed.errors.contains("Feature 3"), "\(failed.errors)")
        #expect(try await eval("1", "--feature", "tree.json").status == 64)
    }

    @Test("An expression that fails with one feature changes none, and a field that is not there is named")
    func failedCalculation() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.trees(in: folder)
        func calculate(_ field: String, _ expression: String) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["calculate", "Trees", field, expression, "--data", data])
        }
        let failed = try await calculate("label", "IIf($feature.dbh < 25, 'x', $feature.dbh.parts)")
        #expect(failed.status == 65 && failed.errors.contains("Feature 3"), "\(failed.errors)")
        #expect(failed.errors.contains("Nothing was changed."))
        let left = try await FieldworkProcess.run([
            "query", "Trees", "--where", "label = 'x'", "--format", "csv", "--data", data,
        ])
        #expect(!left.text.contains("oak"))
        #expect(try await calculate("nosuch", "1").errors.contains("has no field nosuch"))
        #expect(try await calculate("OBJECTID", "1").errors.contains("can't be edited"))
        #expect(try await calculate("label", "1 +").status == 65)
    }
}
