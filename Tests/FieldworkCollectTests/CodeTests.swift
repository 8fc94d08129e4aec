import Foundation
import Testing

@testable import FieldworkCollect

/// Codes: made, seen in pictures, and judged before anybody opens them.
@Suite struct CodeTests {
    private static let address = "http://127.0.0.1:8080/arcgis/rest/services/TreesOfPortland/FeatureServer"

    @Test func aCodeIsReadAsItWasMade() async throws {
        #expect(try await CodeReader.read(CodePicture([Self.address]).jpeg) == [Self.address])
        #expect(try await CodeReader.read(CodePicture([Self.address]).turned.jpeg) == [Self.address])
        let long = "https://maps.example/" + String(repeating: "a-long-folder/", count: 30) + "map.json"
        #expect(try await CodeReader.read(CodePicture([long], module: 4).jpeg) == [long])
    }

    @Test func aSmallCodeInALargeNoisyPictureIsFound() async throws {
        var picture = CodePicture(width: 4_000, height: 3_000, paper: 190)
        let code = try #require(CodeMaker(Self.address))
        picture.draw(code, left: 1_500, top: 900, module: 10, ink: 50)
        picture.addNoise(seed: 7, strength: 40)
        #expect(try await CodeReader.read(picture.jpeg) == [Self.address])
    }

    @Test func allCodesOfAPictureAreTold() async throws {
        let texts = ["http://one.example/map", "http://two.example/map"]
        #expect(try await Set(CodeReader.read(CodePicture(texts).jpeg)) == Set(texts))
        #expect(try await CodeReader.read(CodePicture(["twice", "twice"]).jpeg) == ["twice"])
    }

    @Test func aPictureWithoutACodeHasNone() async throws {
        #expect(try await CodeReader.read(CodePicture(width: 640, height: 480).jpeg) == [])
        #expect(try await CodeReader.read(SamplePhoto.jpeg) == [])
    }

    @Test func whatIsNoJPEGIsRefusedByName() async throws {
        for bytes in [Data(), Data("no picture".utf8), Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])] {
            await #expect(throws: CodeReader.Failure.notJPEG) { try await CodeReader.read(bytes) }
        }
        await #expect(throws: CodeReader.Failure.damaged) { try await CodeReader.read(Data([0xFF, 0xD8, 0xFF])) }
    }

    /// Few bytes that claim to be very many pixels.
    @Test func aPictureOfTooManyPixelsIsNotDecoded() async throws {
        var jpeg = CodePicture(width: 64, height: 64).jpeg
        let frame = try #require(jpeg.range(of: Data([0xFF, 0xC0])))
        jpeg.replaceSubrange(frame.upperBound + 3..<frame.upperBound + 7, with: [0xEA, 0x60, 0xEA, 0x60])
        await #expect(throws: CodeReader.Failure.tooLarge(pixels: 3_600_000_000)) { try await CodeReader.read(jpeg) }
    }

    @Test func picturesThatAreCutOrBrokenEndInAnAnswer() async throws {
        let whole = CodePicture([Self.address], module: 3).jpeg
        var random = SystemRandomNumberGenerator()
        for round in 0..<400 {
            var bytes = whole
            if round % 4 == 0 { bytes = bytes.prefix(Int.random(in: 3..<whole.count, using: &random)) }
            for _ in 0..<Int.random(in: 0..<8, using: &random) {
                bytes[bytes.startIndex + Int.random(in: 3..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            do {
                for text in try await CodeReader.read(bytes) { #expect(!text.isEmpty) }
            } catch {
                #expect([.notJPEG, .damaged].contains(error) || error.isTooLarge)
            }
        }
    }

    @Test func onlyAPlainAddressOfTheWebIsOffered() {
        let good = CodeAddress("  \(Self.address)\n")
        #expect(good.url?.absoluteString == Self.address)
        #expect(good.shown == Self.address && good.refusal == nil)
        #expect(CodeAddress("HTTPS://Maps.Example/map.json").url != nil)
        for (said, reason) in [
            ("", "empty"), ("WIFI:S:Office;T:WPA;P:secret;;", "begin with"), ("file:///etc/passwd", "begin with"),
            ("javascript:alert(1)", "begin with"), ("http", "begin with"), ("http:", "whole"), ("http://", "whole"),
            ("http:///map", "whole"), ("http://a b/", "characters"), ("http://m\u{0430}ps.example/", "characters"),
            ("http://maps.example@evil.example/", "name or password"),
            ("http://x/\(String(repeating: "a", count: Limits.codeAddress))", "too long"),
        ] {
            let judged = CodeAddress(said)
            #expect(judged.url == nil, "\(said)")
            #expect(judged.refusal?.contains(reason) == true, "\(said): \(judged.refusal ?? "")")
        }
        #expect(CodeAddress("http://a/\u{202E}moc\u{0}").shown == "http://a/⟨202E⟩moc⟨0⟩")
    }

    @Test func theTerminalsCodeHasAQuietZoneAndAllModules() throws {
        let code = try #require(CodeMaker("http://one.example/map"))
        let lines = code.text(isColoured: false).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count == (code.size + 8 + 1) / 2)
        #expect(lines.allSatisfy { $0.count == code.size + 8 })
        let dark = lines.joined().reduce(0) { $0 + ($1 == "█" ? 2 : $1 == " " ? 0 : 1) }
        let modules = (0..<code.size).reduce(0) { sum, y in sum + (0..<code.size).count { code.isDark($0, y) } }
        #expect(dark == modules)
        #expect(CodeMaker(String(repeating: "a", count: 3_000)) == nil)
    }
}

extension CodeReader.Failure {
    fileprivate var isTooLarge: Bool { if case .tooLarge = self { true } else { false } }
}
