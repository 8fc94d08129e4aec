import Foundation
import Testing

@testable import FieldworkCollect

/// Pictures made smaller, and what stands beside their pixels.
@Suite struct PhotoScalerTests {
    @Test func aSmallerCopyIsUprightAndKeepsItsNotesWhenAsked() throws {
        let notes = PhotoNotes(SamplePhoto.jpeg)
        #expect(notes.orientation == 6)
        #expect(notes.hasPlace)
        let small = try #require(PhotoScaler.scaled(SamplePhoto.jpeg, longerEdge: 640, keepsNotes: true))
        #expect(PhotoScaler.size(small) == PhotoScaler.Size(width: 320, height: 640))
        #expect(PhotoNotes(small).orientation == 1)
        #expect(PhotoNotes(small).hasPlace)
        let bare = try #require(PhotoScaler.scaled(SamplePhoto.jpeg, longerEdge: 100, keepsNotes: false))
        #expect(PhotoScaler.size(bare) == PhotoScaler.Size(width: 50, height: 100))
        #expect(!PhotoNotes(bare).hasPlace)
    }

    @Test func aPictureThatIsSmallEnoughOrNoPictureStaysWhatItIs() {
        #expect(PhotoScaler.scaled(SamplePhoto.jpeg, longerEdge: 800, keepsNotes: true) == nil)
        #expect(PhotoScaler.scaled(Data("not a picture".utf8), longerEdge: 10, keepsNotes: true) == nil)
        #expect(PhotoScaler.scaled(Data(), longerEdge: 10, keepsNotes: true) == nil)
        #expect(PhotoScaler.scaled(SamplePhoto.jpeg.prefix(900), longerEdge: 10, keepsNotes: true) == nil)
    }

    @Test func withoutThePlaceThePixelsAndTheSideThatIsUpStay() throws {
        let bare = PhotoNotes(SamplePhoto.jpeg).withoutPlace(SamplePhoto.jpeg)
        #expect(!PhotoNotes(bare).hasPlace)
        #expect(PhotoNotes(bare).orientation == 6)
        #expect(PhotoScaler.size(bare) == PhotoScaler.size(SamplePhoto.jpeg))
        let tail = SamplePhoto.jpeg.suffix(1_000)
        #expect(bare.suffix(1_000) == tail)
    }

    @Test func brokenNotesAreReadNoFurtherThanTheyGo() {
        for count in 0..<min(400, SamplePhoto.jpeg.count) {
            let notes = PhotoNotes(SamplePhoto.jpeg.prefix(count))
            #expect((1...8).contains(notes.orientation))
        }
        var wild = SamplePhoto.jpeg
        for index in 30..<80 {
            wild[index] = 0xFF
            #expect((1...8).contains(PhotoNotes(wild).orientation))
        }
    }

    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], "image/svg+xml", "image/jpeg"),
            (Array("<svg xmlns".utf8), "image/svg+xml", "image/svg+xml"),
            (Array("%PDF-1.7".utf8), "application/pdf; charset=x", "application/pdf"),
            (Array("?".utf8), "text/html\r\nX: y", "application/octet-stream"),
            (Array("?".utf8), "", "application/octet-stream"),
        ] as [([UInt8], String, String)])
    func aTypeIsThatOfTheBytesOrAPlainClaim(bytes: [UInt8], claimed: String, type: String) {
        #expect(FileKind(Data(bytes)).contentType(claimed: claimed) == type)
    }

    @Test func aFormOfPartsIsReadAndABrokenOneRefused() throws {
        let text =
            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nX\r\n--y\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"C:\\d\\ü%22.jpg\"\r\n"
            + "Content-Type: image/jpeg\r\n\r\n\r\n--c\r\n--b\r\nContent-Disposition: form-data; name=\"e\"; "
            + "filename=\"\"\r\n\r\n\r\n--b--\r\n"
        let type = "multipart/form-data; boundary=\"b\""
        let form = try MultipartForm(bytes: Array(text.utf8), contentType: type).values()
        #expect(form["a"] == "X\r\n--y")
        #expect(form.files.map(\.name) == ["ü\".jpg"])
        #expect(form.files.first.map { String(decoding: $0.data, as: UTF8.self) } == "\r\n--c")
        for cut in [0, 3, 20, 60, text.utf8.count - 8] {
            #expect(throws: CollectError.self) {
                _ = try MultipartForm(bytes: Array(text.utf8.prefix(cut)), contentType: type).values()
            }
        }
        #expect(throws: CollectError.self) { _ = try MultipartForm(bytes: [], contentType: "multipart/form-data") }
    }
}
