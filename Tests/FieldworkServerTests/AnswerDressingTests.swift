import FieldworkREST
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Dressing of answers", .fewAtATime)
struct AnswerDressingTests {
    @Test("A browser gets a page, a program gets JSON, whoever names a format gets it")
    func formats() throws {
        #expect(try AnswerFormat(name: nil, accept: nil) == .json)
        #expect(try AnswerFormat(name: nil, accept: "text/html,application/xhtml+xml,*/*;q=0.8") == .html)
        #expect(try AnswerFormat(name: nil, accept: "text/plain, application/json") == .json)
        #expect(try AnswerFormat(name: nil, accept: "*/*") == .json)
        #expect(try AnswerFormat(name: "PJSON", accept: "text/html") == .prettyJSON)
        #expect(throws: ServiceError.self) { try AnswerFormat(name: "kmz", accept: nil) }
    }

    @Test("A callback is the name of a function and nothing else")
    func callbacks() throws {
        #expect(try JSONPCallback("window.cb_1[$x]").name == "window.cb_1[$x]")
        #expect(throws: ServiceError.self) { try JSONPCallback("alert(1)//") }
        let longest = String(repeating: "a", count: Limits.callbackLength)
        #expect(try JSONPCallback(longest).name == longest)
        #expect(throws: ServiceError.self) { try JSONPCallback(longest + "a") }
    }

    @Test(
        "Compression is used when it is accepted",
        arguments: [
            (nil, AnswerEncoding.identity), ("", .identity), ("gzip, deflate", .gzip),
            ("deflate;q=1, gzip;q=0.5", .gzip),
            ("gzip;q=0", .identity), ("*", .gzip), ("*, gzip;q=0", .identity), ("br", .identity), ("GZIP", .gzip),
        ])
    func encodings(accepted: String?, expected: AnswerEncoding) {
        #expect(AnswerEncoding(accepted: accepted) == expected)
    }

    @Test("Tags compare as lists, weakly, and differ by encoding")
    func tags() {
        let tag = EntityTag.ofBytes([1, 2, 3])
        #expect(EntityTag.matches(tag, tag))
        #expect(EntityTag.matches("\"x\", W/\(tag) ", tag))
        #expect(EntityTag.matches("*", tag))
        #expect(!EntityTag.matches("\"x\"", tag))
        #expect(EntityTag.encoded(tag, .gzip) != tag)
        #expect(EntityTag.ofBytes([1, 2, 4]) != tag)
        let state = EntityTag.ofState(target: "/a?b", generation: 7, definitionVersion: 1)
        #expect(state != EntityTag.ofState(target: "/a?b", generation: 8, definitionVersion: 1))
        #expect(state != EntityTag.ofState(target: "/a?c", generation: 7, definitionVersion: 1))
        #expect(state != EntityTag.ofState(target: "/a?b", generation: 7, definitionVersion: 2))
    }

    @Test(
        "Dates are written as HTTP asks",
        arguments: [
            (Int64(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_826_154, "Tue, 29 Feb 2000 12:09:14 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        ])
    func dates(second: Int64, expected: String) {
        #expect(HTTPDate.text(secondsSince1970: second) == expected)
    }

    @Test("Values can't leave the text of a page")
    func escaping() {
        var html = HTMLWriter()
        html.element("<p title=\"", "\"><script>alert('&')</script>", "\"></p>")
        html.link(to: ["a b", "é/<"], "x")
        #expect(
            String(decoding: html.bytes, as: UTF8.self)
                == "<p title=\"&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;\"></p>"
                + "<a href=\"/a%20b/%C3%A9%2F%3C\">x</a>")
    }

    @Test("The memory of bodies is bounded and given back")
    func budget() throws {
        let budget = BodyBudget(maximum: 100)
        do {
            var lease = BodyLease(budget: budget)
            try lease.extend(by: 60)
            try lease.extend(by: 40)
            #expect(throws: ServiceError.self) { try budget.reserve(1) }
            #expect(budget.reserved == 100)
            _ = consume lease
        }
        #expect(budget.reserved == 0)
    }
}
