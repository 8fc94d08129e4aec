import FieldworkREST
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Multipart forms", .fewAtATime)
struct MultipartFormTests {
    private static func form(_ text: String, boundary: String = "x") throws -> MultipartForm {
        try MultipartForm(Array(text.utf8), contentType: "multipart/form-data; boundary=\(boundary)")
    }

    @Test("Fields keep their bytes, also line ends and hyphens")
    func fields() throws {
        let form = try Self.form(
            "preamble\r\n--x\r\nContent-Disposition: form-data; name=\"adds\"\r\n\r\n[1]\r\n--y--\r\n"
                + "\r\n--x\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
                + "\r\n--x--\r\n")
        #expect(form.fields.map(\.name) == ["adds", "file"])
        #expect(form.fields.map { String(decoding: $0.content, as: UTF8.self) } == ["[1]\r\n--y--\r\n", ""])
        #expect(form.fields.map(\.fileName) == [nil, "a.txt"])
    }

    @Test("A body is the same in whatever pieces it arrives", arguments: [1, 2, 3, 5, 7, 11, 64])
    func pieces(size: Int) throws {
        let text =
            "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b;\\\"c.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"
            + "\r\n--\r\n\r\n--y\r\n-\r\n--x\r\nContent-Disposition: form-data; name=n; filename*=UTF-8''%C3%84.png\r\n\r\n"
            + "\r\n--x--\r\nepilogue"
        let form = try MultipartForm(
            Array(text.utf8), contentType: "multipart/form-data; boundary=x", pieceSize: size)
        #expect(form.fields.map(\.name) == ["a", "n"])
        #expect(form.fields.map(\.fileName) == ["b;\"c.jpg", "Ä.png"])
        #expect(form.fields.map(\.contentType) == ["image/jpeg", nil])
        #expect(form.fields.map { String(decoding: $0.content, as: UTF8.self) } == ["\r\n--\r\n\r\n--y\r\n-", ""])
    }

    @Test("A quoted boundary is read")
    func quotedBoundary() throws {
        #expect(try Self.form("--a b--", boundary: "\"a b\"").fields.isEmpty)
    }

    @Test(
        "What is cut off or has no names is refused",
        arguments: [
            "", "--x", "--x\r\n", "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue",
            "--x\r\n\r\nvalue\r\n--x--",
            "--x\r\nContent-Disposition: form-data\r\n\r\nvalue\r\n--x--", "--xy\r\n",
        ])
    func malformed(text: String) {
        #expect(throws: ServiceError.self) { try Self.form(text) }
    }

    @Test("A form has a bounded number of fields")
    func fieldLimit() throws {
        let field = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
        let most = String(repeating: field, count: Limits.formFields)
        #expect(try Self.form(most + "--x--").fields.count == Limits.formFields)
        #expect(throws: ServiceError.self) { try Self.form(most + field + "--x--") }
    }

    @Test("Cut anywhere, a form is read or refused, never trapped on")
    func cuts() {
        let text = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n--x--\r\n"
        for length in 0...text.utf8.count {
            let bytes = Array(text.utf8.prefix(length))
            let form = try? MultipartForm(bytes, contentType: "multipart/form-data; boundary=x")
            #expect((form == nil) == (length < text.utf8.count - 2))
        }
    }
}
