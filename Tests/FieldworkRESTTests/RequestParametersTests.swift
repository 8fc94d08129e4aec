import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

@Suite struct FormURLEncodedTests {
    private func fields(_ text: String) throws -> [String] {
        try FormURLEncoded.fields(Array(text.utf8)).map { "\($0.name)=\($0.value)" }
    }

    @Test("Escapes and plus signs are decoded")
    func escapesAndPlusSignsAreDecoded() throws {
        #expect(try fields("where=a+%3D+%27x%27&f=json&empty=&bare") == ["where=a = 'x'", "f=json", "empty=", "bare="])
        #expect(try fields("t=100%&u=%zz&v=%4") == ["t=100%", "u=%zz", "v=%4"])
        #expect(try fields("&&a=1&&") == ["a=1"])
    }

    @Test("Features that QGIS sends unescaped keep their plus signs")
    func rawFeaturesOfQGISKeepTheirSigns() throws {
        let features = #"[{"attributes":{"note":"50% + 1 & more %41"}}]"#
        #expect(try fields("f=json&features=\(features)") == ["f=json", "features=\(features)"])
        // Encoded ones are decoded, as ever.
        #expect(try fields("f=json&features=%5B%5D&x=1") == ["f=json", "features=[]", "x=1"])
    }

    @Test("Bytes that are not UTF-8 are refused")
    func whatIsNotUTF8IsRefused() {
        #expect(throws: ServiceError.self) { try FormURLEncoded.fields(Array("a=%FF%FE".utf8)) }
    }

    @Test("Too many fields are refused")
    func tooManyFieldsAreRefused() {
        let many = String(repeating: "a=1&", count: Limits.parameterCount + 1)
        #expect(throws: ServiceError.self) { try FormURLEncoded.fields(Array(many.utf8)) }
        let enough = String(repeating: "a=1&", count: Limits.parameterCount)
        #expect(throws: Never.self) { try FormURLEncoded.fields(Array(enough.utf8)) }
    }
}

@Suite struct RequestParametersTests {
    @Test("Parameter names match in any case, and an empty value means none")
    func namesMatchInAnyCaseAndEmptyMeansAbsent() throws {
        let parameters = Samples.parameters(["Where": "a=1", "OUTFIELDS": "", "where": "a=2"])
        #expect(parameters["WHERE"] == "a=2")
        #expect(parameters["outFields"] == nil)
        #expect(parameters.names("outfields"))
        #expect(!parameters.names("geometry"))
    }

    @Test(
        "Booleans are read in all spellings",
        arguments: [("true", true), ("TRUE", true), ("1", true), ("false", false), ("0", false), (" false ", false)])
    func truthsAreSpelledInManyWays(_ text: String, _ expected: Bool) throws {
        #expect(try Samples.parameters(["b": text]).bool("b") == expected)
    }

    @Test("Values of the wrong kind are refused")
    func whatIsNoValueIsRefused() {
        let parameters = Samples.parameters([
            "b": "maybe", "i": "1.5", "n": "NaN", "j": "{", "ids": "1,x", "g": "1,2,3",
        ])
        #expect(throws: ServiceError.self) { try parameters.bool("b") }
        #expect(throws: ServiceError.self) { try parameters.integer("i") }
        #expect(throws: ServiceError.self) { try parameters.number("n") }
        #expect(throws: ServiceError.self) { try parameters.json("j") }
        #expect(throws: ServiceError.self) { try parameters.objectIDs("ids") }
        #expect(throws: ServiceError.self) { try parameters.geometry("g", spatialReference: nil) }
    }

    @Test("Ids are read in all spellings", arguments: ["1,2,-3", " 1, 2 , -3 ", "[1,2,-3]", "[\"1\", 2, -3]"])
    func idsAreReadInAllSpellings(_ text: String) throws {
        #expect(try Samples.parameters(["ids": text]).objectIDs("ids") == [1, 2, -3])
    }

    @Test(
        "A plain list of ids is read like any other: what is too large or no number is refused, empty members are left out"
    )
    func plainIDs() throws {
        func read(_ text: String) throws -> [Int64]? { try Samples.parameters(["ids": text]).objectIDs("ids") }
        #expect(try read("1") == [1])
        #expect(try read("007,999999999999999999,0") == [7, 999_999_999_999_999_999, 0])
        #expect(try read("9223372036854775807,1") == [.max, 1])
        #expect(try read(",1,,2,") == [1, 2])
        #expect(try read("+1,-2") == [1, -2])
        for text in ["9223372036854775808", "1,2a", "1;2", "１"] {
            #expect(throws: ServiceError.self, "\(text)") { try read(text) }
        }
    }

    @Test("Global ids are read with and without braces")
    func globalIDsAreReadWithAndWithoutBraces() throws {
        let id = UUID()
        for text in ["{\(id)}", "\(id)", "[\"\(id.uuidString.lowercased())\"]"] {
            #expect(try Samples.parameters(["ids": text]).globalIDs("ids") == [id])
        }
    }

    @Test("A spatial reference is a number or JSON")
    func referencesAreNumbersOrJSON() throws {
        #expect(try Samples.parameters(["s": "4326"]).spatialReference("s") == .wgs84)
        #expect(try Samples.parameters(["s": "102100"]).spatialReference("s") == .webMercator)
        #expect(
            try Samples.parameters(["s": #"{"wkid":102100,"latestWkid":3857}"#]).spatialReference("s") == .webMercator)
        #expect(throws: ServiceError.self) { try Samples.parameters(["s": "999999999"]).spatialReference("s") }
        #expect(throws: ServiceError.self) { try Samples.parameters(["s": "here"]).spatialReference("s") }
    }

    /// Taken for none, each of these would choose all features instead of nothing.
    @Test(
        "A geometry without a place is refused",
        arguments: [
            #"{"rings":[]}"#, #"{"rings":[[[0,0],[1,1]]]}"#, #"{"paths":[[[0,0]]]}"#, #"{"points":[]}"#,
            #"{"x":"NaN","y":"NaN"}"#, #"{"x":null}"#, #"{"xmin":"NaN","ymin":"NaN","xmax":"NaN","ymax":"NaN"}"#,
            #"{"spatialReference":{"wkid":4326}}"#,
        ])
    func aGeometryWithoutAPlaceIsRefused(_ text: String) {
        #expect(throws: ServiceError.self) {
            try Samples.parameters(["g": text]).geometry("g", spatialReference: nil)
        }
    }

    @Test("Geometries are read in all spellings")
    func geometriesAreReadInAllSpellings() throws {
        let point = try Samples.parameters(["g": "-122.5, 4.525e1"]).geometry("g", spatialReference: .wgs84)
        #expect(point == Samples.point)
        // As an address decodes what QGIS writes: `-1.3662e+07,5.69501e+06,…`.
        let rectangle = try Samples.parameters(["g": "-1.3662e 07,5.69501E 06,-1.36518e 07, 5.7017e+06"])
            .geometry("g", spatialReference: nil)
        #expect(rectangle == Envelope(xMin: -13_662_000, yMin: 5_695_010, xMax: -13_651_800, yMax: 5_701_700))
        for broken in ["1 2,3", "1e 2 3,4", "e 1,2"] {
            #expect(throws: ServiceError.self) {
                try Samples.parameters(["g": broken]).geometry("g", spatialReference: nil)
            }
        }
        let envelope = try Samples.parameters(["g": "3,4,1,2"]).geometry("g", spatialReference: nil)
        #expect(envelope == Envelope(xMin: 1, yMin: 2, xMax: 3, yMax: 4))
        for none in ["", " ", "null", "{}"] {
            #expect(try Samples.parameters(["g": none]).geometry("g", spatialReference: nil) == nil)
        }
        let json = try Samples.parameters(["g": #"{"x":-122.5,"y":45.25,"spatialReference":{"wkid":4326}}"#])
            .geometry("g", spatialReference: .webMercator)
        #expect(json == Samples.point)
    }
}
