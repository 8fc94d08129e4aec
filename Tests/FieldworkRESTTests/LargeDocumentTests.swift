import FieldworkGeometry
import Testing

@testable import FieldworkREST

/// Small texts that would become large in memory: what is refused is not built.
@Suite("Documents that grow in memory")
struct LargeDocumentTests {
    private func error(_ body: () throws -> Void) -> (any Error)? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("The values of a document are counted while they are read")
    func counted() throws {
        let text = "[" + Array(repeating: "{\"\":0}", count: 10_000).joined(separator: ",") + "]"
        #expect(try JSONParser.parse(text, holding: 4_000_000).arrayValue?.count == 10_000)
        #expect((error { _ = try JSONParser.parse(text, holding: 400_000) } as? JSONError)?.code == .tooLarge)
    }

    @Test("A document is charged to the work that reads it")
    func charged() throws {
        let text = "[" + Array(repeating: "{\"\":0}", count: 100_000).joined(separator: ",") + "]"
        let enough = WorkAllowance(time: .seconds(600), memory: 100_000_000)
        try WorkAllowance.$current.withValue(enough) { _ = try JSONParser.parse(text) }
        #expect(enough.heldBytes > 10_000_000)
        let little = WorkAllowance(time: .seconds(600), memory: 2_000_000)
        let refusal = WorkAllowance.$current.withValue(little) { error { _ = try JSONParser.parse(text) } }
        #expect((refusal as? JSONError)?.code == .refused(.memoryIsUp(2_000_000)))
    }

    @Test("An object may have 20,000 members and none more")
    func members() throws {
        func object(_ count: Int) -> String {
            "{" + (0..<count).map { "\"m\($0)\":0" }.joined(separator: ",") + "}"
        }
        let most = object(GeometryLimits.membersMax)
        #expect(try JSONParser.parse(most).objectValue?.count == GeometryLimits.membersMax)
        #expect(try JSONText(most).members()?.count == GeometryLimits.membersMax)
        let more = object(GeometryLimits.membersMax + 1)
        #expect((error { _ = try JSONParser.parse(more) } as? JSONError)?.code == .tooManyMembers)
        #expect((error { _ = try JSONText(more) } as? JSONError)?.code == .tooManyMembers)
    }

    @Test(
        "Text that is taken apart says what it says when it is read whole",
        arguments: [
            "[]", "[ ]", "{}", "[1, [2, {\"a\": [3]}], \"x,]\\\"\", null, true, -1.5e3]",
            " {\"a\":1,\"b\":[1,2],\"a\":{\"c\":\"é\"}} ",
            "\u{FEFF}[1]", "[[[]],[{}],[\"\"]]", "\"text\"", "12", "null",
        ])
    func takenApart(_ text: String) throws {
        let whole = try JSONParser.parse(text)
        let taken = try JSONText(text)
        #expect(try taken.value() == whole)
        #expect(taken.isArray == (whole.arrayValue != nil) && taken.isObject == (whole.objectValue != nil))
        #expect(taken.isNull == whole.isNull)
        var elements: [JSONValue] = []
        try taken.forEachElement { element in elements.append(try element.value()) }
        #expect(elements == whole.arrayValue ?? [])
        let members = try taken.members()?.mapValues { try $0.value() }
        #expect(
            members
                == whole.objectValue.map { object in
                    Dictionary(uniqueKeysWithValues: object.members.map { ($0.key, $0.value) })
                })
    }

    @Test(
        "What is no JSON is refused in the same place, read or looked through",
        arguments: [
            "", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "[01]", "\"\\x\"", "[1] 2", "nul",
            "[\"\u{1}\"]", "1e999",
        ])
    func malformed(_ text: String) {
        let read = error { _ = try JSONParser.parse(text) } as? JSONError
        #expect(read != nil && error { _ = try JSONText(text) } as? JSONError == read, "\(text)")
    }

    @Test("Ids are counted while they are read, in every spelling")
    func identifiers() throws {
        func read(_ text: String) throws -> Int? { try RequestParameters([("ids", text)]).objectIDs("ids")?.count }
        let most = Limits.identifierCount
        #expect(try read(Array(repeating: "1", count: most).joined(separator: ",")) == most)
        #expect(try read("[" + Array(repeating: "1", count: most).joined(separator: ",") + "]") == most)
        // The last word is none: it is not reached.
        for text in ["1,", "1 , "] {
            let refusal = error { _ = try read(String(repeating: text, count: most + 1) + "x") } as? ServiceError
            #expect(refusal?.details.first?.contains("\(most)") == true)
        }
        let list = "[" + Array(repeating: "1", count: most + 1).joined(separator: ",") + "]"
        #expect((error { _ = try read(list) } as? ServiceError)?.details.first?.contains("\(most)") == true)
        #expect(try read(" 1 ,,\t2,\u{A0}3 ") == 3)
        #expect(error { _ = try read("1,2 3") } != nil)
    }

    @Test("Edits are counted while they are read, and what is behind the last is not looked at")
    func edits() throws {
        let reader = FeatureEditReader(layer: Samples.trees, usesGlobalIDs: false)
        func read(_ count: Int) throws -> Int {
            let text = "[" + Array(repeating: "{\"\":0}", count: count).joined(separator: ",") + "]"
            return try reader.edits(try JSONText(text), .add, name: "adds").count
        }
        #expect(try read(Limits.editCount) == Limits.editCount)
        let refusal = error { _ = try read(Limits.editCount + 1) } as? ServiceError
        #expect(refusal?.details.first?.contains("\(Limits.editCount)") == true)
    }

    @Test("An order may have 100 terms and a condition on groups 100 statistics, and none more")
    func terms() {
        func order(_ count: Int) -> String { (0..<count).map { "f\($0)" }.joined(separator: ",") }
        #expect(error { _ = try SQLParser.parse(orderBy: order(Limits.orderTermCount)) } == nil)
        #expect(error { _ = try SQLParser.parse(orderBy: order(Limits.orderTermCount + 1)) } != nil)
        func having(_ count: Int) -> String { (0..<count).map { "SUM(f\($0)) > 1" }.joined(separator: " OR ") }
        #expect(error { _ = try SQLParser.parse(having: having(Limits.statisticCount)) } == nil)
        #expect(error { _ = try SQLParser.parse(having: having(Limits.statisticCount + 1)) } != nil)
    }

    @Test("A short list may have a million bytes and none more")
    func lists() {
        for (count, isRefused) in [(Limits.listBytes, false), (Limits.listBytes + 1, true)] {
            let parameters = RequestParameters([("time", String(repeating: "1", count: count))])
            #expect((error { _ = try parameters.list("time") } != nil) == isRefused)
        }
    }
}
