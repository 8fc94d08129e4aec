import FieldworkREST
import Foundation
import Testing

@Suite("Written ids")
struct GUIDTests {
    @Test("An id is written in upper case and braces, and read in any case, with braces and without")
    func forms() throws {
        for _ in 0..<200 {
            let id = UUID()
            let text = GUID.normalForm(id)
            #expect(text == "{\(id.uuidString)}" && GUID.isNormalForm(text))
            for form in [text, text.lowercased(), id.uuidString, id.uuidString.lowercased()] {
                #expect(GUID.parse(form) == id)
            }
            #expect(!GUID.isNormalForm(id.uuidString))
        }
        #expect(!GUID.isNormalForm("{abcdef00-0000-0000-0000-000000000000}"))
    }

    @Test(
        "What is no id is none",
        arguments: [
            "", "{", "{}", "00000000-0000-0000-0000-00000000000", "{00000000-0000-0000-0000-000000000000",
            "00000000-0000-0000-0000-000000000000}", "{00000000-0000-0000-0000-00000000000g}",
            "00000000+0000-0000-0000-000000000000", "0x000000-0000-0000-0000-000000000000",
            " 0000000-0000-0000-0000-000000000000", "(00000000-0000-0000-0000-000000000000)",
            "00000000-0000-0000-0000-0000000000é", "{00000000-0000-0000-0000-000000000000} ",
        ])
    func noForms(_ text: String) {
        #expect(GUID.parse(text) == nil && !GUID.isNormalForm(text))
    }
}
